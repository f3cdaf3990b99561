"""Rows 136 to 153 of many-sources 7: registered tools, on both lanes and in both eras."""

import json
from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

import toolwire
from tests.bridge.raw import ERAS, OBJ, on_both_loops
from tests.many_sources.support import Duck, in_process, raw_tool, refused_at_server, registered
from toolwire import (
    CallError,
    Continuation,
    InputRejected,
    InputRequest,
    InvalidTool,
    MediaPart,
    RegistrationError,
    TextPart,
    Tool,
    ToolError,
    ToolFailure,
    ToolOutput,
    guard,
    sequential,
    validate_input,
)
from toolwire.errors import NilServerError
from toolwire.wire.client import ClientWire

TEXT = b'{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}'


def test_row_136_no_server() -> None:
    none: Any = None
    for tools in ((), (None,), (raw_tool(ToolOutput("x")),)):
        with pytest.raises(NilServerError) as caught:
            toolwire.register(none, *tools)
        assert str(caught.value) == "mcp: server must not be nil"


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_row_137_a_round_trip(era: str) -> None:
    def echo(arguments: bytes) -> str:
        text: str = json.loads(arguments)["text"]
        return text

    tool = Tool.raw("echo", "says it", TEXT, echo)
    async with registered(tool, Duck(lambda call: ToolOutput(call.call_id), "duck"), era=era) as (_, tools):
        duck, found = tools
        assert (found.name, found.description, found.input_schema.raw) == ("src/echo", "says it", TEXT)
        assert json.loads(found.definition_json).keys() == {"name", "description", "inputSchema"}
        assert (await found.call(b'{"text":"hi"}')).joined_text() == "hi"
        assert (await duck.call(b"{}")).joined_text() == "mcp/duck"


async def test_row_138_a_batch_is_atomic() -> None:
    server: Server[Any] = Server("s")
    one = raw_tool(ToolOutput("1"), "duplicate")
    with pytest.raises(RegistrationError) as caught:
        toolwire.register(server, one, raw_tool(ToolOutput("2"), "before"), raw_tool(ToolOutput("3"), "duplicate"))
    assert (
        str(caught.value)
        == 'mcp: register tools: toolwire: duplicate tool: "duplicate" appears more than once in batch'
    )
    toolwire.register(server, raw_tool(ToolOutput("x"), "after"))
    with pytest.raises(RegistrationError, match='duplicate tool: "after" is already registered'):
        toolwire.register(server, raw_tool(ToolOutput("x"), "fine"), raw_tool(ToolOutput("x"), "after"))
    toolwire.register(server)
    async with in_process(server) as (_, tools):
        assert tools.names == ("src/after",)


async def test_a_name_that_the_server_has_is_refused_at_both_doors() -> None:
    server = MCPServer("s")

    @server.tool()
    def own() -> str:
        return ""

    with pytest.raises(RegistrationError, match='"own" is already registered'):
        toolwire.register(server, raw_tool(ToolOutput("x"), "own"))
    toolwire.add_tools(server, raw_tool(ToolOutput("x"), "added"))
    with pytest.raises(RegistrationError, match='"added" is already registered'):
        toolwire.register(server, raw_tool(ToolOutput("x"), "added"))


SCHEMAS = [None, "null", "[]", "{", "{}", '{"type":["object"]}', '{"type":123}', '{"type":"object","properties":5}']


@pytest.mark.parametrize("schema", SCHEMAS)
def test_row_139_a_schema_that_is_none_is_no_tool(schema: str | None) -> None:
    class Bare(Duck):
        def definition(self) -> dict[str, Any]:
            return {"name": "bad", "description": "", "input_schema": schema}

    with pytest.raises(
        InvalidTool, match=r"^toolwire: invalid tool: (definition: toolwire: invalid tool definition|input schema)"
    ):
        toolwire.bind(Bare(None))
    server: Server[Any] = Server("s")
    with pytest.raises(RegistrationError, match=r"^mcp: register tools: tools\[1\]: toolwire: invalid tool: "):
        toolwire.register(server, raw_tool(ToolOutput("x"), "good"), Bare(None))
    assert server.get_request_handler("tools/call") is None


def test_no_tool_is_an_invalid_tool() -> None:
    server: Server[Any] = Server("s")
    with pytest.raises(
        RegistrationError, match=r"^mcp: register tools: tools\[0\]: toolwire: invalid tool: tool is nil$"
    ):
        toolwire.register(server, None)


