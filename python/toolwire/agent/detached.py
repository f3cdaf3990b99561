"""Work that its caller may leave behind: a handler that ignores its deadline must not hold the run (row G9).

Structured concurrency waits for what it cancels; this does not. The work runs in a task of the event loop's own.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import anyio

from toolwire.loops import on_asyncio

__all__ = ["DeadlineReached", "Detached", "within"]

Outcome = TypeVar("Outcome")
_running: set[asyncio.Task[None]] = set()


class DeadlineReached(Exception):
    """The work was abandoned."""


class Detached(Generic[Outcome]):
    """A job that runs beside its starter. `done` is set at its end, `cancel` asks it to end and waits for nothing."""

    def __init__(self, job: Callable[[], Awaitable[Outcome]]) -> None:
        self.done = anyio.Event()
        self._job = job
        self._scope = anyio.CancelScope()
        self._outcome: list[Outcome] = []
        self._failure: BaseException | None = None
        if on_asyncio():
            task = asyncio.get_running_loop().create_task(self._run())
            _running.add(task)
            task.add_done_callback(_running.discard)
        else:
            import trio  # noqa: PLC0415 - only a program that uses trio has it

            trio.lowlevel.spawn_system_task(self._run, context=contextvars.copy_context())

    def cancel(self) -> None:
        """Asks the job to end."""
        self._scope.cancel()

    def result(self) -> Outcome:
        """What the job gave or raised; DeadlineReached when it was cancelled or still runs."""
        if self._failure is not None:
            raise self._failure
        if not self._outcome:
            raise DeadlineReached
        return self._outcome[0]

    async def _run(self) -> None:
        try:
            with self._scope:
                self._outcome.append(await self._job())
        except BaseException as error:  # noqa: BLE001 - kept for whoever asks; a task of nobody's may raise nothing
            self._failure = error
        finally:
            self.done.set()


async def within(seconds: float, job: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """What `job` gives or raises, or DeadlineReached: then it is cancelled, and not awaited.

    A caller that is cancelled cancels the work and leaves it too.
    """
    work: Detached[Any] = Detached(job)
    try:
        with anyio.move_on_after(seconds):
            await work.done.wait()
    finally:
        if not work.done.is_set():
            work.cancel()
    outcome: Outcome = work.result()
    return outcome
