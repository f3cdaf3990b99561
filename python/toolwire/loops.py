"""Which event loop runs here. Asked where a task has to outlive its starter, which asyncio and trio do differently."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import anyio
import anyio.lowlevel

__all__ = [
    "call_in",
    "goes_on",
    "held_up",
    "loop_here",
    "next_turn",
    "no_loop_runs",
    "on_asyncio",
    "running_loop",
    "running_task",
    "soon_in",
]

held_up: ContextVar[tuple[object, ...]] = ContextVar("toolwire.held_up", default=())
"""The loops, as `loop_here` names them, whose threads wait for what runs in this context: it may not wait for them."""


running_loop = asyncio._get_running_loop  # noqa: SLF001 - public for who implements a loop
"""The asyncio loop that runs in this thread; `None` under trio, and where no loop runs. One call into C."""


def running_task() -> asyncio.Task[object] | None:
    """The asyncio task that runs; `None` under trio."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


async def next_turn() -> None:
    """Goes on when everything else that is ready has run."""
    await (asyncio.sleep(0) if running_loop() is not None else anyio.lowlevel.checkpoint())


def on_asyncio() -> bool:
    """The caller runs on asyncio. From a coroutine, anything else is trio."""
    return running_loop() is not None


def no_loop_runs() -> bool:
    """Neither asyncio nor trio runs in this thread: a loop may be started."""
    if running_loop() is not None:
        return False
    # Only a program that uses trio has it loaded.
    trio = sys.modules.get("trio")
    return trio is None or not trio.lowlevel.in_trio_run()


def loop_here() -> object:
    """What tells the loop of this thread from any other: asyncio's loop or the token of trio's run; `None` without."""
    loop = running_loop()
    if loop is not None or no_loop_runs():
        return loop
    return sys.modules["trio"].lowlevel.current_trio_token()


def call_in(loop: object, call: Callable[[], object]) -> None:
    """Call in a loop, as `loop_here` names it: at once from inside it, soon from elsewhere, never once it has ended."""
    if loop_here() is loop:
        call()
        return
    soon_in(loop, call)


def soon_in(loop: object, call: Callable[[], object]) -> None:
    """Call in a loop soon: from any thread, and from a signal's handler."""
    native: Any = loop
    soon = native.call_soon_threadsafe if isinstance(loop, asyncio.AbstractEventLoop) else native.run_sync_soon
    with suppress(RuntimeError):
        soon(call)


def goes_on(error: BaseException) -> bool:
    """Whether what is no ordinary exception is for others to hear: the caller's own cancellation, a person's Ctrl-C."""
    cancelled = anyio.get_cancelled_exc_class()
    if isinstance(error, KeyboardInterrupt):
        return True
    if isinstance(error, GeneratorExit):
        # With the loop gone, whoever clears up closes the coroutine; while it runs, a handler has raised it.
        return no_loop_runs()
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup((KeyboardInterrupt, cancelled)) is not None
    if not isinstance(error, cancelled):
        return False
    # On asyncio a handler may raise this by itself, as by awaiting a task that somebody else cancelled.
    task = asyncio.current_task() if issubclass(cancelled, asyncio.CancelledError) else None
    return task is None or task.cancelling() > 0
