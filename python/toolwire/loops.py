"""Which event loop runs here. Asked where a task has to outlive its starter, which asyncio and trio do differently."""

from __future__ import annotations

import asyncio
import sys

__all__ = ["no_loop_runs", "on_asyncio", "running_asyncio_loop"]


def running_asyncio_loop() -> asyncio.AbstractEventLoop | None:
    """The asyncio loop that runs in this thread; `None` under trio, and where no loop runs."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def on_asyncio() -> bool:
    """The caller runs on asyncio. From a coroutine, anything else is trio."""
    return running_asyncio_loop() is not None


def no_loop_runs() -> bool:
    """Neither asyncio nor trio runs in this thread: a loop may be started."""
    if running_asyncio_loop() is not None:
        return False
    # Only a program that uses trio has it loaded.
    trio = sys.modules.get("trio")
    return trio is None or not trio.lowlevel.in_trio_run()
