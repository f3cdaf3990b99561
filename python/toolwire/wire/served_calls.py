"""The express lane of a server wire: the calls that run, and the requests of both lanes that wait for their turn.

At the bound only new requests wait here; answers and notifications never do.
"""

import asyncio
import types
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context, copy_context
from functools import partial
from typing import Any, Final, Protocol

import anyio
import anyio.abc
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR
from pydantic_core import to_json

from toolwire._core import ServedCall
from toolwire._sdk import shielded
from toolwire.wire.limits import LEAVE_TIMEOUT, QUEUED_BYTES, QUEUED_OVERHEAD, SHIELD_POLL

__all__ = ["CLOSED", "Answered", "Asked", "Queue", "ServedCalls", "Tool"]

Key = int | str
Job = tuple[ServedCall, "Tool", bytes | None]
Serving = Coroutine[Any, Any, None]

CLOSED: Final = to_json({"code": CONNECTION_CLOSED, "message": "Connection closed"})
ABANDONED: Final = to_json({"code": INTERNAL_ERROR, "message": "the call was cancelled, and not by its client"})


class Asked(Protocol):
    """What knows the facts of a call's request: the wire that it came over, or what was posted."""

    @property
    def lifespan(self) -> Any:
        """What the server's lifespan yielded."""

    @property
    def auth(self) -> Any:
        """The access token of the request, where the server asks for one."""

    async def progress(self, call: ServedCall, progress: float, total: float | None, message: str | None) -> None:
        """Tell the client of a call's progress, if it asked, and until the call is over."""


class Tool(Protocol):
    """A tool that can be served here."""

    def run(self, asked: Asked, call: ServedCall, stamp: bytes | None, /) -> Awaitable[bytes]:
        """Give the line that answers `call`, made by `call.text_answer` and its kin.

        `stamp` is for a session of 2026-07-28. Raises Answered for an error instead; contains every other failure.
        """


class Answered(Exception):
    """A call that is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.error = to_json({"code": code, "message": message})


class Queue:
    """Requests of one client that wait for their turn, bounded in bytes."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[Key, bytes, int, Callable[[], object]]] = deque()
        self._size = 0

    def put(self, key: Key, id_json: bytes, size: int, start: Callable[[], object]) -> bool:
        """Take a request of `size` bytes in, unless there is no room."""
        size += QUEUED_OVERHEAD
        if self._size + size > QUEUED_BYTES:
            return False
        self.waiting.append((key, id_json, size, start))
        self._size += size
        return True

    def start_next(self) -> None:
        """Give the first its turn."""
        _, _, size, start = self.waiting.popleft()
        self._size -= size
        start()

    def cancel(self, key: Key) -> bool:
        """Drop the last request of that id; whether there was one."""
        for index in range(len(self.waiting) - 1, -1, -1):
            waiting, _, size, _ = self.waiting[index]
            if waiting == key:
                del self.waiting[index]
                self._size -= size
                return True
        return False

    def clear(self) -> list[bytes]:
        """Drop all; their ids as they were written."""
        dropped = [id_json for _, id_json, _, _ in self.waiting]
        self.waiting.clear()
        self._size = 0
        return dropped


