"""The express lane of a server wire: the calls that run, each in a task of its own, and those that wait for their turn.

At the bound only new requests wait here, of both lanes; answers and notifications never do.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import anyio
import anyio.abc
from mcp_types import CONNECTION_CLOSED
from pydantic_core import to_json

from toolwire import _core
from toolwire.wire.limits import LEAVE_TIMEOUT, QUEUED_BYTES, QUEUED_OVERHEAD

__all__ = ["Answered", "Queue", "ServedCalls", "Tool"]

Key = int | str

_CLOSED = to_json({"code": CONNECTION_CLOSED, "message": "Connection closed"})


class Tool(Protocol):
    """A tool that can be served here."""

    def run(self, wire: Any, call: _core.ServedCall, stamp: bytes | None, /) -> Awaitable[bytes]:
        """The line that answers `call`: `call.text_answer` and its kin make it. `stamp` is for a session of 2026-07-28.

        Raises Answered to answer with an error instead; contains every other failure.
        """


class Answered(Exception):  # noqa: N818 - it is an answer
    """A call that is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.error = to_json({"code": code, "message": message})


class Queue:
    """Requests of one client that wait for their turn, bounded in bytes."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Key, int, Callable[[], object]]] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, key: Key, size: int, start: Callable[[], object]) -> bool:
        """Takes a request of `size` bytes in, unless there is no room."""
        size += QUEUED_OVERHEAD
        if self._bytes + size > QUEUED_BYTES:
            return False
        self._waiting.append((key, size, start))
        self._bytes += size
        return True

    def start_next(self) -> None:
        """Gives the first its turn."""
        _, size, start = self._waiting.popleft()
        self._bytes -= size
        start()

    def cancel(self, key: Key) -> bool:
        """Drops the last of that id."""
        for index in range(len(self._waiting) - 1, -1, -1):
            waiting, size, _ = self._waiting[index]
            if waiting == key:
                del self._waiting[index]
                self._bytes -= size
                return True
        return False

    def clear(self) -> None:
        """Drops all."""
        self._waiting.clear()
        self._bytes = 0


class ServedCalls:
    """The calls that run. `write` takes their answers in the order in which they finish; `finished` hears of each."""

    def __init__(
        self,
        wire: Any,
        tasks: anyio.abc.TaskGroup | None,
        write: Callable[[bytes], object],
        finished: Callable[[], object],
    ) -> None:
        self._wire = wire
        self._tasks = tasks
        self._write = write
        self._finished = finished
        self._running: dict[_core.ServedCall, Any] = {}
        self._leaving: dict[_core.ServedCall, Any] = {}
        """Cancelled by the client and not gone yet: nothing is answered to them, whatever they still do."""
        self._ended = False

    def __len__(self) -> int:
        return len(self._running) + len(self._leaving)

    def __contains__(self, call: _core.ServedCall) -> bool:
        return call in self._running

    def start(self, call: _core.ServedCall, tool: Tool, stamp: bytes | None) -> None:
        """Runs a call."""
        if self._tasks is None:
            self._running[call] = asyncio.get_running_loop().create_task(self._serve(call, tool, stamp))
        else:
            scope = self._running[call] = anyio.CancelScope()
            self._tasks.start_soon(self._serve_in, scope, call, tool, stamp)

    async def _serve_in(self, scope: anyio.CancelScope, call: _core.ServedCall, tool: Tool, stamp: bytes | None) -> None:
        with scope:
            await self._serve(call, tool, stamp)

    async def _serve(self, call: _core.ServedCall, tool: Tool, stamp: bytes | None) -> None:
        try:
            line = await tool.run(self._wire, call, stamp)
        except Answered as answered:
            line = call.error_answer(answered.error)
        except BaseException as error:
            cancelled = isinstance(error, anyio.get_cancelled_exc_class())
            self._end_of(call, call.error_answer(_CLOSED) if self._ended and cancelled else b"")
            raise
        self._end_of(call, line)

    def _end_of(self, call: _core.ServedCall, line: bytes) -> None:
        if self._running.pop(call, None) is None:
            del self._leaving[call]
        elif line:
            self._write(line)
        self._finished()

    def cancel(self, key: Key) -> None:
        """The client wants no answer any more: the handler's task is cancelled."""
        call = next((call for call in reversed(self._running) if call.key == key), None)
        if call is not None:
            handle = self._leaving[call] = self._running.pop(call)
            handle.cancel()

    def end(self) -> None:
        """Cancels all; they are answered that the connection has closed."""
        self._ended = True
        for handle in [*self._running.values(), *self._leaving.values()]:
            handle.cancel()

    async def wait(self) -> None:
        """Gives the cancelled handlers a moment to clean up; the task group waits for its own."""
        if self._tasks is None and len(self):
            await asyncio.wait([*self._running.values(), *self._leaving.values()], timeout=LEAVE_TIMEOUT)
