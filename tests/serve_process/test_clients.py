"""The clients that people have, against a real process: the SDK's own and toolwire's, both eras, both loops."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import mcp
import pytest
from mcp import StdioServerParameters
from mcp_types import TextContent

import toolwire
from tests.serve_process.peer import PROGRAM, argv

PATIENCE = 60.0
SERVERS = [("lowlevel", "asyncio"), ("mcpserver", "trio")]
MODES = {"2025-11-25": "legacy", "2026-07-28": "auto"}


@asynccontextmanager
async def sdk_client(command: list[str], mode: str) -> AsyncIterator[mcp.Client]:
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with mcp.Client(parameters, mode=mode) as client:
        yield client


def texts(result: Any) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


@pytest.mark.parametrize(("kind", "served_on"), SERVERS)
@pytest.mark.parametrize("era", MODES)
async def test_the_sdks_own_client_lists_and_calls(kind: str, served_on: str, era: str) -> None:
    with anyio.fail_after(PATIENCE):
        async with sdk_client(argv(kind, served_on, "plain"), MODES[era]) as client:
            assert client.session.protocol_version == era
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert {"echo", "noisy", "facts"} <= listed.keys()
            assert listed["echo"].input_schema["properties"] == {"text": {"type": "string"}}
            assert texts(await client.call_tool("echo", {"text": "é 😀"})) == ["é 😀"]
            assert texts(await client.call_tool("noisy", {"way": "write"})) == ["quiet"]
            wrong = await client.call_tool("echo", {"text": 1})
            assert wrong.is_error
            assert texts(wrong) == ['INVALID_INPUT: tool "echo": field "text": expected string, got number']
            if kind == "lowlevel":
                with pytest.raises(mcp.MCPError, match="nothing"):
                    await client.call_tool("nothing", {})
            else:
                assert (await client.call_tool("nothing", {})).is_error, "MCPServer's own answer to such a name"


@pytest.mark.parametrize(("kind", "served_on"), SERVERS)
@pytest.mark.parametrize("era", MODES)
async def test_toolwires_client_lists_and_calls(kind: str, served_on: str, era: str) -> None:
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(argv(kind, served_on, "plain"), mode=MODES[era]) as connection:
            tools = await toolwire.tools(connection)
            assert not tools.skipped
            assert await tools["echo"].invoke(b'{"text":"\\u00e9"}') == "é"
            assert (await tools["size"].call({"text": "four"})).structured == b"4" or era == "2025-11-25"
            results: list[str] = []

            async def call(number: int) -> None:
                results.append(await tools["echo"].invoke({"text": str(number)}))

            async with anyio.create_task_group() as group:
                for number in range(200):
                    group.start_soon(call, number)
            assert sorted(results, key=int) == [str(number) for number in range(200)]


@pytest.mark.parametrize("era", MODES)
async def test_a_call_that_its_caller_gives_up_ends_in_the_server(era: str) -> None:
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(argv(way="plain"), mode=MODES[era]) as connection:
            tools, wire = await toolwire.tools(connection), connection.wire
            assert wire is not None

            async def said(text: bytes) -> None:
                while text not in wire.stderr_tail:
                    await anyio.lowlevel.checkpoint()

            async with anyio.create_task_group() as group:
                group.start_soon(tools["wait"].call, {"gate": "never"})
                await said(b">> start never")
                group.cancel_scope.cancel()
            await said(b">> finally never")


@pytest.mark.parametrize("era", MODES)
def test_a_server_of_streams_serves_as_run_stdio_does(era: str) -> None:
    """`async with toolwire.stdio(server) as (read, write): await server.run(read, write, options)`."""

    async def main() -> list[str]:
        with anyio.fail_after(PATIENCE):
            async with sdk_client([sys.executable, PROGRAM, "lowlevel", "asyncio", "streams"], MODES[era]) as client:
                return texts(await client.call_tool("echo", {"text": "streams"}))

    assert anyio.run(main) == ["streams"]
