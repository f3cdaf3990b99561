"""What a lane needs of an event loop: the time, something to wait on, a timer. On asyncio these are the loop's own;
elsewhere they are anyio's, run by a task group that the wire holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, Protocol

import anyio
import anyio.abc
import sniffio

__all__ = ["AnyioRuntime", "AsyncioRuntime", "Runtime", "Timer", "Waiter", "on_asyncio"]


class Waiter(Protocol):
    """One outcome, waited for by one task. Setting it twice is the setter's mistake; `done()` says."""

    def set_result(self, result: Any, /) -> None: ...
    def done(self) -> bool: ...
    def __await__(self) -> Generator[Any, Any, Any]: ...


class Timer(Protocol):
    """A call that will be made later, unless it is cancelled."""

    def cancel(self) -> None: ...


class Runtime(Protocol):
    """The event loop, as far as a lane needs it. `now` is the clock of `at`, in seconds."""

    def now(self) -> float: ...
    def waiter(self) -> Waiter: ...
    def at(self, when: float, call: Callable[[], None]) -> Timer: ...
    def soon(self, call: Callable[[], None]) -> None: ...


def on_asyncio() -> bool:
    """The running event loop is asyncio's."""
    return sniffio.current_async_library() == "asyncio"


class AsyncioRuntime:
    """The running asyncio loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.now = self.loop.time
        self.waiter: Callable[[], Waiter] = self.loop.create_future
        self.at: Callable[[float, Callable[[], None]], Timer] = self.loop.call_at

    def soon(self, call: Callable[[], None]) -> None:
        """Calls after the tasks that are ready now have run."""
        self.loop.call_soon(call)


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
    """Any loop that anyio knows, with a task group for the timers."""

    def __init__(self, tasks: anyio.abc.TaskGroup) -> None:
        self._tasks = tasks
        self.now = anyio.current_time

    def waiter(self) -> Waiter:
        """An event that carries its outcome."""
        return _EventWaiter()

    def at(self, when: float, call: Callable[[], None]) -> Timer:
        """Calls at `when`, from a task of its own."""
        scope = anyio.CancelScope()

        async def wait() -> None:
            with scope:
                await anyio.sleep_until(when)
                call()

        self._tasks.start_soon(wait)
        return scope

    def soon(self, call: Callable[[], None]) -> None:
        """Calls from a task of its own."""

        async def run() -> None:
            call()

        self._tasks.start_soon(run)
