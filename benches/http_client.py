"""Calls over HTTP to a raw server: toolwire's client beside the SDK's, and bare loops on both engines, the limit."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import aiohttp
import httpx2
import mcp
from mcp import ClientSession

import toolwire
from benches.calls import ARGUMENTS, TEXT, Call, seconds
from benches.sides import ERAS
from benches.table import Row, faster, figure

BARS = {32: 5.0, 1: 3.0}
BODY = b'{"jsonrpc":"2.0","id":1000000000,"method":"tools/call","params":{"name":"echo","arguments":%b}}\n' % ARGUMENTS
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-11-25",
}


@contextmanager
def raw_server() -> Iterator[str]:
    """The address of the raw server, in a process of its own."""
    program = Path(__file__).parent / "servers" / "http_raw.py"
    with subprocess.Popen([sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/mcp"
        server.terminate()


@asynccontextmanager
async def _sdk(url: str, era: str) -> AsyncIterator[ClientSession]:
    async with mcp.Client(url, mode=ERAS[era]) as client:
        assert client.session.protocol_version == era
        yield client.session


async def _compare(url: str, era: str, *, quick: bool) -> list[Row]:
    rows = []
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(_sdk(url, era))
        connection = await stack.enter_async_context(toolwire.connect(url, mode=ERAS[era]))
        tool = (await toolwire.tools(connection))["echo"]
        bare = await stack.enter_async_context(
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), auto_decompress=False)
        )
        other = await stack.enter_async_context(httpx2.AsyncClient())

        async def by_sdk() -> object:
            return await session.call_tool("echo", {"text": TEXT})

        async def by_us() -> object:
            return await tool.call(ARGUMENTS)

        async def by_aiohttp() -> object:
            async with bare.post(url, data=BODY, headers=HEADERS, allow_redirects=False) as response:
                return await response.read()

        async def by_httpx() -> object:
            return (await other.post(url, content=BODY, headers=HEADERS)).content

        theirs = await session.call_tool("echo", {"text": TEXT})
        output = await tool.call(ARGUMENTS)
        assert [getattr(block, "text", None) for block in theirs.content] == [TEXT]
        assert output.text == TEXT
        assert output.raw in await by_aiohttp() == await by_httpx()  # type: ignore[operator]  # bytes, all of them

        for in_flight, bar in BARS.items():
            counts = {by_sdk: 320, by_us: 1_600, by_aiohttp: 1_600, by_httpx: 640}
            best: dict[Call, float] = dict.fromkeys(counts, float("inf"))
            for _ in range(2 if quick else 9):
                for call, count in counts.items():
                    best[call] = min(best[call], await seconds(call, count // (5 if quick else 1), in_flight))
            how = f"{in_flight} in flight" if in_flight > 1 else "one at a time"
            us = 1 / best[by_us]
            rows.append(faster(f"HTTP calls, client only, {era}, {how}", us, 1 / best[by_sdk], "/s", bar))
            for what, call in (("a bare loop on aiohttp", by_aiohttp), ("a bare loop on httpx2", by_httpx)):
                limit = 1 / best[call]
                rows.append(
                    Row(
                        what=f"the same: {what}",
                        toolwire=f"{figure(us)} /s",
                        peer=f"{figure(limit)} /s",
                        ratio=f"{us / limit:.2f} x",
                    )
                )
    return rows


def rows(*, quick: bool) -> Iterator[Row]:
    """Compare both eras."""
    with raw_server() as url:
        for era in ERAS:
            yield from asyncio.run(_compare(url, era, quick=quick))
