"""What a lane and a channel need of an event loop: the time, something to wait on, timers, watched descriptors.

On asyncio these are the loop's own; elsewhere they are anyio's, run by a task group that the wire holds. Calls that
come from a runtime must not raise: nobody stands behind them who could hear it.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from typing import Any, Protocol

import anyio
import anyio.abc
import anyio.lowlevel

from toolwire.loops import on_asyncio

__all__ = ["AnyioRuntime", "AsyncioRuntime", "Runtime", "Waiter", "Watch", "alone", "detached"]

logger = logging.getLogger("toolwire.wire")


class Waiter(Protocol):
    """One outcome, waited for by one task. Setting it twice is the setter's mistake; `done()` says."""

    def set_result(self, result: Any, /) -> None:
        """End the wait."""

    def done(self) -> bool:
        """Tell whether it has ended."""

    def __await__(self) -> Generator[Any, Any, Any]: ...


class Watch(Protocol):
    """Something that will call later, unless it is cancelled; cancelling it twice does nothing."""

    def cancel(self) -> None:
        """Call no more."""


class Runtime(Protocol):
    """The event loop, as far as a wire needs it."""

    turns_are_cheap: bool
    """A call of `soon` costs no task, so that the loop may be kept turning."""

    def now(self) -> float:
        """Tell the time in seconds, on the clock of `at`."""

    def waiter(self) -> Waiter:
        """Make something to wait on."""

    def at(self, when: float, call: Callable[[], object]) -> Watch:
        """Call at `when`."""

    def soon(self, call: Callable[[], object]) -> None:
        """Call after the tasks that are ready now have run."""

    def readable(self, descriptor: int, call: Callable[[], object]) -> Watch:
        """Call whenever `descriptor` can be read."""

    def writable(self, descriptor: int, call: Callable[[], object]) -> Watch:
        """Call whenever `descriptor` can be written."""

    async def sheltered(self, job: Callable[[], Coroutine[Any, Any, None]], give_up: Callable[[], None]) -> None:
        """Run `job` to its end even if the caller is cancelled; `give_up` is called when even that fails."""

    def stop(self) -> None:
        """Cancel everything that has not happened yet."""


def detached(job: Callable[[], Coroutine[Any, Any, None]]) -> object:
    """Runs `job` in a task that belongs to nobody; keep what comes back, or asyncio may forget the task.

    On trio an exception out of such a task ends the whole program, so `job` must not let one out.
    """
    if on_asyncio():
        return asyncio.create_task(job())
    return sys.modules["trio"].lowlevel.spawn_system_task(job, context=contextvars.copy_context())


