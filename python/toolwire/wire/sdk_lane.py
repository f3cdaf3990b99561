"""The SDK lane: the SDK's own message streams over a byte channel, with every request of theirs ended too.

What the SDK writes is read once more here, as bytes: the ids that it waits for, and the envelope that express requests
must carry. What a server sends is given to the SDK mended where its parser would refuse it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)

from toolwire import _core
from toolwire.wire.limits import SDK_BACKLOG

__all__ = ["SdkLane", "SdkWriteStream"]

logger = logging.getLogger("toolwire.wire")

RequestKey = int | str

FIRST_TAP = 900_000_000
"""The ids of our own requests on this lane: above the SDK's, which count from 1, and below the express lane's."""


class SdkWriteStream:
    """What the SDK writes to. It has the shape of the SDK's own streams, and knows the wire that it belongs to."""

    def __init__(self, wire: Any, send: Callable[[SessionMessage], Any]) -> None:
        self.wire = wire
        self._send = send
        self._closed = False

    async def send(self, item: SessionMessage, /) -> None:
        """Writes one message. Raises anyio's ClosedResourceError after `aclose`."""
        if self._closed:
            raise anyio.ClosedResourceError
        await self._send(item)

    def close(self) -> None:
        """No more will be written."""
        self._closed = True

    async def aclose(self) -> None:
        """No more will be written."""
        self._closed = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True


class SdkLane:
    """The SDK's half of a wire: who waits for what, and whether express requests may go."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._to_sdk: MemoryObjectSendStream[SessionMessage | Exception]
        self.read_stream: MemoryObjectReceiveStream[SessionMessage | Exception]
        self._to_sdk, self.read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
        self.pending: dict[RequestKey, tuple[str, bool]] = {}
        self.envelope = b""
        """The members of `_meta` that express requests carry; empty in the handshake eras."""
        self.open = False
        """The session is open in the SDK's view, and what its requests carry is known."""
        self.dropped_notifications = 0
        self.refused_messages = 0
        self.dead: str | None = None
        self._tapped: dict[RequestKey, Callable[[_core.Frame], None]] = {}
        self._pasted: dict[RequestKey, tuple[bytes, bytes]] = {}
        self._next_tap = FIRST_TAP

    def tap(self, hear: Callable[[_core.Frame], None], paste: tuple[bytes, bytes] | None = None) -> int:
        """The id for a request that is ours and goes down this lane: `hear` gets the bytes of its answer.

        `paste` is a text that stands once in the request as the SDK writes it, and the bytes that go out in its place.
        """
        number = self._next_tap
        self._next_tap = number + 1
        self._tapped[number] = hear
        if paste is not None:
            self._pasted[number] = paste
        return number

    def untap(self, number: int) -> None:
        """The request is over, however it ended."""
        self._tapped.pop(number, None)
        self._pasted.pop(number, None)

    # From the SDK

    def outgoing(self, item: SessionMessage) -> bytes:
        """The line of a message that the SDK sends, after learning from it."""
        line: bytes = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        if isinstance(item.message, JSONRPCRequest):
            self._learn(item.message, line)
            paste = self._pasted.get(item.message.id)
            if paste is not None:
                line = line.replace(*paste, 1)
        return line + b"\n"

    def _learn(self, message: JSONRPCRequest, line: bytes) -> None:
        learned = None
        if message.method == "initialize":
            # A new handshake: what an earlier probe carried is no longer true.
            self.envelope, self.open = b"", False
        else:
            learned = _core.read_message(line).learned()
            if learned is not None:
                self.envelope = learned
        self.pending[_key(message.id)] = (message.method, learned is not None)

    # From the server

    def answered(self, key: RequestKey, frame: _core.Frame) -> bool:
        """An answer to a request of the SDK, in whatever state it is; False when the SDK waits for no such id."""
        waiting = self.pending.pop(key, None)
        if waiting is None:
            return False
        hear = self._tapped.pop(key, None)
        if hear is not None:
            hear(frame)
        if frame.kind == "broken":
            self._fail(key, frame.fault or "the server's message is broken")
            return True
        message = _parsed(frame)
        if message is None:
            error = frame.error
            if error is not None:
                self._fail(key, error[1], error[0])
            else:
                self._fail(
                    key, "the server's answer cannot be read by the SDK: it nests too deep or is no such message"
                )
            return True
        method, carried = waiting
        if frame.kind == "result" and (carried or method == "initialize"):
            self.open = True
        self._deliver(message)
        return True

    def incoming(self, frame: _core.Frame) -> None:
        """A request or a notification of the server."""
        message = _parsed(frame)
        if message is not None:
            if frame.kind == "notification" and self._to_sdk.statistics().current_buffer_used >= SDK_BACKLOG:
                self.dropped_notifications += 1
                return
            self._deliver(message)
            return
        self.refused_messages += 1
        if frame.kind == "request" and frame.id is not None:
            identifier = str(frame.id).encode() if isinstance(frame.id, int) else _core.quote(frame.id)
            self._write(
                b'{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"the request could not be read"}}\n'
                % (identifier, INVALID_REQUEST)
            )

    def fail_only(self, text: str, code: int = INTERNAL_ERROR) -> None:
        """Ends the one request of the SDK that waits."""
        self._fail(next(iter(self.pending)), text, code)

    def die(self, text: str) -> None:
        """The connection has ended: every waiting request ends with its reason, then the stream does."""
        self.dead = text
        for key in list(self.pending):
            self._fail(key, text)
        self._to_sdk.close()

    def fail_all(self, text: str) -> None:
        """Ends what waits, and leaves the stream open."""
        for key in list(self.pending):
            self._fail(key, text)

    def _fail(self, key: RequestKey, text: str, code: int = INTERNAL_ERROR) -> None:
        self.pending.pop(key, None)
        self._tapped.pop(key, None)
        self._deliver(JSONRPCError(jsonrpc="2.0", id=key, error=ErrorData(code=code, message=text)))

    def _deliver(self, message: JSONRPCMessage) -> None:
        try:
            self._to_sdk.send_nowait(SessionMessage(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            logger.debug("a message came after the SDK's session had closed")

    def close(self) -> None:
        """Both ends of the stream to the SDK."""
        self._to_sdk.close()
        self.read_stream.close()


def _key(identifier: RequestKey) -> RequestKey:
    """An id as `Frame.answers` and `Frame.id` give it back: digits in quotes are the integer."""
    if (
        isinstance(identifier, str)
        and identifier.removeprefix("-").isascii()
        and identifier.removeprefix("-").isdigit()
    ):
        return int(identifier)
    return identifier


def _parsed(frame: _core.Frame) -> JSONRPCMessage | None:
    try:
        return jsonrpc_message_adapter.validate_json(frame.mended(), by_name=False)
    except ValueError:
        return None
