"""The SDK's end of a wire: the streams that it reads and writes, and its messages beside our frames."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

from toolwire import _core
from toolwire.wire.limits import SDK_BACKLOG, SDK_BACKLOG_BYTES

__all__ = ["Inbox", "RequestKey", "SdkWriteStream", "message_of", "request_key"]

logger = logging.getLogger("toolwire.wire")

RequestKey = int | str


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


class Inbox:
    """What the SDK reads, and how far it is behind. Nothing waits to be put in: who puts asks for room first."""

    def __init__(self) -> None:
        self._send: MemoryObjectSendStream[SessionMessage | Exception]
        self.stream: MemoryObjectReceiveStream[SessionMessage | Exception]
        self._send, self.stream = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
        self._sizes: deque[int] = deque()
        self._bytes = 0

    @property
    def behind(self) -> tuple[int, int]:
        """How many messages wait for the SDK, and the sum of their sizes."""
        waiting = self._send.statistics().current_buffer_used
        while len(self._sizes) > waiting:
            self._bytes -= self._sizes.popleft()
        return waiting, self._bytes

    def has_room(self, size: int) -> bool:
        """The SDK is not too far behind for `size` bytes more."""
        messages, total = self.behind
        return messages < SDK_BACKLOG and total + size <= SDK_BACKLOG_BYTES

    def put(self, message: JSONRPCMessage, size: int = 0) -> None:
        """Gives the SDK a message, unless its session has ended."""
        try:
            self._send.send_nowait(SessionMessage(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            logger.debug("a message came after the SDK's session had closed")
            return
        self._sizes.append(size)
        self._bytes += size
        if len(self._sizes) > SDK_BACKLOG:
            # Nobody else forgets the sizes of answers, which are never refused.
            _ = self.behind

    def end(self) -> None:
        """No message will follow."""
        self._send.close()

    def close(self) -> None:
        """Both ends."""
        self._send.close()
        self.stream.close()


def request_key(identifier: RequestKey) -> RequestKey:
    """An id as `Frame.answers` and `Frame.id` give it back: digits in quotes are the integer, if 64 bits hold it."""
    if isinstance(identifier, str) and identifier.isascii() and identifier.removeprefix("-").isdigit():
        number = int(identifier) if len(identifier) <= _DIGITS else _HUGE
        return number if -_HUGE <= number < _HUGE else identifier
    return identifier


_DIGITS = 1_000
"""Python refuses to read an integer of more than 4,300 digits."""
_HUGE = 1 << 63


def message_of(frame: _core.Frame) -> JSONRPCMessage | None:
    """A frame as the SDK's own message; `None` where its parser refuses even the mended text."""
    try:
        return jsonrpc_message_adapter.validate_json(frame.mended(), by_name=False)
    except ValueError:
        return None
