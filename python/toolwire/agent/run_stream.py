"""A run as a stream of its events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

import anyio

from toolwire.agent.detached import Detached
from toolwire.agent.events import Event, OnEvent
from toolwire.agent.result import RunResult

__all__ = ["RunStream"]


class RunStream:
    """`async for event in agent.stream("prompt")`: the events of one run, the last one `run_finish` with the result.

    The run starts with the first event that is asked for; `aclose` (or leaving `async with`) cancels it. A run that fails
    raises its RunError from the iteration.
    """

    def __init__(self, start: Callable[[OnEvent], Awaitable[RunResult]]) -> None:
        self._start = start
        self._work: Detached[RunResult] | None = None
        self._send, self._receive = anyio.create_memory_object_stream[Event](float("inf"))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._work is None:
            self._work = Detached(self._go)
        try:
            return await self._receive.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            await self._work.done.wait()
            self._receive.close()
            self._work.result()
            raise StopAsyncIteration from None

    async def _go(self) -> RunResult:
        with self._send:
            return await self._start(self._send.send_nowait)

    async def aclose(self) -> None:
        """Cancels the run and waits for its end."""
        if self._work is not None and not self._work.done.is_set():
            self._work.cancel()
            await self._work.done.wait()
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
        work: Any = getattr(self, "_work", None)
        if work is not None and not work.done.is_set():
            work.cancel()
        self._send.close()
        self._receive.close()
