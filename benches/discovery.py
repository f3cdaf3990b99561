"""Discovery over the corpus's servers beside `tools()`, compiling all schemas, ten megabytes through the codec."""

import asyncio
import base64
import gc
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

from mcp.server.lowlevel import Server

import toolwire
from benches.listings import CORPUS, corpus
from benches.peer import echo
from benches.sides import ours
from benches.table import Row, figure, milliseconds
from toolwire import _core
from toolwire.bridge.discovered_output import DiscoveredOutput
from toolwire.bridge.result_encoding import encode_tool_result_json

BAR = 2.0
"""`discover` may cost so many times what `tools` costs."""
SIZES = (1_000_000, 10_000_000)
LINEAR = 15.0
"""Ten times the bytes may cost so many times the time."""


def _listings() -> list[bytes]:
    """The listing of each server of the corpus; where there is none, forty of its sizes."""
    files = sorted(CORPUS.glob("listings/*.json"))
    if not files:
        return [corpus(22)[0] for _ in range(40)]
    return [json.dumps(json.loads(file.read_bytes())["result"], ensure_ascii=False).encode() for file in files]


async def _discover(*, quick: bool) -> list[Row]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        connections = []
        for index, listing in enumerate(_listings()):
            file = folder / f"{index}.json"
            file.write_bytes(listing)
            connections.append(await stack.enter_async_context(ours([echo(), str(file)], "2025-11-25")))
        sources = [toolwire.Source(f"s{index}", each) for index, each in enumerate(connections)]

        async def imported() -> object:
            return [await toolwire.tools(each) for each in connections]

        async def lazily() -> object:
            return await toolwire.discover(sources, on_bad_tool="skip")

        async def eagerly() -> object:
            return await toolwire.discover(sources, on_bad_tool="skip", compile="eager")

        found = await toolwire.discover(sources, on_bad_tool="skip")
        listed = [await toolwire.tools(each) for each in connections]
        by_remote = {tool.mcp_identity: tool.input_schema.raw for tool in found}
        for index, toolset in enumerate(listed):
            for tool in toolset:
                assert by_remote.get((f"s{index}", tool.name), tool.input_schema.raw) == tool.input_schema.raw
        rounds = 2 if quick else 10
        plain, lazy, eager = [await _best(job, rounds) for job in (imported, lazily, eagerly)]
    count = len(found)
    return [
        Row(
            what=f"discover {len(sources)} servers, {count} tools; peer: tools()",
            toolwire=milliseconds(lazy),
            peer=milliseconds(plain),
            ratio=f"{lazy / plain:.2f} x",
            bar=f"under {BAR:g} x",
            met=lazy < BAR * plain,
        ),
        Row(what='compile="eager" adds, a tool', toolwire=f"{figure((eager - lazy) / count * 1e6)} µs"),
    ]


async def _best(job: Callable[[], Awaitable[object]], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        began = time.perf_counter()
        await job()
        best = min(best, time.perf_counter() - began)
    return best


def _codec(size: int, rounds: int) -> float:
    data = bytes(range(256)) * (size // 256)
    text = b'{"content":[{"type":"image","mimeType":"image/png","data":"%s"}]}' % base64.b64encode(data)
    best = float("inf")
    output, sent = DiscoveredOutput(_core.read_result(text), "default", None), b""
    for _ in range(rounds):
        gc.collect()
        began = time.perf_counter()
        output = DiscoveredOutput(_core.read_result(text), "default", None)
        sent = encode_tool_result_json(output)
        best = min(best, time.perf_counter() - began)
    (part,) = output.parts
    assert isinstance(part, toolwire.MediaPart)
    assert part.data == data
    assert _core.equal(_core.members(sent)["content"], _core.members(text)["content"])
    return best


async def _round_trip(size: int) -> float:
    """The same through a server in this process, both wires and the client."""
    part = toolwire.MediaPart(bytes(size), mime_type="image/png")

    async def picture(arguments: bytes) -> toolwire.ToolOutput:
        del arguments
        return toolwire.ToolOutput(parts=[part])

    server: Server[dict[str, object]] = Server("pictures")
    toolwire.register(server, toolwire.Tool.raw("picture", "", None, picture))
    async with toolwire.connect(server, mode="legacy") as connection:
        (tool,) = await toolwire.discover([toolwire.Source("", connection)])
        began = time.perf_counter()
        output = await tool.call(b"{}")
        (found,) = output.parts
        assert isinstance(found, toolwire.MediaPart)
        assert found.data == part.data
        return time.perf_counter() - began


def rows(*, quick: bool) -> Iterator[Row]:
    """Discover, compile, and send an image there and back."""
    yield from asyncio.run(_discover(quick=quick))
    small, large = (_codec(size, 2 if quick else 10) for size in SIZES)
    yield Row(
        what="codec in and out, a 10 MB image; peer: 1 MB",
        toolwire=milliseconds(large),
        peer=milliseconds(small),
        ratio=f"{large / small:.1f} x",
        bar=f"under {LINEAR:g} x",
        met=large < LINEAR * small,
    )
    small, large = (asyncio.run(_round_trip(size)) for size in SIZES)
    yield Row(
        what="registered, called, decoded: 10 MB; peer: 1 MB",
        toolwire=milliseconds(large),
        peer=milliseconds(small),
        ratio=f"{large / small:.1f} x",
    )
