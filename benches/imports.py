"""Importing 1,000 tools: `toolwire.tools`, every entry judged, beside the SDK's `list_tools` alone."""

import asyncio
import gc
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import toolwire
from benches.listings import corpus, minimal
from benches.peer import echo
from benches.sides import ours, sdk
from benches.table import Row, shorter

COUNT = 1_000


async def _compare(what: str, listing: bytes, bar: float, *, quick: bool) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "listing.json"
        file.write_bytes(listing)
        argv = [echo(), str(file)]
        async with AsyncExitStack() as stack:
            session = await stack.enter_async_context(sdk(argv, "2025-11-25"))
            connection = await stack.enter_async_context(ours(argv, "2025-11-25"))
            theirs = (await session.list_tools()).tools
            tools = await toolwire.tools(connection)
            assert not tools.skipped
            assert [tool.name for tool in theirs] == list(tools.names)
            assert len(tools) == COUNT
            sent = json.loads(listing)["tools"]
            assert [json.loads(tool.input_schema.raw) for tool in tools] == [entry["inputSchema"] for entry in sent]
            best_ours = best_theirs = float("inf")
            for _ in range(2 if quick else 15):
                # What the last round gave is freed before the clock starts, on both sides.
                gc.collect()
                began = time.perf_counter()
                theirs = (await session.list_tools()).tools
                best_theirs = min(best_theirs, time.perf_counter() - began)
                theirs = []
                gc.collect()
                began = time.perf_counter()
                tools = await toolwire.tools(connection)
                best_ours = min(best_ours, time.perf_counter() - began)
                del tools
    return shorter(f"import, 1,000 {what} ({len(listing) / 1e6:.2g} MB)", best_ours, best_theirs, bar)


def rows(*, quick: bool) -> Iterator[Row]:
    """Import large tools and small ones."""
    listing, kind = corpus(COUNT)
    yield asyncio.run(_compare(kind, listing, 20.0, quick=quick))
    yield asyncio.run(_compare("minimal tools", minimal(COUNT), 4.0, quick=quick))