def alone(error: BaseException) -> BaseException:
    """The one exception in a group of one, as deep as it goes: task groups wrap what a person wants to read."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


class _Watched:
    __slots__ = ("_forget",)

    def __init__(self, forget: Callable[[], object]) -> None:
        self._forget: Callable[[], object] | None = forget

    def cancel(self) -> None:
        # Only once: by the second time the descriptor's number may belong to somebody else.
        forget, self._forget = self._forget, None
        if forget is not None:
            forget()


class AsyncioRuntime:
    """The running asyncio loop."""

    turns_are_cheap = True

    def __init__(self) -> None:
        self._loop = loop = asyncio.get_running_loop()
        self.now = loop.time
        self.waiter: Callable[[], Waiter] = loop.create_future
        # What asyncio's own loop does in these two, without its function around it: both are called for each request.
        if type(loop).time is asyncio.BaseEventLoop.time:
            self.now = time.monotonic
        if type(loop).create_future is asyncio.BaseEventLoop.create_future:
            self.waiter = partial(asyncio.Future, loop=loop)
        self.at: Callable[[float, Callable[[], object]], Watch] = loop.call_at

    def soon(self, call: Callable[[], object]) -> None:
        """Calls after the tasks that are ready now have run."""
        self._loop.call_soon(call)

    def readable(self, descriptor: int, call: Callable[[], object]) -> Watch:
        """Calls whenever `descriptor` can be read."""
        self._loop.add_reader(descriptor, call)
        return _Watched(partial(self._loop.remove_reader, descriptor))

    def writable(self, descriptor: int, call: Callable[[], object]) -> Watch:
        """Calls whenever `descriptor` can be written."""
        self._loop.add_writer(descriptor, call)
        return _Watched(partial(self._loop.remove_writer, descriptor))

    async def sheltered(self, job: Callable[[], Coroutine[Any, Any, None]], give_up: Callable[[], None]) -> None:
        """Runs `job` to its end even if the caller is cancelled; then the caller does not wait for it.

        Only the end of the loop cancels the job, perhaps before it began: then `give_up` is called.
        """
        task = self._loop.create_task(job())
        task.add_done_callback(lambda done: give_up() if done.cancelled() else None)
        await asyncio.shield(task)

    def stop(self) -> None:
        """Nothing to stop: what was not cancelled belongs to the loop."""


class _EventWaiter:
    __slots__ = ("_event", "_result")

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._result: Any = None

    def set_result(self, result: Any, /) -> None:
        self._result = result
        self._event.set()

    def done(self) -> bool:
        return self._event.is_set()

    def __await__(self) -> Generator[Any, Any, Any]:
        yield from self._event.wait().__await__()
        return self._result


class AnyioRuntime:
    """Any loop that anyio knows, with a task group for what has to happen later.

    Its tasks are shielded: a cancelled scope around the wire still needs deadlines and reads until the wire has closed.
    `stop` ends them, and has to be called before the group is left.
    """

    turns_are_cheap = False

    def __init__(self, tasks: anyio.abc.TaskGroup) -> None:
        self._tasks = tasks
        self._running: set[anyio.CancelScope] = set()
        self.now = anyio.current_time

    def waiter(self) -> Waiter:
        """An event that carries its outcome."""
        return _EventWaiter()

    def at(self, when: float, call: Callable[[], object]) -> Watch:
        """Calls at `when`."""
        return self._start(partial(anyio.sleep_until, when), call, again=False)

    def soon(self, call: Callable[[], object]) -> None:
        """Calls after the tasks that are ready now have run."""
        self._start(anyio.lowlevel.checkpoint, call, again=False)

    def readable(self, descriptor: int, call: Callable[[], object]) -> Watch:
        """Calls whenever `descriptor` can be read."""
        return self._start(partial(anyio.wait_readable, descriptor), call, again=True)

    def writable(self, descriptor: int, call: Callable[[], object]) -> Watch:
        """Calls whenever `descriptor` can be written."""
        return self._start(partial(anyio.wait_writable, descriptor), call, again=True)

    async def sheltered(self, job: Callable[[], Coroutine[Any, Any, None]], give_up: Callable[[], None]) -> None:
        """Runs `job` to its end even if the caller is cancelled; `give_up` is called when even that fails."""
        try:
            with anyio.CancelScope(shield=True):
                await job()
        except BaseException:
            give_up()
            raise

    def stop(self) -> None:
        """Cancels everything that has not happened yet."""
        for scope in list(self._running):
            scope.cancel()

    def _start(self, wait: Callable[[], Awaitable[None]], call: Callable[[], object], *, again: bool) -> Watch:
        scope = anyio.CancelScope(shield=True)
        self._running.add(scope)

        def stopped() -> bool:
            return scope.cancel_called

        async def run() -> None:
            with scope:
                # A cancelled watch may not even look at its descriptor: the number may be somebody else's by now.
                while not stopped():
                    await wait()
                    if stopped():
                        break
                    try:
                        call()
                    except Exception:
                        # As asyncio does: a callback that fails is logged, and takes nobody with it.
                        logger.exception("a callback of the wire raised")
                    if not again:
                        break
            self._running.discard(scope)

        self._tasks.start_soon(run)
        return scope
