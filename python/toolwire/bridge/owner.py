"""One owner task for one async context manager, so that it may be used from any task and left from another (fault I7).

An SDK client opens task groups, and those must be left by the task that entered them; the owner is that task.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import Generic, TypeVar

import anyio

from toolwire.loops import on_asyncio
from toolwire.wire.runtime import alone, detached

__all__ = ["Overdue", "Owner"]

Entered = TypeVar("Entered")
_FATAL = (KeyboardInterrupt, SystemExit)
_inside: ContextVar[object] = ContextVar("toolwire.owner", default=None)
"""The owner whose manager the running task belongs to: a callback of the SDK client, or what it has started."""


class Overdue(Exception):
    """The manager was not entered in time, and has been left."""


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
        self._task: object = None

    @property
    def done(self) -> bool:
        """The manager was left."""
        return self._done.is_set()

    async def enter(self, timeout: float | None) -> Entered:
        """Enters. Raises what the manager raised, or Overdue after `timeout` seconds; either way everything is left."""
        self._task = detached(self._own)
        try:
            with anyio.move_on_after(timeout) as limit:
                await self._ready.wait()
        except BaseException:
            await self._abandon()
            raise
        if limit.cancelled_caught:
            await self._abandon()
            raise Overdue
        if self._error is not None:
            await self._abandon()
            raise self._error
        return self._entered  # type: ignore[return-value]  # ready without an error: it was entered

    async def leave(self) -> None:
        """Leaves; a second call waits for the first. What the manager raises on the way out was the connection's end.

        Only a KeyboardInterrupt or a SystemExit that a callback of the manager let out goes on.
        """
        self._stop.set()
        if _inside.get() is self:
            # The manager waits for its callbacks: one that waited for the manager in turn would wait for ever.
            return
        with anyio.CancelScope(shield=True):
            await self._done.wait()
        error = self._error
        fatal = error.subgroup(_FATAL) if isinstance(error, BaseExceptionGroup) else error
        if isinstance(fatal, (BaseExceptionGroup, *_FATAL)):
            self._error = None
            raise alone(fatal)

    async def _abandon(self) -> None:
        self._scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._done.wait()

    async def _own(self) -> None:
        _inside.set(self)
        try:
            with self._scope:
                async with self._manager as entered:
                    self._entered = entered
                    self._ready.set()
                    await self._stop.wait()
        except BaseException as error:
            self._error = alone(error)
            # Nobody awaits this task: its errors are told by `enter` and `leave`. asyncio's own are the exception.
            if isinstance(error, _FATAL) and on_asyncio():
                raise
        finally:
            self._ready.set()
            self._done.set()
