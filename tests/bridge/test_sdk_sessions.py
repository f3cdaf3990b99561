"""Sessions that run on no wire: what the SDK has decoded is lost, and still one bad entry costs one tool."""

import anyio
import mcp
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolRequestParams, CallToolResult, ErrorData, ListToolsResult, TextContent
from mcp_types import Tool as SdkTool

import toolwire
from tests.bridge.memory import Answers, memory_session
from tests.bridge.raw import ERAS, NEW, PATIENCE, on_both_loops, refused, report
from toolwire import RemoteCallError, ToolFailure, ToolReturnedError, timeout

OBJ = {"type": "object"}
GOOD = {"name": "good", "inputSchema": OBJ}
ODD = [
    None,
    {"name": "b1"},
    {"name": "b2", "inputSchema": True},
    {"name": "", "inputSchema": OBJ},
    {"name": 7, "inputSchema": OBJ},
    {"name": "b4", "inputSchema": {"type": ["object", "null"]}},
    "b5",
    {"name": "b6", "inputSchema": OBJ, "outputSchema": False, "annotations": {"readOnlyHint": "yes"}},
]
OK = {"content": [{"type": "text", "text": "ok"}]}


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_one_bad_entry_costs_one_tool_without_a_wire_too(era: str) -> None:
    answers = {"tools/list": {"tools": [*ODD, GOOD, GOOD]}, "tools/call": OK}
    async with memory_session(answers, era=era) as (server, session):
        tools = await toolwire.tools(session, prefix="m_")
        assert tools.names == ("m_b6", "m_good")
        assert report(tools) == [
            ("", 0, "nil entry in the tool list"),
            ("b1", 1, "toolwire: ParseSchema: empty schema"),
            ("b2", 2, "toolwire: ParseSchema: the document is not a JSON object"),
            ("", 3, "empty name"),
            ("", 4, "the name is a number, not a string"),
            ("b4", 5, 'toolwire: ParseSchema: top-level type must be "object", got ""'),
            ("", 6, "the entry is a string, not an object"),
            ("good", 9, 'duplicate name "good" in the listing'),
        ]
        assert await tools["m_good"].invoke(b'{"a":1}') == "ok"
        (call,) = server.params("tools/call")
        assert (call["name"], call["arguments"]) == ("good", {"a": 1})
        assert ("_meta" in call) == (era == NEW)


async def test_pages_and_cursors_are_walked_without_a_wire_too() -> None:
    pages = [{"tools": [GOOD], "nextCursor": ""}, {"tools": [], "nextCursor": "é"}, {"tools": [GOOD | {"name": "b"}]}]
    async with memory_session({"tools/list": pages}) as (server, session):
        assert (await toolwire.tools(session)).names == ("good", "b")
        assert [params.get("cursor") for params in server.params("tools/list")] == [None, "", "é"]


async def test_integers_and_key_order_survive_the_sdk_and_floats_are_pythons() -> None:
    """The documented loss of this path: the SDK has decoded the message before toolwire sees it."""
    schema = {"zeta": 1, "type": "object", "maximum": 9007199254740993, "digits": 10**30, "half": 1.50}
    answers = {"tools/list": {"tools": [{"name": "t", "inputSchema": schema}]}, "tools/call": OK}
    async with memory_session(answers) as (server, session):
        tools = await toolwire.tools(session)
        assert tools["t"].input_schema.raw == (
            b'{"zeta":1,"type":"object","maximum":9007199254740993,"digits":' + str(10**30).encode() + b',"half":1.5}'
        )
        await tools["t"].invoke(b'{"z":1.50,"a":9007199254740993,"e":1e3}')
        assert server.params("tools/call")[0]["arguments"] == {"z": 1.5, "a": 9007199254740993, "e": 1000.0}


async def test_what_the_sdk_could_not_carry_is_refused_and_never_sent_as_null() -> None:
    async with memory_session({"tools/list": {"tools": [GOOD]}, "tools/call": OK}) as (server, session):
        tool = (await toolwire.tools(session))["good"]
        assert await refused(tool, b'{"x":[-1E400]}') == (
            "the number -1E400 is beyond Python's floats, and an SDK session carries no other"
        )
        assert "integer" in await refused(tool, b'{"x":' + b"7" * 5_000 + b"}")
        assert "given twice" in await refused(tool, b'{"x":1,"x":2}')
        assert "NaN and Infinity" in await refused(tool, b'{"x":NaN}')
        assert server.params("tools/call") == []


@pytest.mark.parametrize("era", ERAS)
async def test_results_are_read_as_leniently_as_on_a_wire(era: str) -> None:
    results = [
        {"content": [None, {"type": "video"}, {"type": "text", "text": "b"}]},
        {"structuredContent": [1, 2.5]},
        {"content": [{"type": "text", "text": "half \ud83d"}]},
        {"content": [], "_meta": {"k": 1}},
    ]
    async with memory_session({"tools/list": {"tools": [GOOD]}, "tools/call": results}, era=era) as (_, session):
        tool = (await toolwire.tools(session))["good"]
        outputs = [await tool.call() for _ in results]
    assert [output.text for output in outputs] == [
        "[broken block: null, not an object]\n[unsupported block: video]\nb",
        "[1,2.5]",
        "half �",
        "",
    ]
    assert outputs[1].warnings == ("content is missing",)
    assert outputs[3].meta == b'{"k":1}'


