"""What serving costs beside the pipe: arguments to a function's, the acceptance of a call, 1,000 tools kept and listed.

`python -m benches.served KIND` serves 1,000 tools and says first, on stderr, what they cost in memory.
"""

import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.utilities.func_metadata import func_metadata
from mcp.server.stdio import stdio_server
from pydantic import Field

import toolwire
from benches.listings import of_size
from benches.memory import resident
from benches.table import Row, figure, milliseconds
from toolwire import _core
from toolwire.bridge.exporting import exported_on
from toolwire.contract.local_calls import FunctionCaller

COUNT = 1_000
IN_CHUNK = 32
INITIALIZE = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"bench","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)
ENVELOPE = (
    b'"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":'
    b'{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},'
)
ARGUMENTS = b'{"query":"flat white","limit":10,"tags":["hot","milk"],"exact":true,"max_price":4.5}'


async def search(
    query: Annotated[str, Field(description="What to look for", max_length=100)],
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
    tags: list[str] | None = None,
    exact: bool = False,
    max_price: float | None = None,
) -> str:
    """Search the shelf."""
    return f"{query} {limit} {tags} {exact} {max_price}"


def _loop(call: Callable[[], object], *, quick: bool) -> float:
    """Time one call of a function in processor time: the best of several loops, the loop itself taken off."""
    turns = range(2_000)
    best = empty = float("inf")
    for _ in range(3 if quick else 20):
        began = time.process_time()
        for _ in turns:
            call()
        middle = time.process_time()
        for _ in turns:
            pass
        ended = time.process_time()
        best, empty = min(best, middle - began), min(empty, ended - middle)
    return (best - empty) / len(turns)


def _decode_row(*, quick: bool) -> Row:
    """Both from the bytes of a call's arguments to checked keyword arguments, as each server does it."""
    tool = toolwire.tool(search)
    caller = tool.caller
    assert isinstance(caller, FunctionCaller)
    metadata = func_metadata(search)

    def by_us() -> dict[str, Any]:
        return caller.named(tool, ARGUMENTS)

    def by_sdk() -> dict[str, Any]:
        # The message's JSON is parsed before; then MCPServer looks for JSON in texts, validates, and dumps a level.
        checked = metadata.arg_model.model_validate(metadata.pre_parse_json(json.loads(ARGUMENTS)))
        return checked.model_dump_one_level()

    assert by_us() == by_sdk()
    us, theirs = _loop(by_us, quick=quick), _loop(by_sdk, quick=quick)
    return Row(
        what="arguments decoded and validated: MCPServer",
        toolwire=f"{us * 1e6:.2f} us",
        peer=f"{theirs * 1e6:.2f} us",
        ratio=f"{theirs / us:.1f} x",
    )


def _acceptance_rows(*, quick: bool) -> Iterator[Row]:
    """Time what the express lane adds to the framing of a call: whether it is certain, and which tool's it is."""
    server: Server[Any] = Server("bench")
    toolwire.add_tools(server, search)
    exported = exported_on(server)
    for era, meta in (("2025-11-25", b""), ("2026-07-28", ENVELOPE)):
        line = b'{"jsonrpc":"2.0","id":1000000000,"method":"tools/call","params":{%b"name":"search","arguments":%b}}\n'
        chunk = line % (meta, ARGUMENTS) * IN_CHUNK
        inbound = _core.Inbound()
        first = inbound.feed_calls(chunk)[0]
        assert isinstance(first, _core.ServedCall)
        known = {first.envelope}

        def accept(inbound: _core.Inbound = inbound, chunk: bytes = chunk, known: set[bytes] = known) -> None:
            assert exported.certain()
            for call in inbound.feed_calls(chunk):
                assert isinstance(call, _core.ServedCall)
                assert call.envelope in known
                assert exported.find(call.name) is not None

        framed = _loop(lambda inbound=inbound, chunk=chunk: inbound.feed(chunk), quick=quick)  # type: ignore[misc]  # bound now
        took = (_loop(accept, quick=quick) - framed) / IN_CHUNK
        yield Row(what=f"acceptance of a call, {era}", toolwire=f"{took * 1e6:.2f} us")


