"""The SDK's half of a server wire: what the SDK is given, what is kept of it, and where its session stands for it.

What the client may say on the express lane is learned here alone: what the SDK accepted once, it accepts again. When
a request may start, and what runs beside it, is the wire's to say.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
)
from mcp_types.methods import SPEC_CLIENT_METHODS
from pydantic_core import to_json

from toolwire import _core
from toolwire.wire.kept import Kept, answer_of, dumped
from toolwire.wire.limits import KNOWN_ENVELOPES, SDK_BACKLOG, SDK_BACKLOG_BYTES
from toolwire.wire.sdk_lane import message_of, request_key

__all__ = ["Key", "ServedSdkLane", "cancelled_key"]

Key = int | str


class ServedSdkLane:
    """One client's requests to the SDK, and its answers. `certain` says that nothing of the user's stands between.

    `stream` is what the SDK's session reads, `write` sends a line to the client.
    """

    def __init__(self, write: Callable[[bytes], object], certain: Callable[[], bool]) -> None:
        self._write = write
        self._certain = certain
        self._to_sdk: MemoryObjectSendStream[SessionMessage | Exception]
        self.stream: MemoryObjectReceiveStream[SessionMessage | Exception]
        self._to_sdk, self.stream = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
        self.kept: dict[Key, Kept] = {}
        self.kept_size = 0
        """Bytes of the requests in `kept`."""
        self.requests = 0
        """How many were handed over so far."""
        self.open = False
        """The session is open in the SDK's view, and what an express call must carry is known."""
        self._asked: set[Key] = set()
        self._known: set[bytes] = set()
        self._initialized = False
        self._handshake = False
        self._behind_bytes = 0
        """Of notifications that the SDK may not have taken yet."""

    # Where the session stands

    @property
    def handshake(self) -> bool:
        """The session was opened by a handshake: notifications may be sent to it unasked."""
        return self._handshake and self._initialized

    def admits(self, envelope: bytes) -> bool:
        """An express call with this envelope is one that the SDK would accept."""
        return envelope in self._known if envelope else self.handshake

    def initialized(self) -> None:
        """The client says that it has taken the answer to its handshake."""
        self._initialized = True
        self._reckon()

    def _learn(self, kept: Kept) -> None:
        if kept.message.method == "initialize":
            self._handshake = True
        elif kept.envelope and not self._handshake and len(self._known) < KNOWN_ENVELOPES and self._judged(kept):
            self._known.add(kept.envelope)
        self._reckon()

    def _judged(self, kept: Kept) -> bool:
        """Whether the SDK has looked into an envelope: for the specification's methods alone, behind no middleware."""
        return kept.message.method in SPEC_CLIENT_METHODS and self._certain()

    def _reckon(self) -> None:
        self.open = bool(self._known) or (self._handshake and self._initialized)

    # To the SDK

    def hand_over(self, frame: _core.Frame) -> None:
        """Give a request to the SDK, or refuse it where it has no words for it."""
        message = message_of(frame)
        if not isinstance(message, JSONRPCRequest):
            self._refuse(frame, INVALID_REQUEST, "Invalid Request: it nests too deep or is no such message")
            return
        self.requests += 1
        key = request_key(message.id)
        kept = Kept(frame, message)
        kept.earlier = self.kept.get(key)
        self.kept[key] = kept
        self.kept_size += frame.size
        self._deliver(SessionMessage(message))

    def forget(self, key: Key | None) -> Kept | None:
        """What was kept of a request that is answered or cancelled."""
        kept = None if key is None else self.kept.pop(key, None)
        if kept is not None:
            self.kept_size -= kept.frame.size
            if kept.earlier is not None:
                self.kept[request_key(kept.message.id)] = kept.earlier
        return kept

    def pass_on(self, frame: _core.Frame) -> None:
        """Give a notification to the SDK, unless more wait for it than memory should hold."""
        waiting = self._to_sdk.statistics().current_buffer_used
        self._behind_bytes = self._behind_bytes + frame.size if waiting else frame.size
        message = message_of(frame)
        if message is not None and waiting < SDK_BACKLOG and self._behind_bytes <= SDK_BACKLOG_BYTES:
            self._deliver(SessionMessage(message))

    def answered(self, frame: _core.Frame) -> None:
        """Give the SDK the client's answer to a request of its own."""
        message = message_of(frame)
        if message is not None:
            self._asked.discard(frame.answers if frame.answers >= 0 else frame.id or -1)
            self._deliver(SessionMessage(message))

    def broken(self, frame: _core.Frame) -> None:
        """End what a message names that can't be read: a request of the client's, or one of ours that it answers."""
        fault = (frame.fault or "").replace("the server", "the client", 1)
        key = frame.answers if frame.answers >= 0 else frame.id
        if key in self._asked:
            self._asked.discard(key)
            error = ErrorData(code=INTERNAL_ERROR, message=fault)
            self._deliver(SessionMessage(JSONRPCError(jsonrpc="2.0", id=key, error=error)))
        elif key is not None and key != -1:
            self._refuse(frame, PARSE_ERROR if "not JSON" in fault else INVALID_REQUEST, fault)

    def _refuse(self, frame: _core.Frame, code: int, text: str) -> None:
        id_json = frame.id_json or to_json(frame.id)
        self._write(_core.answer_error(id_json, to_json({"code": code, "message": text})))

    def _deliver(self, item: SessionMessage) -> None:
        # Once the SDK's session has ended, the client hears so by the end of the stream.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._to_sdk.send_nowait(item)

    def end(self) -> None:
        """The client says no more."""
        self._to_sdk.close()

    # From the SDK

    def written(self, message: JSONRPCMessage) -> bool:
        """Send what the SDK writes, after learning from it. True: a request of the client's is over with it."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            kept = self.forget(request_key(message.id))
            # Without one the client has cancelled it, and the SDK had not heard of that yet.
            if kept is None:
                return False
            if isinstance(message, JSONRPCResponse):
                self._learn(kept)
            self._write(answer_of(kept, message))
            return True
        if isinstance(message, JSONRPCRequest):
            self._asked.add(request_key(message.id))
        self._write(dumped(message))
        return False


def cancelled_key(params: bytes | None) -> Key | None:
    """The request that a `notifications/cancelled` names."""
    try:
        identifier = json.loads(_core.members(params or b"{}").get("requestId", b"null"))
    except ValueError:
        return None
    return request_key(identifier) if isinstance(identifier, int | str) and not isinstance(identifier, bool) else None