async def test_failures_and_errors_read_as_on_a_wire() -> None:
    results = [
        {"content": [{"type": "text", "text": "quota"}], "isError": True},
        ErrorData(code=-32602, message="bad date", data={"field": "when"}),
        {"resultType": "input_required", "requestState": "x"},
        {"content": [], "structuredContent": {"x": float("nan")}},
        {"content": [], "structuredContent": {"x": object()}},
    ]
    async with memory_session({"tools/list": {"tools": [GOOD]}, "tools/call": results}) as (_, session):
        tool = (await toolwire.tools(session))["good"]
        with pytest.raises(ToolFailure, match=r"^quota$") as failed:
            await tool.call()
        assert isinstance(failed.value.cause, ToolReturnedError)
        lost = []
        for _ in results[1:]:
            with pytest.raises(RemoteCallError) as caught:
                await tool.call()
            lost.append(caught.value)
    assert str(lost[0]) == 'mcp: bad date (invalid params): {"field":"when"}'
    assert (lost[0].code, lost[0].data, lost[0].may_have_run) == (-32602, b'{"field":"when"}', False)
    assert str(lost[1]) == "mcp: remote tool result requires further input"
    assert "NaN and Infinity are not JSON" in str(lost[2])
    assert lost[2].raw == b'{"content":[],"structuredContent":{"x":NaN}}'
    assert "is not JSON" in str(lost[3])
    assert all(error.may_have_run for error in lost[1:])


@on_both_loops
async def test_a_deadline_ends_a_call_and_a_listing_without_a_wire_too() -> None:
    answers: Answers = {"tools/list": [{"tools": [GOOD]}, None, {"tools": []}], "tools/call": None}
    async with memory_session(answers) as (server, session):
        tools = await toolwire.tools(session, policy=timeout(0.1))
        with pytest.raises(RemoteCallError) as caught:
            await tools["good"].call()
        assert str(caught.value) == 'mcp: "good" at memory timed out after 0.1 s'
        assert isinstance(caught.value.cause, TimeoutError)
        assert caught.value.may_have_run
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(toolwire.tools, session)
            await server.arrived("tools/list", 2).wait()
            tasks.cancel_scope.cancel()
        assert len(await toolwire.tools(session)) == 0
        assert [message.method for message in server.heard].count("notifications/cancelled") == 2


@on_both_loops
async def test_a_cancelled_caller_leaves_the_session_usable() -> None:
    answers = {"tools/list": {"tools": [GOOD]}, "tools/call": [None, OK]}
    async with memory_session(answers) as (server, session):
        tool = (await toolwire.tools(session))["good"]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tool.call)
            await server.arrived("tools/call").wait()
            tasks.cancel_scope.cancel()
        assert await tool.invoke() == "ok"


async def test_a_closed_session_fails_a_call_at_once() -> None:
    async with memory_session({"tools/list": {"tools": [GOOD]}, "tools/call": OK}) as (_, session):
        tool = (await toolwire.tools(session))["good"]
    with anyio.fail_after(PATIENCE), pytest.raises(RemoteCallError, match=r"^mcp: "):
        await tool.invoke()


async def test_an_error_on_a_page_gives_no_tools_and_no_method_gives_none_at_all() -> None:
    pages = [{"tools": [GOOD], "nextCursor": "2"}, ErrorData(code=-32000, message="gone")]
    async with memory_session({"tools/list": pages}) as (_, session):
        with pytest.raises(RemoteCallError, match=r"^mcp: gone$") as caught:
            await toolwire.tools(session)
        assert not caught.value.may_have_run
    async with memory_session({"tools/list": ErrorData(code=-32601, message="Method not found")}) as (_, session):
        assert len(await toolwire.tools(session)) == 0


async def listed(_context: object, _params: object) -> ListToolsResult:
    """List what is odd; the SDK's server refuses to list anything worse than this."""
    tool = SdkTool(name="t", description="d", input_schema=OBJ)
    return ListToolsResult(tools=[tool, SdkTool(name="", input_schema=OBJ), tool])


async def called(_context: object, params: CallToolRequestParams) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=repr(params.arguments))])


@on_both_loops
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_sdk_client_of_a_server_in_this_process_is_a_source(mode: str) -> None:
    server = Server("inner", on_list_tools=listed, on_call_tool=called)
    with anyio.fail_after(PATIENCE):
        async with mcp.Client(server, mode=mode) as client:
            for source in (client, client.session):
                tools = await toolwire.tools(source)
                assert (tools.names, [record.name for record in tools.skipped]) == (("t",), ["", "t"])
                assert await tools["t"].invoke('{"b":1.50,"a":[null]}') == "{'b': 1.5, 'a': [None]}"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_mcp_server_in_this_process_is_a_source(mode: str) -> None:
    server = MCPServer("shop")

    @server.tool()
    def double(number: int) -> int:
        """Doubles it."""
        return 2 * number

    with anyio.fail_after(PATIENCE):
        async with mcp.Client(server, mode=mode) as client:
            tools = await toolwire.tools(client)
            assert tools["double"].description == "Doubles it."
            assert await tools["double"].invoke({"number": 21}) == '{"result":42}'
            with pytest.raises(ToolFailure, match="number"):
                await tools["double"].invoke({})


@pytest.mark.parametrize("source", [None, "x", 5, ["python"]])
async def test_what_is_no_source_is_refused_by_its_type(source: object) -> None:
    with pytest.raises(TypeError, match=f"got {type(source).__name__}$"):
        await toolwire.tools(source)  # type: ignore[arg-type]  # that is the mistake
