"""Spec one-session, rows E1 to E23: `add_tools`, on both of the SDK's servers, in both eras, on both lanes.

Design 4.4 settles E22: a name that is there already is refused, and the whole batch is checked before one is added.
"""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
import mcp
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

import toolwire
from tests.serving.parity import AnyServer
from tests.serving.raw_client import ERAS, HANDSHAKE, MODERN, RawClient, request_line, served, text_of
from toolwire import RegistrationError, Tool, ToolError


class Order(BaseModel):
    id: str
    status: str


@toolwire.tool
async def lookup_order(order_id: Annotated[str, Field(description="the order's number")]) -> Order:
    """Look an order up."""
    if order_id == "boom":
        raise RuntimeError("warehouse unreachable")
    if order_id == "none":
        raise ToolError("NOT_FOUND", "no such order", ValueError("hidden"))
    return Order(id=order_id, status="shipped")


@toolwire.tool
async def echo(text: str) -> str:
    """Say it back."""
    return f"heard: {text}"


@toolwire.tool
async def panic() -> str:
    raise SystemExit("bang")


def raw(arguments: bytes) -> str:
    return arguments.decode()


FS = (
    b'{"type":"object","properties":{"q":{"type":"string","enum":["a","b"]},"pick":{"oneOf":[{"type":"string"},'
    b'{"type":"number"}]}},"required":["q"]}'
)
RAW = Tool.raw("raw", "", None, raw)
FOREIGN = Tool.raw("foreign", "", FS, raw)
BADGE = Tool.raw("badge", "", None, lambda _: "badge granted", output_schema=b'{"type":"object"}')
TOOLS = (lookup_order, echo, panic, RAW, FOREIGN, BADGE)
KINDS: list[Callable[..., AnyServer]] = [Server, MCPServer]


@asynccontextmanager
async def shop(kind: Callable[..., AnyServer], era: str, express: bool, *tools: Tool) -> AsyncIterator[RawClient]:
    server = kind("shop")
    toolwire.add_tools(server, *(tools or TOOLS))
    async with served(server, express=express) as client:
        await client.open(era)
        yield client


everywhere = [
    pytest.mark.parametrize("kind", KINDS),
    pytest.mark.parametrize("era", ERAS),
    pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"]),
]


def on_every_server(function: Any) -> Any:
    for mark in everywhere:
        function = mark(function)
    return function


@on_every_server
async def test_e1_e2_e17_e18_the_listing_is_the_contract_and_nothing_is_made_up(
    kind: Callable[..., AnyServer], era: str, express: bool
) -> None:
    async with shop(kind, era, express) as client:
        listed = {tool["name"]: tool for tool in (await client.ask(request_line(era, "tools/list")))["result"]["tools"]}
        assert [*listed] == [tool.name for tool in TOOLS]
        assert listed["lookup_order"] == {
            "name": "lookup_order",
            "description": "Look an order up.",
            "inputSchema": {
                "type": "object",
                "properties": {"order_id": {"description": "the order's number", "type": "string"}},
                "required": ["order_id"],
            },
            "outputSchema": {
                "properties": {"id": {"type": "string"}, "status": {"type": "string"}},
                "required": ["id", "status"],
                "type": "object",
            },
        }
        assert listed["echo"].keys() == {"name", "description", "inputSchema"}
        assert listed["raw"]["inputSchema"] == {"type": "object"}
        assert b'"inputSchema":' + FS in client.lines[-1]


