"""A run as a stream of its events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Self

import anyio
from anyio.streams.memory import MemoryObjectSendStream

from toolwire.agent.detached import Detached
from toolwire.agent.events import Event, OnEvent
from toolwire.agent.result import RunResult

__all__ = ["RunStream"]


class RunStream:
    """`async for event in agent.stream("prompt")`: the events of one run, the last one `run_finish` with the result.

    The run starts with the first event that is asked for; `aclose` (or leaving `async with`) cancels it, and so does
    dropping the stream. A run that fails raises its RunError from the iteration.
    """

    def __init__(self, start: Callable[[OnEvent], Awaitable[RunResult]]) -> None:
        self._start = start
        self._work: Detached[RunResult] | None = None
        self._closed = False
        self._send, self._receive = anyio.create_memory_object_stream[Event](float("inf"))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._closed:
            raise StopAsyncIteration
        if self._work is None:
            # Not a method of ours: a run that held its own stream would never be left for nobody.
            self._work = Detached(partial(_told, self._start, self._send))
        try:
            return await self._receive.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            await self._work.done.wait()
            self._close()
            self._work.result()
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Cancels the run and waits for its end."""
        if self._work is not None and not self._work.done.is_set():
            self._work.cancel()
            await self._work.done.wait()
        self._close()

    def _close(self) -> None:
        self._closed = True
        self._send.close()
        self._receive.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        # Nobody asks any more: the run is not left running for nobody.
        if self._work is not None and not self._work.done.is_set():
            with suppress(RuntimeError):
                # Raised where the loop of the run is gone, and the run with it.
                self._work.cancel()
        self._close()


async def _told(start: Callable[[OnEvent], Awaitable[RunResult]], events: MemoryObjectSendStream[Event]) -> RunResult:
    def tell(event: Event) -> None:
        # A run that is being cancelled has nobody left to tell.
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            events.send_nowait(event)

    with events:
        return await start(tell)
