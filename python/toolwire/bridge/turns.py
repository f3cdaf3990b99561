"""Turns of a sequential tool: one call of it at a time, in the order in which they came."""

from __future__ import annotations

from types import TracebackType

import anyio

__all__ = ["Turns"]


class Turns:
    """Entered by each call. A lock belongs to one event loop, so a new one is made whenever nobody waits."""

    def __init__(self) -> None:
        self._turn: anyio.Lock
        self._taken = 0
        """Calls that hold the lock or wait for it."""

    async def __aenter__(self) -> None:
        if not self._taken:
            self._turn = anyio.Lock()
        self._taken += 1
        try:
            await self._turn.acquire()
        except BaseException:
            self._taken -= 1
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._turn.release()
        self._taken -= 1