@on_every_server
async def test_e3_to_e12_calls_as_a_client_reads_them(kind: Callable[..., AnyServer], era: str, express: bool) -> None:
    async with shop(kind, era, express) as client:

        async def error(name: str, arguments: bytes) -> str:
            result = await client.call(era, name, arguments)
            assert result["isError"] is True
            assert "structuredContent" not in result
            return text_of(result)

        told = await client.call(era, "echo", b'{"text":"hello"}')
        assert (text_of(told), told["isError"], "structuredContent" in told) == ("heard: hello", False, False)
        found = await client.call(era, "lookup_order", b'{"order_id":"1234"}')
        assert text_of(found) == '{"id":"1234","status":"shipped"}'
        assert b'"structuredContent":{"id":"1234","status":"shipped"},"isError":false' in client.lines[-1]
        assert await error("lookup_order", b'{"order_id":42}') == (
            'INVALID_INPUT: tool "lookup_order": field "order_id": expected string, got number'
        )
        assert await error("lookup_order", b'{"order_id":"boom"}') == "warehouse unreachable"
        assert await error("lookup_order", b'{"order_id":"none"}') == "NOT_FOUND: no such order"
        assert await error("panic", b"{}") == 'tool "panic" panicked: bang'
        assert text_of(await client.call(era, "echo", b'{"text":"still there"}')) == "heard: still there"
        assert await error("badge", b"{}") == (
            'tool "badge" advertised an output schema, so its result must be JSON; got non-JSON text'
        )
        given = b'{ "markup": "a<b&c>d", "n": 1.50, "e": "\\u00e9" }'
        assert text_of(await client.call(era, "raw", given)).encode() == given
        assert text_of(await client.call(era, "raw", b"null")) == "{}"
        line = request_line(era, "tools/call", b'"name":"raw"')
        assert text_of((await client.ask(line))["result"]) == "{}"


@on_every_server
async def test_e23_an_unknown_tool_is_a_protocol_error(kind: Callable[..., AnyServer], era: str, express: bool) -> None:
    """On a low-level server. An MCPServer answers by itself what is no tool of ours, as it does without us."""
    async with shop(kind, era, express) as client:
        answer = await client.ask(request_line(era, "tools/call", b'"name":"nope","arguments":{}'))
        if kind is Server:
            assert answer["error"] == {"code": -32602, "message": 'unknown tool "nope"'}
        else:
            assert text_of(answer["result"]) == "Unknown tool: nope"


