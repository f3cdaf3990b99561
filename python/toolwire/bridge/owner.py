"""One owner task for one async context manager, so that it may be used from any task and left from another (fault I7).

An SDK client opens task groups, and those must be left by the task that entered them; the owner is that task.
"""

from __future__ import annotations

import asyncio
import contextvars
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, TypeVar

import anyio

from toolwire.wire.runtime import on_asyncio

__all__ = ["Owner"]

Entered = TypeVar("Entered")


class Owner(Generic[Entered]):
    """Enters a context manager in a task of its own, holds it, and leaves it when told."""

    def __init__(self, manager: AbstractAsyncContextManager[Entered]) -> None:
        self._manager = manager
        self._ready = anyio.Event()
        self._stop = anyio.Event()
        self._done = anyio.Event()
        self._scope = anyio.CancelScope()
        self._entered: Entered | None = None
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None

    async def enter(self, timeout: float | None) -> Entered:
        """Enters. Raises what the manager raised, or TimeoutError after `timeout` seconds, with everything left behind."""
        if on_asyncio():
            self._task = asyncio.create_task(self._own())
        else:
            import trio

            trio.lowlevel.spawn_system_task(self._own, context=contextvars.copy_context())
        try:
            with anyio.move_on_after(timeout) as limit:
                await self._ready.wait()
        except BaseException:
            await self._abandon()
            raise
        if limit.cancelled_caught:
            await self._abandon()
            raise TimeoutError
        if self._error is not None:
            await self._abandon()
            raise self._error
        return self._entered  # type: ignore[return-value]  # ready without an error: it was entered

    async def leave(self) -> None:
        """Leaves; a second call waits for the first. What the manager raises on the way out was the connection's end."""
        self._stop.set()
        with anyio.CancelScope(shield=True):
            await self._done.wait()

    async def _abandon(self) -> None:
        self._scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._done.wait()

    async def _own(self) -> None:
        try:
            with self._scope:
                async with self._manager as entered:
                    self._entered = entered
                    self._ready.set()
                    await self._stop.wait()
        except BaseException as error:
            self._error = alone(error)
            if not isinstance(error, Exception | asyncio.CancelledError) and not _is_cancellation(error):
                raise
        finally:
            self._ready.set()
            self._done.set()


def _is_cancellation(error: BaseException) -> bool:
    return isinstance(error, anyio.get_cancelled_exc_class()) or isinstance(error, BaseExceptionGroup)


def alone(error: BaseException) -> Any:
    """The one exception in a group of one, as deep as it goes: task groups wrap what a person wants to read."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
