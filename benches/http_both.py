"""Both ends over HTTP, 32 in flight: toolwire's client at toolwire's app, beside the SDK's client at the SDK's app."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager

import mcp

import toolwire
from benches.calls import Call, seconds
from benches.http_site import Site
from benches.sides import ERAS
from benches.table import Row, faster

BAR = 6.0
IN_FLIGHT = 32
ARGUMENTS = b'{"text":"hello"}'


@asynccontextmanager
async def _ours(url: str, era: str) -> AsyncIterator[Call]:
    async with toolwire.connect(url, mode=ERAS[era]) as connection:
        tool = (await toolwire.tools(connection))["echo"]

        async def call() -> object:
            return (await tool.call(ARGUMENTS)).text

        yield call


@asynccontextmanager
async def _theirs(url: str, era: str) -> AsyncIterator[Call]:
    async with mcp.Client(url, mode=ERAS[era]) as client:

        async def call() -> object:
            result = await client.session.call_tool("echo", {"text": "hello"})
            return getattr(result.content[0], "text", None)

        yield call


async def _compare(ours: str, theirs: str, era: str, *, quick: bool) -> Row:
    async with _ours(ours, era) as by_us, _theirs(theirs, era) as by_sdk:
        assert await by_us() == await by_sdk()
        best: dict[Call, float] = dict.fromkeys((by_sdk, by_us), float("inf"))
        for _ in range(2 if quick else 7):
            for call, count in ((by_sdk, 160), (by_us, 960)):
                best[call] = min(best[call], await seconds(call, count // (4 if quick else 1), IN_FLIGHT))
    what = f"HTTP calls, both ends, {era}, {IN_FLIGHT} in flight"
    return faster(what, 1 / best[by_us], 1 / best[by_sdk], "/s", BAR)


def rows(*, quick: bool) -> Iterator[Row]:
    """Compare both eras, each with stateless apps that answer in JSON."""
    for era in ERAS:
        with ExitStack() as stack:
            ours, theirs = (
                stack.enter_context(Site(name, era, stateless=True, as_json=True, engine="uvicorn"))
                for name in ("ours", "sdk")
            )
            yield asyncio.run(_compare(ours.url, theirs.url, era, quick=quick))
