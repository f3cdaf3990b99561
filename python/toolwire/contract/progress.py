"""Progress of a call, for whoever made it: `tool.call(args, on_progress=…)`, whatever carries the call."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeVar

import anyio

__all__ = ["Heard", "OnProgress", "heard_by", "listener", "listener_of"]

logger = logging.getLogger("toolwire.contract")

Heard = Callable[[float, float | None, str | None], None]
OnProgress = Callable[[float, float | None, str | None], Any]
"""`(progress, total, message)`, as a function or a coroutine function. What it raises is logged and harms no call."""

Result = TypeVar("Result")

_BACKLOG = 1024
"""Reports that wait for a coroutine function: a peer that reports faster than anybody hears loses the rest."""

listener: ContextVar[tuple[Any, Heard] | None] = ContextVar("toolwire.progress", default=None)
"""The tool whose call somebody listens to, and who does."""


def listener_of(tool: Any) -> Heard | None:
    """Who listens to the call of this very tool."""
    found = listener.get()
    return None if found is None or found[0] is not tool else found[1]


async def heard_by(tool: Any, on_progress: OnProgress, job: Callable[[], Awaitable[Result]]) -> Result:
    """Runs `job`, a call of `tool`, with a listener. A coroutine function has heard everything when this returns."""
    if not inspect.iscoroutinefunction(on_progress):
        return await _run(tool, _harmless(on_progress), job)
    send, receive = anyio.create_memory_object_stream[tuple[float, float | None, str | None]](_BACKLOG)

    def heard(progress: float, total: float | None, message: str | None) -> None:
        try:
            send.send_nowait((progress, total, message))
        except (anyio.WouldBlock, anyio.ClosedResourceError):
            logger.debug("a report of progress was dropped")

    async def pass_on() -> None:
        async with receive:
            async for report in receive:
                try:
                    await on_progress(*report)
                except Exception:
                    logger.exception("a progress callback raised")

    outcome: list[Result] = []
    failed: list[Exception] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pass_on)
        try:
            outcome.append(await _run(tool, heard, job))
        except Exception as error:  # noqa: BLE001 - raised below, out of the group
            failed.append(error)
        finally:
            send.close()
    if failed:
        raise failed[0]
    return outcome[0]


async def _run(tool: Any, heard: Heard, job: Callable[[], Awaitable[Result]]) -> Result:
    token = listener.set((tool, heard))
    try:
        return await job()
    finally:
        listener.reset(token)


def _harmless(on_progress: OnProgress) -> Heard:
    def heard(progress: float, total: float | None, message: str | None) -> None:
        try:
            on_progress(progress, total, message)
        except Exception:
            logger.exception("a progress callback raised")

    return heard
