"""A channel to `cat`, and a listener that keeps what it hears."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

from toolwire.loops import on_asyncio
from toolwire.wire.process import Command
from toolwire.wire.runtime import AnyioRuntime, AsyncioRuntime
from toolwire.wire.stdio import PipeChannel

LOOK = 10.0
"""Seconds for another process to answer: far more than it needs."""


class Heard:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.text = bytearray()
        self.idle = True
        self.drained: list[bytes] = []
        self.more = anyio.Event()

    def received(self, chunk: bytes, /) -> None:
        """Keeps a chunk."""
        self.text += chunk
        self.more.set()

    def ended(self, reason: str, /) -> None:
        """Nothing ends here before the test does."""

    def writable(self) -> None:
        """Keeps what had come until then."""
        self.drained.append(bytes(self.text))

    async def lines(self, count: int) -> list[bytes]:
        """Give the first `count` lines, once they are there."""
        with anyio.fail_after(LOOK):
            while self.text.count(b"\n") < count:
                self.more = anyio.Event()
                await self.more.wait()
        return bytes(self.text).split(b"\n")[:-1]


@asynccontextmanager
async def echoing(waiting: Callable[[], int] = lambda: 0) -> AsyncIterator[tuple[PipeChannel, Heard]]:
    """Open a channel to a program that gives back what it reads, as it reads it."""
    async with anyio.create_task_group() as tasks:
        runtime = AsyncioRuntime() if on_asyncio() else AnyioRuntime(tasks)
        channel, heard = PipeChannel(Command(["cat"]), runtime, waiting), Heard()
        await channel.open(heard)
        try:
            yield channel, heard
        finally:
            await channel.aclose()
            runtime.stop()
