"""The SDK lane: the SDK's own message streams over a byte channel, with every request of theirs ended too.

What the SDK writes is read once more here, as bytes: the ids that it waits for, and the envelope that express requests
must carry. What a server sends is given to the SDK mended where its parser would refuse it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from toolwire import _core
from toolwire.wire.channel import Channel
from toolwire.wire.limits import SERVER_REQUESTS
from toolwire.wire.sdk_streams import Inbox, RequestKey, SdkWriteStream, message_of, request_key

__all__ = ["SdkLane", "SdkWriteStream", "message_of", "request_key"]

FIRST_TAP = 900_000_000
"""The ids of our own requests on this lane: above the SDK's, which count from 1, and below the express lane's."""


class SdkLane:
    """The SDK's half of a wire: who waits for what, and whether express requests may go."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.inbox = Inbox()
        self.pending: dict[RequestKey, tuple[str, bool]] = {}
        self.envelope = b""
        """The members of `_meta` that express requests carry; empty in the handshake eras."""
        self.open = False
        """The session is open in the SDK's view, and what its requests carry is known."""
        self.dropped_notifications = 0
        self.refused_messages = 0
        self.first_fault: str | None = None
        """What was wrong with the first answer that could not be given to the SDK."""
        self._handshaken = False
        self._parked: OrderedDict[RequestKey, bytes] = OrderedDict()
        """Requests that the SDK waits for and that are not written yet: the server does not read."""
        self._serving: set[RequestKey] = set()
        """Requests of the server that the SDK has not answered."""
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

    def send(self, message: JSONRPCMessage) -> bool:
        """Writes a message, after learning from it; False while the server does not read, and then nothing happened.

        A request is always taken, since its caller's clock starts with it, and waits here for its turn.
        """
        abandoned = _abandoned(message)
        taken = isinstance(message, JSONRPCRequest) or abandoned is not None
        if not taken and self._channel.full:
            return False
        line: bytes = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        if isinstance(message, JSONRPCRequest):
            key = self._learn(message, line)
            paste = self._pasted.get(key)
            if paste is not None:
                line = line.replace(*paste, 1)
            self._parked[key] = line + b"\n"
            self.writable()
            return True
        if abandoned is not None:
            self._forget(abandoned)
            if self._parked.pop(abandoned, None) is not None:
                return True
        elif isinstance(message, JSONRPCNotification):
            # Only now is the session open in the SDK's view: it may still have refused the answer to `initialize`.
            self.open |= self._handshaken and message.method == "notifications/initialized"
        elif message.id is not None:
            self._serving.discard(request_key(message.id))
        self._channel.write(line + b"\n", now=True)
        return True

    def writable(self) -> None:
        """The server reads: what waited for that is written."""
        while self._parked and not self._channel.full:
            self._channel.write(self._parked.popitem(last=False)[1], now=True)

    def _learn(self, message: JSONRPCRequest, line: bytes) -> RequestKey:
        learned = None
        if message.method == "initialize":
            # A new handshake: what an earlier probe carried is no longer true, and its late answer opens nothing.
            self.envelope, self.open, self._handshaken = b"", False, False
            self.pending = {
                key: (method, False) for key, (method, _) in self.pending.items() if method != "server/discover"
            }
        else:
            learned = _core.read_message(line).learned()
            if learned is not None:
                self.envelope = learned
        key = request_key(message.id)
        self.pending[key] = (message.method, learned is not None)
        return key

    # From the server

    def answered(self, key: RequestKey, frame: _core.Frame) -> bool:
        """An answer to a request of the SDK, in whatever state it is; False when the SDK waits for no such id."""
        waiting = self.pending.pop(key, None)
        if waiting is None:
            return False
        hear = self._tapped.pop(key, None)
        if hear is not None:
            hear(frame)
        message = None if frame.kind == "broken" else message_of(frame)
        if not isinstance(message, JSONRPCResponse | JSONRPCError):
            error = frame.error
            if error is not None:
                self._fail(key, error[1], error[0])
            else:
                fault = frame.fault or "the server's answer nests too deep for the SDK, or is no such message"
                self.first_fault = self.first_fault or fault
                self._fail(key, fault)
            return True
        method, carried = waiting
        if frame.kind == "result":
            self.open |= carried
            self._handshaken |= method == "initialize"
        self.inbox.put(message)
        return True

    def incoming(self, frame: _core.Frame) -> None:
        """A request or a notification of the server."""
        message = message_of(frame)
        if isinstance(message, JSONRPCRequest):
            self._serve(message, frame)
        elif isinstance(message, JSONRPCNotification):
            self._notify(message, frame)
        else:
            self.refuse(frame, "the request could not be read")

    def _serve(self, message: JSONRPCRequest, frame: _core.Frame) -> None:
        key = request_key(message.id)
        if len(self._serving) >= SERVER_REQUESTS and key not in self._serving:
            self.refuse(frame, "too many requests wait for an answer", INTERNAL_ERROR)
        else:
            self._serving.add(key)
            self.inbox.put(message)

    def _notify(self, message: JSONRPCNotification, frame: _core.Frame) -> None:
        abandoned = _abandoned(message)
        if abandoned is not None:
            # The SDK answers no request that its caller gave up.
            self._serving.discard(abandoned)
        size = len(frame.params or b"")
        if self.inbox.has_room(size):
            self.inbox.put(message, size)
        else:
            self.dropped_notifications += 1

    def refuse(self, frame: _core.Frame, text: str, code: int = INVALID_REQUEST) -> None:
        """A message of the server that nobody can serve; a request is told so, if the server reads."""
        self.refused_messages += 1
        identifier = frame.id
        if frame.kind in ("request", "broken_request") and identifier is not None and not self._channel.full:
            error = ErrorData(code=code, message=text)
            answer = JSONRPCError(jsonrpc="2.0", id=identifier, error=error)
            self._channel.write(answer.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n", now=True)

    @property
    def waiting(self) -> list[RequestKey]:
        """The requests that wait for an answer now; a subscription's comes when it ends."""
        return [key for key, (method, _) in self.pending.items() if method != "subscriptions/listen"]

    def fail_nameless(self, key: RequestKey, frame: _core.Frame) -> None:
        """An error or a broken message without an id is the answer to this request."""
        message = message_of(frame) if frame.kind == "error" else None
        if isinstance(message, JSONRPCError):
            self._forget(key)
            self.inbox.put(JSONRPCError(jsonrpc="2.0", id=key, error=message.error))
        else:
            code, text, _ = frame.error or (INTERNAL_ERROR, frame.fault or "", None)
            self._fail(key, text, code)

    def die(self, text: str) -> None:
        """The connection has ended: every waiting request ends with its reason, then the stream does."""
        self.fail_all(text)
        self.inbox.end()

    def fail_all(self, text: str) -> None:
        """Ends what waits, and leaves the stream open."""
        for key in list(self.pending):
            self._fail(key, text)

    def _fail(self, key: RequestKey, text: str, code: int = INTERNAL_ERROR) -> None:
        self._forget(key)
        self._parked.pop(key, None)
        self.inbox.put(JSONRPCError(jsonrpc="2.0", id=key, error=ErrorData(code=code, message=text)))

    def _forget(self, key: RequestKey) -> None:
        self.pending.pop(key, None)
        self._tapped.pop(key, None)


def _abandoned(message: JSONRPCMessage) -> RequestKey | None:
    """The request that this message cancels."""
    if not isinstance(message, JSONRPCNotification) or message.method != "notifications/cancelled":
        return None
    identifier = (message.params or {}).get("requestId")
    return request_key(identifier) if isinstance(identifier, int | str) else None