async def test_row_140_a_definition_is_read_once() -> None:
    class Once(Duck):
        def definition(self) -> dict[str, Any]:
            assert self.read == 0
            return super().definition()

    duck = Once(ToolOutput("ok"))
    async with registered(duck) as (_, tools):
        assert (await tools[0].call(b"{}")).text == "ok"
    assert duck.read == 1


async def raw_call(connection: Any, name: str, arguments: bytes) -> dict[str, Any]:
    """One call past the client's own admission; the decoded result."""
    params = b'"name":"%s","arguments":%s' % (name.encode(), arguments)
    frame = await connection.wire.request("tools/call", params, timeout=20)
    assert frame.error is None, frame.error
    found: dict[str, Any] = json.loads(frame.result)
    return found


@pytest.mark.parametrize("arguments", [b"{}", b'{"text":5}', b'{"text":"a","text":"b"}', b'{"text":"\\ud800"}'])
@pytest.mark.parametrize("era", ERAS)
async def test_row_141_bad_arguments_are_the_models_to_read(era: str, arguments: bytes) -> None:
    duck = Duck(ToolOutput("ran"), schema=TEXT)
    async with registered(duck, era=era) as (connection, _):
        found = await raw_call(connection, "t", arguments)
    assert found["isError"] is True
    assert found["content"][0]["text"].startswith("toolwire: invalid invocation: arguments: ")
    assert duck.calls == []


