"""One long line: an answer of 16 and of 64 MiB through toolwire's client, of 1 and 4 MiB through the SDK's."""

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack

import toolwire
from benches.peer import echo
from benches.sides import ours, sdk
from benches.table import Row, milliseconds

MIB = 1 << 20
ERA = "2025-11-25"
GROWTH = 5.0
LONGEST = 1.0


async def _best(call: Callable[[int], Awaitable[int]], sizes: tuple[int, int], rounds: int) -> tuple[float, float]:
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for index, size in enumerate(sizes):
            gc.collect()
            began = time.perf_counter()
            characters = await call(size * MIB)
            best[index] = min(best[index], time.perf_counter() - began)
            assert size * MIB - 200 < characters < size * MIB
    return best[0], best[1]


async def _measure(*, quick: bool) -> list[Row]:
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(sdk([echo()], ERA))
        connection = await stack.enter_async_context(ours([echo()], ERA))
        tool = (await toolwire.tools(connection))["big"]

        async def by_us(size: int) -> int:
            output = await tool.call(b'{"size":%d}' % size)
            return len(output.text)

        async def by_sdk(size: int) -> int:
            block = (await session.call_tool("big", {"size": size})).content[0]
            assert block.type == "text"
            return len(block.text)

        # Both lines are of one size; the texts differ by the digits of their ids.
        assert await by_us(1000) - await by_sdk(1000) == len("1") - len("1000000000")
        short, long = await _best(by_us, (16, 64), 1 if quick else 5)
        small, large = await _best(by_sdk, (1, 4), 1 if quick else 2)
    growth = long / short
    return [
        Row(
            what="one line, 64 MiB against 16 MiB",
            toolwire=f"{milliseconds(long)}, {milliseconds(short)}",
            ratio=f"{growth:.1f} x",
            bar=f"at most {GROWTH:g} x",
            met=growth <= GROWTH,
        ),
        Row(what="one line of 64 MiB", toolwire=milliseconds(long), bar="under 1,000 ms", met=long < LONGEST),
        Row(
            what="the SDK's line, 4 MiB against 1 MiB",
            toolwire="",
            peer=f"{milliseconds(large)}, {milliseconds(small)}",
            ratio=f"{large / small:.1f} x",
        ),
    ]


def rows(*, quick: bool) -> Iterator[Row]:
    """Measure the growth of both."""
    yield from asyncio.run(_measure(quick=quick))