# 1,000 tools


def _entries() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(of_size(COUNT, 600))["tools"]
    return entries


def _functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for index in range(COUNT):
        yield f"search_{index}", search


async def _handled(_: bytes) -> str:
    return ""


def _make(kind: str) -> Server[Any] | MCPServer:
    match kind:
        case "ours":
            server: Server[Any] = Server("bench")
            schemas = [(entry["name"], entry["description"], json.dumps(entry["inputSchema"])) for entry in _entries()]
            made = [toolwire.Tool.raw(name, description, schema, _handled) for name, description, schema in schemas]
            toolwire.add_tools(server, *made)
            return server
        case "ours-functions":
            server = Server("bench")
            toolwire.add_tools(server, *(toolwire.tool(function, name=name) for name, function in _functions()))
            return server
        case "sdk":
            listed = [types.Tool.model_validate(entry) for entry in _entries()]

            async def listing(context: Any, params: Any) -> types.ListToolsResult:
                del context, params
                return types.ListToolsResult(tools=listed)

            async def call(context: Any, params: Any) -> types.CallToolResult:
                del context, params
                return types.CallToolResult(content=[])

            return Server("bench", on_list_tools=listing, on_call_tool=call)
        case _:
            facade = MCPServer("bench", log_level="ERROR")
            for name, function in _functions():
                facade.add_tool(function, name=name, structured_output=False)
            return facade


async def _serve(kind: str) -> None:
    gc.collect()
    before = resident()
    server = _make(kind)
    gc.collect()
    sys.stderr.write(f"{resident() - before}\n")
    sys.stderr.flush()
    if kind.startswith("ours"):
        await toolwire.run_stdio(server)
    elif isinstance(server, MCPServer):
        await server.run_stdio_async()
    else:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


class _Listing:
    """A server of 1,000 tools, asked for its listing by raw bytes."""

    def __init__(self, kind: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benches.served", kind],
            cwd=Path(__file__).resolve().parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self._process.stderr is not None
        self.memory = int(self._process.stderr.readline())
        self.answer = self._ask(INITIALIZE)

    def _ask(self, line: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def seconds(self) -> float:
        """Time one listing."""
        began = time.perf_counter()
        self.answer = self._ask(b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}\n')
        return time.perf_counter() - began

    def close(self) -> None:
        self._process.__exit__(None, None, None)


def _tools_rows(*, quick: bool) -> Iterator[Row]:
    for what, us, them in (("tools with schemas", "ours", "sdk"), ("functions", "ours-functions", "sdk-functions")):
        ours, theirs = _Listing(us), _Listing(them)
        best = [float("inf"), float("inf")]
        for _ in range(2 if quick else 9):
            best = [min(best[0], ours.seconds()), min(best[1], theirs.seconds())]
        names = [[tool["name"] for tool in json.loads(side.answer)["result"]["tools"]] for side in (ours, theirs)]
        assert names[0] == names[1]
        assert len(names[0]) == COUNT
        yield Row(
            what=f"1,000 served {what}: memory",
            toolwire=f"{figure(ours.memory / COUNT)} bytes each",
            peer=f"{figure(theirs.memory / COUNT)} bytes each",
            ratio=f"{theirs.memory / ours.memory:.1f} x",
        )
        yield Row(
            what=f"1,000 served {what}: time to list",
            toolwire=milliseconds(best[0]),
            peer=milliseconds(best[1]),
            ratio=f"{best[1] / best[0]:.1f} x",
        )
        ours.close()
        theirs.close()


def rows(*, quick: bool) -> Iterator[Row]:
    """Tell each; nothing here has a bar."""
    yield _decode_row(quick=quick)
    yield from _acceptance_rows(quick=quick)
    yield from _tools_rows(quick=quick)


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1]))