APPROVAL = (
    'toolwire: add_tools: tool "refund" requires approval and MCP has no approval channel; '
    "expose it through serve_agent, whose dispatch answers gated calls with the approval error"
)
REFUSED: list[tuple[list[Any], str]] = [
    ([None], "toolwire: add_tools called with a nil tool"),
    ([echo, echo], 'toolwire: add_tools: duplicate tool name "echo"'),
    ([toolwire.tool(raw, toolwire.require_approval(), name="refund")], APPROVAL),
    ([lookup_order], 'toolwire: add_tools: the server has a tool named "lookup_order" already'),
    ([[echo]], "toolwire: add_tools takes tools one by one: *tools, not list"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("batch", "text"), REFUSED)
async def test_e14_e15_e16_e22_a_batch_is_refused_as_a_whole(
    kind: Callable[..., AnyServer], batch: list[Any], text: str
) -> None:
    server = kind("shop")
    toolwire.add_tools(server, lookup_order)
    for tools in ([RAW, *batch], [*batch, RAW]):
        with pytest.raises(RegistrationError) as caught:
            toolwire.add_tools(server, *tools)
        assert str(caught.value) == text
    async with served(server) as client:
        await client.open(MODERN)
        listed = (await client.ask(request_line(MODERN, "tools/list")))["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["lookup_order"]


@pytest.mark.parametrize(
    ("batch", "text"),
    [
        ([toolwire.tool(raw, toolwire.require_approval(), name="refund"), None], APPROVAL),
        ([None, toolwire.tool(raw, toolwire.require_approval(), name="refund")], REFUSED[0][1]),
        ([echo, echo, None], REFUSED[1][1]),
        ([echo, [echo], echo], REFUSED[4][1]),
    ],
)
def test_e14_e15_e16_the_first_tool_that_is_refused_is_the_one_that_is_told(batch: list[Any], text: str) -> None:
    """Spec one-session 1.8: for each tool in order."""
    with pytest.raises(RegistrationError) as caught:
        toolwire.add_tools(Server("shop"), *batch)
    assert str(caught.value) == text


@pytest.mark.parametrize("nobody", [None, "shop", object()])
def test_what_is_no_server_is_refused_by_its_kind(nobody: Any) -> None:
    text = f"the SDK's Server or MCPServer, not on {type(nobody).__name__}"
    with pytest.raises(TypeError, match=text):
        toolwire.add_tools(nobody, echo)
    with pytest.raises(TypeError, match=text):
        toolwire.remove_tools(nobody, "echo")


async def test_e22_a_name_of_an_mcpservers_own_is_refused_too() -> None:
    server = MCPServer("shop")

    @server.tool(name="echo")
    def own(text: str) -> str:
        return text

    with pytest.raises(RegistrationError, match='the server has a tool named "echo" already'):
        toolwire.add_tools(server, echo)


@pytest.mark.parametrize("size", [0, -1])
def test_a_page_that_never_ends_is_refused(size: int) -> None:
    with pytest.raises(RegistrationError, match=f"a page of {size} tools never ends the listing"):
        toolwire.add_tools(Server("shop"), echo, page_size=size)


async def test_e19_the_policies_of_a_run_do_not_apply() -> None:
    called: list[str] = []

    async def middleware(call: Any, following: Any) -> Any:
        called.append(call.name)
        return await following(call)

    async def slow(text: str) -> str:
        await anyio.sleep(0.01)
        return f"heard: {text}"

    tool = toolwire.tool(
        slow, toolwire.max_result_bytes(1), toolwire.timeout(0.001), toolwire.wrap(middleware), name="echo"
    )
    async with shop(Server, HANDSHAKE, True, tool) as client:
        assert text_of(await client.call(HANDSHAKE, "echo", b'{"text":"whole"}')) == "heard: whole"
    assert called == []


async def test_e20_strict_input_applies() -> None:
    async def heard(text: str) -> str:
        return text

    tool = toolwire.tool(heard, toolwire.strict_input(), name="echo")
    async with shop(Server, HANDSHAKE, True, tool) as client:
        result = await client.call(HANDSHAKE, "echo", b'{"text":"a","x":1}')
        assert text_of(result) == 'INVALID_INPUT: tool "echo": unknown field "x": not in the schema'


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_e21_a_client_that_gives_up_ends_the_handler(mode: str) -> None:
    running, ended = anyio.Event(), anyio.Event()

    @toolwire.tool
    async def wait() -> str:
        running.set()
        try:
            await anyio.Event().wait()
        finally:
            ended.set()
        return "never"

    server: Server[Any] = Server("shop")
    toolwire.add_tools(server, wait)
    async with toolwire.connect(server, mode=mode) as connection, anyio.create_task_group() as tasks:
        imported = (await toolwire.tools(connection))["wait"]
        tasks.start_soon(imported.invoke)
        with anyio.fail_after(10):
            await running.wait()
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await ended.wait()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("kind", KINDS)
async def test_the_sdks_own_client_over_its_own_channel_is_served_too(
    kind: Callable[..., AnyServer], mode: str
) -> None:
    """Without a wire there is no express lane and no exact number; everything else is the same."""
    server = kind("shop")
    toolwire.add_tools(server, *TOOLS)
    async with mcp.Client(server, mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [tool.name for tool in TOOLS]
        found = await client.call_tool("lookup_order", {"order_id": "1"})
        assert found.structured_content == {"id": "1", "status": "shipped"}
        failed = await client.call_tool("lookup_order", {"order_id": "boom"})
        assert failed.is_error
        echoed = await client.call_tool("raw", {"a": [1, {"b": None}]})
        assert json.loads(echoed.content[0].text) == {"a": [1, {"b": None}]}  # type: ignore[union-attr]  # a text block
