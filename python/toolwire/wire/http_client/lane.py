"""The SDK's half of a wire over HTTP: what its requests teach, and the requests of ours that it only stamps.

The SDK's own transport carries what the SDK writes. It decodes every answer; a request of ours that cannot go express
yet is therefore posted by the express lane too, with the headers and the envelope that the SDK has put on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import anyio
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from toolwire import _core
from toolwire.errors import RemoteCallError
from toolwire.wire.http_client.learned import Learned
from toolwire.wire.sdk_lane import FIRST_TAP
from toolwire.wire.sdk_streams import Inbox, RequestKey

__all__ = ["HttpLane", "Tapped"]


class Tapped:
    """A request of ours on this lane: who hears its answer, and what its bytes are."""

    __slots__ = ("hear", "paste", "scope")

    def __init__(
        self, hear: Callable[[_core.Frame | RemoteCallError], None], paste: tuple[bytes, bytes] | None
    ) -> None:
        self.hear = hear
        self.paste = paste
        self.scope: anyio.CancelScope | None = None
        """Of its POST, while that runs."""

    def body(self, message: JSONRPCMessage) -> bytes:
        """The request as the SDK writes it, with our bytes in it."""
        text: bytes = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        return text if self.paste is None else text.replace(*self.paste, 1)


class HttpLane:
    """What is known of the SDK's session."""

    def __init__(self, learned: Learned) -> None:
        self._learned = learned
        self.inbox = Inbox()
        self.envelope = b""
        """The members of `_meta` that express requests carry; empty in the handshake eras."""
        self.open = False
        """The session is open in the SDK's view, and what its requests carry is known."""
        self.initialize: JSONRPCRequest | None = None
        """The SDK's own, to be sent again when a session is lost."""
        self.protocol: str | None = None
        """What the server agreed to speak, in the handshake eras."""
        self.settled: anyio.Event | None = None
        """Set when `notifications/initialized` was answered; `None` while none was sent."""
        self.tapped: dict[RequestKey, Tapped] = {}
        self.dropped_notifications = 0
        self.requests = 0
        """Requests that the SDK has sent."""
        self._pending: dict[RequestKey, tuple[str, bool]] = {}
        self._next_tap = FIRST_TAP

    def tap(
        self, hear: Callable[[_core.Frame | RemoteCallError], None], paste: tuple[bytes, bytes] | None = None
    ) -> int:
        """The id for a request that is ours and goes down this lane: `hear` gets the frame that answers, or why not.

        `paste` is a text that stands once in the request as the SDK writes it, and the bytes that go out in its place.
        """
        number = self._next_tap
        self._next_tap = number + 1
        self.tapped[number] = Tapped(hear, paste)
        return number

    def untap(self, number: int) -> None:
        """The request is over, however it ended."""
        self.tapped.pop(number, None)

    # From the SDK

    def outgoing(self, item: SessionMessage) -> None:
        """Learns from what the SDK is about to send."""
        message, metadata = item.message, item.metadata
        if isinstance(metadata, ClientMessageMetadata) and metadata.headers is not None:
            version = metadata.headers.get(MCP_PROTOCOL_VERSION_HEADER)
            if version is not None:
                self._learned.stamped(version)
        if isinstance(message, JSONRPCRequest):
            self._request(message)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/initialized":
            self.settled = anyio.Event()

    def _request(self, message: JSONRPCRequest) -> None:
        self.requests += 1
        learned = None
        if message.method == "initialize":
            # A new handshake: what an earlier probe carried is no longer true, and its late answer opens nothing.
            self.envelope, self.open, self.initialize = b"", False, message
            self._learned.stamped(None)
            self._learned.renewed(None)
            self._pending = {key: (method, False) for key, (method, _) in self._pending.items()}
        else:
            meta = (message.params or {}).get("_meta")
            if isinstance(meta, dict) and meta:
                learned = _core.read_message(
                    message.model_dump_json(by_alias=True, exclude_unset=True).encode()
                ).learned()
            if learned is not None:
                self.envelope = learned
        self._pending[message.id] = (message.method, learned is not None)

    # From the server

    def incoming(self, message: JSONRPCMessage) -> None:
        """A message that the SDK's transport has read, on its way to the SDK."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            method, carried = self._pending.pop(message.id, ("", False))
            if isinstance(message, JSONRPCResponse):
                self.open |= carried
                if method == "initialize":
                    protocol = message.result.get("protocolVersion")
                    self.protocol = protocol if isinstance(protocol, str) else None
            self.inbox.put(message)
        elif isinstance(message, JSONRPCNotification):
            size = len(json.dumps(message.params)) if message.params else 0
            if self.inbox.has_room(size):
                self.inbox.put(message, size)
            else:
                self.dropped_notifications += 1
        else:
            self.inbox.put(message)

    def abandoned(self, key: RequestKey) -> Tapped | None:
        """The SDK gave a request up, which may be one of ours."""
        self._pending.pop(key, None)
        return self.tapped.get(key)

    def initialized(self) -> None:
        """`notifications/initialized` is through: the session is open, in whatever words that was answered."""
        settled = self.settled
        if settled is not None and not settled.is_set():
            self.open = True
            settled.set()
