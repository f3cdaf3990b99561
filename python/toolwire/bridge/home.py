"""Calls that come from elsewhere: another event loop, a plain thread, a script without a loop (faults I8, I9).

A connection lives in one loop. A call made anywhere else goes to that loop and comes back, or says clearly why it
can't: it never waits for a loop that does not run, nor for one that waits for it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread

from toolwire.errors import RemoteCallError
from toolwire.loops import held_up, loop_here, running_loop

__all__ = ["Home"]

Result = TypeVar("Result")
Job = Callable[[], Coroutine[Any, Any, Result]]

_LOOK = 0.25
"""Seconds between two looks at the loop of a connection while a call waits there: one that ends answers nobody."""
_INSIDE = "invoke_sync was called inside the event loop that the tool's connection lives in: await invoke"
_ENDED = "the event loop that the connection was opened in {}: open the connection in this one"


class Home:
    """The event loop that a connection lives in. `loop` is `None` on trio, whose runs are known by their token."""

    __slots__ = ("_token", "loop")

    def __init__(self) -> None:
        self.loop = running_loop()
        self._token = None if self.loop is not None else anyio.lowlevel.current_token()

    def is_here(self) -> bool:
        """The caller runs in that loop."""
        if self.loop is not None:
            return running_loop() is self.loop
        return self._token is not None and self._token.native_token is loop_here()

    async def visit(self, job: Job[Result]) -> Result:
        """Runs `job` there, from another loop. Raises RemoteCallError when that loop has ended, or ends meanwhile."""
        if self.loop is None or running_loop() is None:
            visitor = _Visitor()
            try:
                return await anyio.to_thread.run_sync(partial(self.visit_sync, job, visitor), abandon_on_cancel=True)
            finally:
                visitor.leave()
        future = self._sent(job, self._alive())
        here = asyncio.wrap_future(future)
        try:
            while not here.done():
                await asyncio.wait((here,), timeout=_LOOK)
                if not here.done() and not self._runs():
                    raise _ended("ended during the call", may_have_run=True)
        finally:
            here.cancel()
        return _outcome(future)

    def visit_sync(self, job: Job[Result], visitor: _Visitor | None = None) -> Result:
        """Runs `job` there and waits, from another thread. Raises RuntimeError from inside the loop itself."""
        if self.loop is None:
            return self._visit_trio(job)
        loop = self._alive()
        if running_loop() is loop:
            raise RuntimeError(_INSIDE)
        future = self._sent(job, loop)
        if visitor is not None:
            visitor.waits_for(future)
        try:
            while not concurrent.futures.wait((future,), timeout=_LOOK).done:
                if not self._runs():
                    raise _ended("ended during the call", may_have_run=True)
        finally:
            future.cancel()
        return _outcome(future)

    def _visit_trio(self, job: Job[Result]) -> Result:
        if self._token is not None:
            self._not_held_up(self._token.native_token)
        if self.is_here():
            raise RuntimeError(_INSIDE)
        try:
            return anyio.from_thread.run(job, token=self._token)
        except anyio.RunFinishedError:
            raise _ended("does not run any more", may_have_run=False) from None

    def _sent(self, job: Job[Result], loop: asyncio.AbstractEventLoop) -> concurrent.futures.Future[Result]:
        coroutine = job()
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, loop)
        except RuntimeError:
            # It was closed since we looked.
            coroutine.close()
            raise _ended("does not run any more", may_have_run=False) from None

    def _runs(self) -> bool:
        return self.loop is not None and not self.loop.is_closed() and self.loop.is_running()

    def _alive(self) -> asyncio.AbstractEventLoop:
        loop = self.loop
        if loop is None or not self._runs():
            raise _ended("does not run any more", may_have_run=False)
        self._not_held_up(loop)
        return loop

    def _not_held_up(self, loop: object) -> None:
        if loop in held_up.get():
            raise RemoteCallError(
                "the event loop that the connection lives in waits for this very call: await it instead of making it "
                "synchronously",
                may_have_run=False,
            )


class _Visitor:
    """A caller that may give up while a thread waits in its place. On trio's side such a call runs to its end."""

    def __init__(self) -> None:
        self._gone = False
        self._future: concurrent.futures.Future[Any] | None = None

    def waits_for(self, future: concurrent.futures.Future[Any]) -> None:
        self._future = future
        if self._gone:
            future.cancel()

    def leave(self) -> None:
        self._gone = True
        if self._future is not None:
            self._future.cancel()


def _outcome(future: concurrent.futures.Future[Result]) -> Result:
    if future.cancelled():
        # Nobody here asked for that: the loop cancelled what was left in it when it ended.
        raise _ended("ended during the call", may_have_run=True)
    return future.result()


def _ended(how: str, *, may_have_run: bool) -> RemoteCallError:
    return RemoteCallError(_ENDED.format(how), may_have_run=may_have_run)