class ServedCalls:
    """The calls that run. `write` takes their answers in the order in which they finish; `finished` hears of each."""

    def __init__(
        self,
        wire: Asked,
        tasks: anyio.abc.TaskGroup | None,
        write: Callable[[bytes], object],
        finished: Callable[[], object],
    ) -> None:
        self._wire = wire
        self._tasks = tasks
        self._write = write
        self._finished = finished
        self.count = self.size = 0
        """Calls that were started and have not ended, and the bytes of their messages."""
        self._ready: deque[Job] = deque()
        self._taken = False
        """A task is on its way to those that are ready."""
        self._running: dict[ServedCall, Any] = {}
        self._leaving: dict[ServedCall, Any] = {}
        """Cancelled by the client and not gone yet: nothing is answered to them, whatever they still do."""
        self._ended = False
        self._all_gone = anyio.Event()
        self.context: Context | None = None
        """The context that handlers begin in: the server's own, whoever's turn of the loop a call came in."""

    def __contains__(self, call: ServedCall) -> bool:
        return call in self._running

    def start(self, call: ServedCall, tool: Tool, stamp: bytes | None) -> None:
        """Run a call."""
        self.count += 1
        self.size += call.size
        if self._tasks is not None:
            scope = self._running[call] = anyio.CancelScope()
            self._own_context().run(self._tasks.start_soon, self._serve_in, scope, call, tool, stamp)
            return
        self._ready.append((call, tool, stamp))
        if not self._taken:
            self._take()

    def _own_context(self) -> Context:
        return copy_context() if self.context is None else self.context.copy()

    def _take(self) -> None:
        self._taken = True
        # The loop itself forgets a task that nobody holds; this one is held by `_running` as soon as it waits.
        self._taker = asyncio.get_running_loop().create_task(self._run_ready())

    async def _run_ready(self) -> None:
        """Run calls, each in a context of its own, until one has to wait.

        That one keeps this task for itself, to be cancelled and to have what hangs on a task; another task takes the
        others. So a handler that waits has a task of its own, as everywhere, and one that does not costs none.
        """
        waiting = self._first_that_waits(self._taker)
        if waiting is not None:
            await _rest(*waiting)

    def _first_that_waits(self, task: asyncio.Task[None]) -> tuple[Serving, Context, object] | None:
        try:
            while self._ready:
                call, tool, stamp = self._ready.popleft()
                self._running[call] = task
                context = self._own_context()
                serving = self._serve(call, tool, stamp)
                try:
                    awaited = context.run(serving.send, None)
                except StopIteration:
                    if task.cancelling():
                        # It has cancelled this task, which was its own to all that it could see.
                        break
                    continue
                return serving, context, awaited
            return None
        finally:
            self._taken = False
            if self._ready:
                self._take()

    async def _serve_in(self, scope: anyio.CancelScope, call: ServedCall, tool: Tool, stamp: bytes | None) -> None:
        with scope:
            await self._serve(call, tool, stamp)

    async def _serve(self, call: ServedCall, tool: Tool, stamp: bytes | None) -> None:
        try:
            line = await tool.run(self._wire, call, stamp)
        except Answered as answered:
            line = call.error_answer(answered.error)
        except BaseException as error:
            cancelled = isinstance(error, anyio.get_cancelled_exc_class())
            # A client that has cancelled it hears nothing; a handler may also have cancelled itself.
            self._end_of(call, call.error_answer(CLOSED if self._ended else ABANDONED) if cancelled else b"")
            raise
        self._end_of(call, line)

    def _end_of(self, call: ServedCall, line: bytes) -> None:
        self.count -= 1
        self.size -= call.size
        if self._running.pop(call, None) is None:
            del self._leaving[call]
        elif line:
            self._write(line)
        if self._ended and not self.count:
            self._all_gone.set()
        self._finished()

    def cancel(self, key: Key) -> None:
        """Cancel a handler, since the client wants no answer any more."""
        call = next((call for call in reversed(self._running) if call.key == key), None)
        if call is not None:
            handle = self._leaving[call] = self._running.pop(call)
            _cancel(handle)
            return
        job = next((job for job in reversed(self._ready) if job[0].key == key), None)
        if job is not None:
            self._ready.remove(job)
            self.count -= 1
            self.size -= job[0].size

    def end(self) -> None:
        """Cancel all; they are answered that the connection has closed."""
        self._ended = True
        while self._ready:
            self.count -= 1
            self._write(self._ready.popleft()[0].error_answer(CLOSED))
        for handle in [*self._running.values(), *self._leaving.values()]:
            _cancel(handle)

    async def wait(self) -> None:
        """Give the cancelled handlers a moment to clean up."""
        if self.count:
            with anyio.move_on_after(LEAVE_TIMEOUT, shield=True):
                await self._all_gone.wait()


def _cancel(handle: asyncio.Task[Any] | anyio.CancelScope) -> None:
    """Cancel a handler as the SDK does: not while it shields itself, as to finish what must not be cut in two."""
    if not isinstance(handle, asyncio.Task):
        handle.cancel()
    elif not handle.done() and shielded(handle):
        asyncio.get_running_loop().call_later(SHIELD_POLL, _cancel, handle)
    else:
        handle.cancel()


@types.coroutine
def _rest(serving: Serving, context: Context, awaited: object) -> Generator[Any, Any, None]:
    """Run what is left of a coroutine in the context that it began in."""
    while True:
        step: Callable[[], Any]
        try:
            step = partial(serving.send, (yield awaited))
        except BaseException as error:  # noqa: BLE001 - it is the coroutine's to handle
            step = partial(serving.throw, error)
        try:
            awaited = context.run(step)
        except StopIteration:
            return
