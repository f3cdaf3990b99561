"""Calls that come from elsewhere: another event loop, a plain thread, a script without a loop (faults I8, I9).

A connection lives in one loop. A call made anywhere else goes to that loop and comes back, or says clearly why it can't:
it never waits for a loop that will not run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from toolwire.errors import RemoteCallError
from toolwire.loops import running_asyncio_loop

__all__ = ["Home"]

Result = TypeVar("Result")


class Home:
    """The event loop that a connection lives in. On trio a connection is used from its own loop only."""

    __slots__ = ("loop",)

    def __init__(self) -> None:
        self.loop = running_asyncio_loop()

    def is_here(self) -> bool:
        """The caller runs in that loop."""
        return running_asyncio_loop() is self.loop

    async def visit(self, job: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Runs `job` there, from another loop. Raises RemoteCallError when that loop has ended."""
        loop = self._alive()
        future = asyncio.run_coroutine_threadsafe(job(), loop)
        return await asyncio.wrap_future(future)

    def visit_sync(self, job: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Runs `job` there and waits, from a thread without a loop. Raises RuntimeError from inside the loop itself."""
        loop = self._alive()
        if running_asyncio_loop() is loop:
            raise RuntimeError("invoke_sync was called inside the event loop that the tool's connection lives in: await invoke")
        return asyncio.run_coroutine_threadsafe(job(), loop).result()

    def _alive(self) -> asyncio.AbstractEventLoop:
        loop = self.loop
        if loop is None or loop.is_closed() or not loop.is_running():
            raise RemoteCallError(
                "the event loop that the connection was opened in does not run any more: open the connection in this one",
                may_have_run=False,
            )
        return loop

