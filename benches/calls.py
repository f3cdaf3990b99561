"""Calls of one tool of a raw echo server: toolwire's client beside the SDK's, in both eras, 32 in flight and alone."""

import asyncio
import gc
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack

import toolwire
from benches.peer import awake_echo
from benches.sides import ERAS, ours, sdk
from benches.table import Row, faster

Call = Callable[[], Awaitable[object]]

TEXT = "hello"
ARGUMENTS = b'{"text":"hello"}'
BARS = {32: 25.0, 1: 7.0}


async def seconds(call: Call, count: int, in_flight: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Time one call: `count` of them, `in_flight` at any time, one task each."""
    share = count // in_flight

    async def caller() -> None:
        for _ in range(share):
            await call()

    gc.collect()
    began = clock()
    async with asyncio.TaskGroup() as group:
        for _ in range(in_flight):
            group.create_task(caller())
    return (clock() - began) / (share * in_flight)


async def _compare(era: str, *, quick: bool) -> list[Row]:
    rows = []
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(sdk(awake_echo(), era))
        connection = await stack.enter_async_context(ours(awake_echo(), era))
        tool = (await toolwire.tools(connection))["echo"]

        async def by_sdk() -> object:
            return await session.call_tool("echo", {"text": TEXT})

        async def by_us() -> object:
            return await tool.call(ARGUMENTS)

        theirs = await session.call_tool("echo", {"text": TEXT})
        assert theirs.model_dump(mode="json", by_alias=True)["content"][0]["text"] == TEXT
        output = await tool.call(ARGUMENTS)
        content = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in theirs.content]
        assert json.loads(output.raw)["content"] == content
        assert output.text == TEXT

        for in_flight, bar in BARS.items():
            best = {by_sdk: float("inf"), by_us: float("inf")}
            counts = {by_sdk: 640, by_us: 12_800 if in_flight > 1 else 3_200}
            for _ in range(2 if quick else 9):
                for call, count in counts.items():
                    best[call] = min(best[call], await seconds(call, count // (5 if quick else 1), in_flight))
            how = f"{in_flight} in flight" if in_flight > 1 else "one at a time"
            rows.append(faster(f"calls, client only, {era}, {how}", 1 / best[by_us], 1 / best[by_sdk], "/s", bar))
    return rows


def rows(*, quick: bool) -> Iterator[Row]:
    """Compare both eras."""
    for era in ERAS:
        yield from asyncio.run(_compare(era, quick=quick))
