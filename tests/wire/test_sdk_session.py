"""The client wire as the SDK's transport: everything that the SDK's client can do, on it, beside express calls.

The other side is an ordinary server of the SDK's own, in its own process.
"""

import json
import sys
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp
import mcp_types as types
import pytest
from mcp.client.subscriptions import ToolsListChanged

import toolwire
from tests.wire.lanes import OK, nothing_left, until
from toolwire.testing import RawServer
from toolwire.wire.client import ClientWire

pytestmark = pytest.mark.anyio
SERVER = [sys.executable, str(Path(__file__).with_name("sdk_server.py"))]


async def sampled(_: object, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    content = params.messages[0].content
    assert isinstance(content, types.TextContent)
    return types.CreateMessageResult(
        role="assistant", model="m", content=types.TextContent(type="text", text=content.text.upper())
    )


async def elicited(_: object, params: types.ElicitRequestParams) -> types.ElicitResult:
    assert params.message in ("Which colour?", "Which?")
    return types.ElicitResult(action="accept", content={"name": "grün"})


async def rooted(_: object) -> types.ListRootsResult:
    return types.ListRootsResult.model_validate({"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]})


class Ears:
    """What the callbacks of a client heard."""

    def __init__(self) -> None:
        self.logged: list[object] = []
        self.messages: list[object] = []
        self.progress: list[tuple[float, float | None, str | None]] = []

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.logged.append(params.data)

    async def hear(self, message: object) -> None:
        self.messages.append(message)

    async def progressed(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append((progress, total, message))

    @property
    def callbacks(self) -> dict[str, Any]:
        return {
            "sampling_callback": sampled,
            "elicitation_callback": elicited,
            "list_roots_callback": rooted,
            "logging_callback": self.log,
            "message_handler": self.hear,
        }


@asynccontextmanager
async def client_on_a_wire(ears: Ears, mode: str) -> AsyncIterator[tuple[mcp.Client, ClientWire]]:
    wire = ClientWire(SERVER)
    with anyio.fail_after(60):
        async with mcp.Client(wire, mode=mode, log_level="info", **ears.callbacks) as client:
            yield client, wire
    assert wire.exit_code == 0


def text_of(result: types.CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, types.TextContent)
    return content.text


async def everything_but_callbacks(client: mcp.Client, ears: Ears) -> None:
    assert client.server_info is not None
    assert (client.server_info.name, client.instructions) == ("ordinary", "Ask away.")
    assert text_of(await client.call_tool("add", {"a": 1.5, "b": 2})) == "3.5"
    assert len((await client.list_tools()).tools) == 7
    assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["greet"]
    [message] = (await client.get_prompt("greet", {"name": "Zoë"})).messages
    assert isinstance(message.content, types.TextContent)
    assert message.content.text == "Greet Zoë."
    assert [str(resource.uri) for resource in (await client.list_resources()).resources] == ["file://fixed"]
    assert len((await client.list_resource_templates()).resource_templates) == 1
    [contents] = (await client.read_resource("note://one")).contents
    assert isinstance(contents, types.TextResourceContents)
    assert contents.text == "note one"
    with pytest.raises(mcp.MCPError):
        await client.get_prompt("absent")
    assert text_of(await client.call_tool("work", progress_callback=ears.progressed)) == "done"
    await until(lambda: len(ears.progress) == 3 and ears.logged)
    assert sorted(ears.progress) == [(step, 3, f"step {step}") for step in (1, 2, 3)]
    assert ears.logged == ["worked"]


async def test_a_client_in_legacy_mode_is_in_full_working_order_and_so_are_express_calls_that_ask_back() -> None:
    ears = Ears()
    async with client_on_a_wire(ears, "legacy") as (client, wire):
        assert client.protocol_version == "2025-11-25"
        await everything_but_callbacks(client, ears)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            await client.send_ping()
            await client.session.send_roots_list_changed()
        asking = {"sample": "m: CAPITAL?", "ask": "grün", "roots": "file:///a file:///b"}
        for name, answer in asking.items():
            assert text_of(await client.call_tool(name)) == answer
        # The same in the middle of express calls: the server's requests go to the SDK, its answers to their askers.
        tools = await toolwire.tools(client)
        assert wire.open
        answers: dict[str, str] = {}

        async def call(name: str) -> None:
            answers[name] = await tools[name].invoke(b"{}")

        async with anyio.create_task_group() as group:
            for name in asking:
                group.start_soon(call, name)
        assert answers == asking
        assert wire.counters["refused_messages"] == 0


@pytest.mark.parametrize("mode", ["auto", "2026-07-28"])
async def test_a_client_of_the_2026_era_is_in_full_working_order_on_a_wire(mode: str) -> None:
    ears = Ears()
    async with client_on_a_wire(ears, mode) as (client, wire):
        assert client.protocol_version == "2026-07-28"
        tools = await toolwire.tools(client)
        assert wire.open
        assert await tools["add"].invoke(b'{"a":0.5,"b":1e0}') == "1.5"
        # An express call opts in to no log: the level belongs to the SDK's own requests.
        assert await tools["work"].invoke(b"{}") == "done"
        assert ears.logged == []
        if mode == "auto":
            await everything_but_callbacks(client, ears)
        result = await client.call_tool("question")
        assert text_of(result) == "{'name': 'grün'} s1"
        with pytest.raises(toolwire.RemoteCallError, match="requires further input"):
            await tools["question"].invoke(b"{}")
        async with client.listen(tools_list_changed=True) as events:
            assert await tools["change"].invoke(b"{}") == "changed"
            async for event in events:
                assert isinstance(event, ToolsListChanged)
                break
            # A subscription waits for no answer: an error without an id is not meant for it.
            assert wire.sdk.waiting == []


async def test_a_plain_session_on_the_streams_of_a_wire_works_and_its_tools_go_express() -> None:
    with RawServer(OK) as server, anyio.fail_after(20):
        wire = ClientWire(server.argv)
        async with nothing_left(server), wire as streams, mcp.ClientSession(*streams) as session:
            with pytest.raises(toolwire.RemoteCallError, match="initialize a ClientSession on it first"):
                await toolwire.tools(wire)
            opened = [wire.open]
            await session.initialize()
            assert [*opened, wire.open] == [False, True]
            by_wire, by_session = await toolwire.tools(wire), await toolwire.tools(session)
            assert await by_wire["t"].invoke(b"{}") == await by_session["t"].invoke(b"{}") == "ok"
            assert text_of(await session.call_tool("t")) == "ok"
        for tool in (*by_wire, *by_session):
            with pytest.raises(toolwire.RemoteCallError, match="the connection was closed"):
                await tool.invoke(b"{}")
        sent = [json.loads(line)["id"] for line in server.requests("tools/call")]
        assert sent == [1_000_000_002, 1_000_000_003, 2]