class Odd(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("kaboom")


UNKNOWN = [
    RuntimeError("kaboom"),
    ToolError("CODE", "kaboom"),
    TimeoutError("kaboom"),
    Odd(),
    SystemExit("kaboom"),
    BaseExceptionGroup("kaboom", [ValueError("kaboom")]),
]


@pytest.mark.parametrize("error", UNKNOWN, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("era", ERAS)
async def test_row_142_an_unknown_outcome_is_a_fixed_error(era: str, error: BaseException) -> None:
    async with registered(Duck(error), era=era) as (_, tools):
        await refused_at_server(tools[0])


@pytest.mark.parametrize("era", ERAS)
async def test_row_142_holds_for_functions_too(era: str) -> None:
    """One Tool serves both doors: `add_tools` tells the model what a handler raised, `register` nobody."""

    @toolwire.tool
    async def t() -> str:
        raise RuntimeError("kaboom")

    @toolwire.tool
    def u() -> dict[str, float]:
        return {"x": float("nan")}

    async with registered(t, u, era=era) as (_, tools):
        for tool in tools:
            await refused_at_server(tool)


def failure() -> ToolFailure:
    output = ToolOutput(parts=[TextPart("one"), TextPart("two", metadata={"k": b"1.50"})], structured=b'{"retry_s":30}')
    return ToolFailure("whatever", output=output, cause=ValueError("private"))


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_row_143_a_failure_is_projected_whole(era: str) -> None:
    async with registered(raw_tool(failure()), Duck(failure(), "u"), era=era) as (_, tools):
        for tool in tools:
            with pytest.raises(ToolFailure) as caught:
                await tool.call(b"{}")
            output = caught.value.output
            assert [part.text for part in output.parts] == ["one", "two"]
            assert output.parts[1].metadata["k"] == b"1.50"
            assert output.structured == b'{"retry_s":30}'
            assert b"private" not in output.raw
            assert b"whatever" not in output.raw


def wrapped() -> Exception:
    error = RuntimeError("outer")
    error.__cause__ = failure()
    return error


@pytest.mark.parametrize("era", ERAS)
async def test_row_144_a_wrapped_failure_is_one(era: str) -> None:
    async with registered(Duck(wrapped()), raw_tool(wrapped(), "u"), era=era) as (_, tools):
        for tool in tools:
            with pytest.raises(ToolFailure) as caught:
                await tool.call(b"{}")
            assert [part.text for part in caught.value.output.parts] == ["one", "two"]


async def test_a_failure_that_was_being_handled_is_no_wrapper() -> None:
    def handling(call: Any) -> Any:
        try:
            raise failure()
        except ToolFailure:
            raise RuntimeError("kaboom")  # noqa: B904 - the implicit context is what is tested

    async with registered(Duck(handling)) as (_, tools):
        await refused_at_server(tools[0])


INVALID = [
    ToolFailure(""),
    ToolFailure("x", kind="perhaps"),
    ToolFailure("x", output="text"),
    ToolFailure("x", output=ToolOutput(parts=[MediaPart(b"")])),
]


@pytest.mark.parametrize("error", INVALID, ids=range(len(INVALID)))
@pytest.mark.parametrize("era", ERAS)
async def test_row_145_an_invalid_failure_is_a_fixed_error(era: str, error: ToolFailure) -> None:
    async with registered(Duck(error), era=era) as (_, tools):
        await refused_at_server(tools[0])


def guarded(authorizer: Any, ran: list[bytes]) -> Tool:
    async def handler(arguments: bytes) -> str:
        ran.append(arguments)
        return "ran"

    return Tool.raw("inspect", "", OBJ, handler, guard(authorizer))


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_row_146_a_refusal(era: str) -> None:
    asked: list[Any] = []
    ran: list[bytes] = []

    async def nobody(name: str, invocation: Any) -> bool:
        asked.append((name, invocation.arguments, invocation.call_id))
        return False

    async with registered(guarded(nobody, ran), era=era) as (_, tools):
        with pytest.raises(ToolFailure) as caught:
            await tools[0].call(b'{"a":1.50}')
    assert str(caught.value) == 'error: tool "inspect" is not authorized'
    assert caught.value.kind == "failed"
    assert asked == [("inspect", b'{"a":1.50}', "mcp/inspect")]
    assert ran == []


PRIVATE = [RuntimeError("private"), ToolFailure("private"), TimeoutError("private"), InputRejected("private")]


@pytest.mark.parametrize("error", PRIVATE, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("era", ERAS)
async def test_row_147_a_guard_that_cannot_decide(era: str, error: Exception) -> None:
    ran: list[bytes] = []

    async def broken(name: str, invocation: Any) -> bool:
        raise error

    async with registered(guarded(broken, ran), era=era) as (_, tools):
        with pytest.raises(toolwire.RemoteCallError) as caught:
            await tools[0].call(b"{}")
        assert caught.value.code == -32603
        assert "private" not in str(caught.value)
    assert ran == []
    with pytest.raises(toolwire.AuthorizationError) as direct:
        await guarded(broken, ran).call(b"{}")
    assert str(direct.value) == 'toolwire: authorization for "inspect" failed'
    assert direct.value.__cause__ is None


def validated(check: Any) -> Tool:
    return Tool.raw("t", "", OBJ, lambda _: "ran", validate_input(check))


@pytest.mark.parametrize(
    "error", [InputRejected("not so"), ValueError("not so")], ids=lambda error: type(error).__name__
)
@pytest.mark.parametrize("era", ERAS)
async def test_row_148_a_validator_that_rejects(era: str, error: Exception) -> None:
    def check(arguments: bytes) -> None:
        raise error

    for tool in (validated(check), validated(lambda _: error)):
        async with registered(tool, era=era) as (connection, _):
            found = await raw_call(connection, "t", b"{}")
        assert found["isError"] is True
        assert found["content"] == [{"type": "text", "text": "toolwire: invalid invocation: arguments: not so"}]


@pytest.mark.parametrize("era", ERAS)
async def test_row_149_a_validator_that_is_broken(era: str) -> None:
    def check(arguments: bytes) -> None:
        raise KeyError("kaboom")

    async with registered(validated(check), era=era) as (_, tools):
        await refused_at_server(tools[0])
    with pytest.raises(toolwire.InputValidationDefect, match="toolwire: input validation panicked: 'kaboom'"):
        validated(check).prepare(b"{}", call_id="1")


async def test_row_150_a_call_error_is_no_definite_outcome() -> None:
    error = CallError("kaboom", evidence=ToolOutput("kaboom"), cause=failure())
    async with registered(Duck(error)) as (_, tools):
        await refused_at_server(tools[0])


async def test_row_151_an_input_request_is_not_driven() -> None:
    def asking(invocation: Any) -> InputRequest:
        return InputRequest(b'{"message":"kaboom"}', b"true", b"{}", invocation)

    async with registered(Duck(asking)) as (_, tools):
        await refused_at_server(tools[0])


def reporting() -> Tool:
    @toolwire.tool
    async def t() -> str:
        for step in (1, 2, 3):
            await toolwire.report_progress(step, 3, f"step {step}")
        return "done"

    return t


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_row_152_progress_reaches_whoever_asked(era: str) -> None:
    steps = [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
    async with registered(reporting(), era=era) as (connection, tools):
        heard: list[Any] = []
        assert (await tools[0].call(b"{}", on_progress=lambda *report: heard.append(report))).text == "done"
        assert heard == steps
        heard.clear()

        async def hear(*report: Any) -> None:
            await anyio.lowlevel.checkpoint()
            heard.append(report)

        (imported,) = await toolwire.tools(connection)
        assert (await imported.call(b"{}", on_progress=hear)).text == "done"
        assert heard == steps


@on_both_loops
async def test_row_153_progress_that_nobody_asked_for() -> None:
    async with registered(reporting()) as (connection, tools):
        assert (await tools[0].call(b"{}")).text == "done"
        assert isinstance(connection.wire, ClientWire)
        assert connection.wire.express.late_answers == 0
    assert (await reporting().call()).text == "done"
    await toolwire.report_progress(1)


@on_both_loops
async def test_progress_of_a_local_tool_reaches_its_caller() -> None:
    heard: list[Any] = []

    def hear(*report: Any) -> None:
        heard.append(report)
        raise RuntimeError("a listener's own mistake harms no call")

    assert (await reporting().call(on_progress=hear)).text == "done"
    assert heard == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


async def test_a_tool_that_requires_approval_is_not_registered() -> None:
    server: Server[Any] = Server("s")
    tool = Tool.raw("t", "", OBJ, lambda _: "", toolwire.require_approval())
    with pytest.raises(RegistrationError, match='tool "t" requires approval'):
        toolwire.register(server, tool)


@on_both_loops
async def test_a_sequential_tool_takes_one_call_at_a_time() -> None:
    inside, most = 0, 0
    others = anyio.Event()

    async def handler(arguments: bytes) -> str:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await others.wait()
        inside -= 1
        return "done"

    async with (
        registered(Tool.raw("t", "", OBJ, handler, sequential())) as (_, tools),
        anyio.create_task_group() as tasks,
    ):
        for _ in range(3):
            tasks.start_soon(tools[0].call, b"{}")
        await anyio.wait_all_tasks_blocked()
        others.set()
    assert most == 1


def test_a_continuation_of_nobody_is_no_json() -> None:
    for text in ("[]", "{", '{"a":1}', "5"):
        with pytest.raises(toolwire.ToolwireError):
            Continuation.from_json(text)
        with pytest.raises(toolwire.ToolwireError):
            InputRequest.from_json(text)


async def test_a_verdict_that_nobody_would_await_admits_nothing() -> None:
    async def check(arguments: bytes) -> None:
        raise AssertionError("nobody awaits this")

    with pytest.raises(TypeError, match=r"^validate_input takes a plain function"):
        validate_input(check)

    class Async:
        async def __call__(self, arguments: bytes) -> None:
            raise AssertionError("nor this")

    ran: list[bytes] = []
    hidden = Tool.raw("t", "", OBJ, ran.append, validate_input(Async()))
    with pytest.raises(toolwire.InputValidationDefect, match="its verdict is a coroutine"):
        await hidden.call(b"{}")
    assert ran == []


@pytest.mark.parametrize("allowed", [(True, True), (True, False), (False, True)])
async def test_of_several_guards_and_checks_each_has_to_admit(allowed: tuple[bool, bool]) -> None:
    def authorizer(verdict: bool) -> Any:
        async def authorize(name: str, invocation: Any) -> bool:
            return verdict

        return authorize

    def check(verdict: bool) -> Any:
        return lambda _: None if verdict else InputRejected("not so")

    guards = Tool.raw("t", "", OBJ, lambda _: "ran", *[guard(authorizer(verdict)) for verdict in allowed])
    checks = Tool.raw("t", "", OBJ, lambda _: "ran", *[validate_input(check(verdict)) for verdict in allowed])
    if all(allowed):
        assert await guards.invoke() == await checks.invoke() == "ran"
        return
    with pytest.raises(ToolFailure, match="is not authorized"):
        await guards.call(b"{}")
    with pytest.raises(toolwire.InvalidInvocation, match="not so"):
        await checks.call(b"{}")
