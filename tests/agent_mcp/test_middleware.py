"""Middleware around local and imported calls: what it sees, what it may change, and the three that come ready."""

import logging
from typing import Any

import pytest

from tests.agent_mcp.support import SPREAD, entry, imported, results, run, serving, text
from toolwire import (
    Agent,
    CallContext,
    LocalOutput,
    ToolError,
    ToolOutput,
    allow,
    audit,
    map_errors,
    require_approval,
    tool,
)
from toolwire.agent.middleware import Call as ToolCall
from toolwire.agent.middleware import Next
from toolwire.testing import Call, Script, error

spread = pytest.mark.parametrize(("anyio_backend", "era"), SPREAD)


@spread
async def test_middleware_may_change_the_bytes_that_go_out(era: str) -> None:
    async def with_tenant(call: ToolCall, following: Next) -> ToolOutput:
        return await following(call.with_args(call.args[:-1] + b',"tenant":1.50}'))

    server = serving([entry("search")], {"search": text("hit")}, era)
    async with imported(server, era) as tools:
        await run(tools, Call("search", b'{"q":"a"}'), middleware=[with_tenant])
        assert b'"arguments":{"q":"a","tenant":1.50}' in server.requests("tools/call")[0]


@spread
async def test_middleware_sees_the_whole_output_and_may_give_another(era: str) -> None:
    async def louder(call: ToolCall, following: Next) -> ToolOutput:
        output = await following(call)
        return LocalOutput(output.text.upper(), structured=b'{"n":1.50}')

    async with imported(serving([entry("search")], {"search": text("hit")}, era), era) as tools:
        outcome = await run(tools, Call("search"), middleware=[louder])
    [part] = outcome.messages[2].results
    assert part.content == "HIT"
    assert part.output is not None
    assert part.output.structured == b'{"n":1.50}'


@pytest.mark.parametrize("given", [None, 5, b"bytes"])
async def test_middleware_that_gives_nothing_a_model_can_read_is_told_so(given: object) -> None:
    async def forgetful(call: ToolCall, following: Next) -> Any:
        await following(call)
        return given

    fine = tool(lambda: "ok", name="fine")
    outcome = await run([fine], Call("fine"), middleware=[forgetful])
    kind = type(given).__name__
    assert results(outcome) == [(f"middleware forgetful returned {kind}: it is a ToolOutput or a str", True)]
    assert outcome.text == "done"


@spread
async def test_middleware_may_answer_instead_of_the_server(era: str) -> None:
    cache = {b'{"q":"a"}': "from the cache"}

    async def cached(call: ToolCall, following: Next) -> ToolOutput | str:
        return cache.get(call.args) or await following(call)

    server = serving([entry("search")], {"search": text("hit")}, era)
    async with imported(server, era) as tools:
        calls = (Call("search", b'{"q":"a"}', "1"), Call("search", b'{"q":"b"}', "2"))
        assert results(await run(tools, *calls, middleware=[cached])) == [("from the cache", False), ("hit", False)]
        assert len(server.requests("tools/call")) == 1


async def test_allow_is_asked_with_the_runs_context_and_refuses_nothing_without_a_permit() -> None:
    asked: list[CallContext] = []

    def permit(call: CallContext) -> bool:
        asked.append(call)
        return True

    fine = tool(lambda: "ok", name="fine")
    agent = Agent(Script(), tools=[fine], middleware=[allow(permit), allow(None)])
    assert (await agent.call_tool("fine", call_id="c")).text == "ok"
    await run([fine], Call("fine", id="1"), middleware=[allow(permit)])
    assert [(call.run_id == "", call.step, call.call_id, call.name) for call in asked] == [
        (True, 0, "c", "fine"),
        (False, 0, "1", "fine"),
    ]
    assert results(await run([fine], Call("fine"), middleware=[allow(None)])) == [("ok", False)]


def facts(record: logging.LogRecord) -> dict[str, Any]:
    found: dict[str, Any] = dict(record.__dict__["tool_call"])
    assert found.pop("dur") >= 0
    return found


async def test_audit_writes_one_line_a_call_and_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    def coded() -> str:
        raise ToolError("NOT_FOUND", "no such order", KeyError("row 5"))

    tools = [tool(lambda: "é", name="fine"), tool(coded), tool(lambda: "", require_approval(), name="gate")]
    calls = [Call("fine", id="1"), Call("coded", id="2"), Call("ghost", id="3"), Call("gate", id="4")]
    outcome = await run(tools, *calls, middleware=[audit()], parallelism=1)
    assert results(outcome) == [
        ("é", False),
        ("NOT_FOUND: no such order", True),
        ('NO_SUCH_TOOL: no tool named "ghost"', True),
    ]
    shared = {"run": outcome.id, "step": 0}
    assert [facts(record) for record in caplog.records] == [
        {**shared, "call": "1", "tool": "fine", "result_bytes": 2},
        {**shared, "call": "2", "tool": "coded", "err": "NOT_FOUND: no such order", "cause": "'row 5'"},
        {**shared, "call": "3", "tool": "ghost", "err": 'NO_SUCH_TOOL: no tool named "ghost"'},
        {**shared, "call": "4", "tool": "gate", "pending": True},
    ]
    line = caplog.records[0]
    assert (line.levelname, line.name) == ("INFO", "toolwire.audit")
    assert line.message.startswith(f"tool call run={outcome.id} step=0 call=1 tool=fine result_bytes=2 dur=")


async def test_audit_writes_to_the_logger_that_it_is_given(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    await run([tool(lambda: "ok", name="fine")], Call("fine"), middleware=[audit(logging.getLogger("mine"))])
    assert [record.name for record in caplog.records] == ["mine"]


@spread
async def test_map_errors_leaves_what_a_server_or_a_tool_said_to_the_model(era: str) -> None:
    def crash() -> str:
        raise RuntimeError("password=hunter2")

    def refuse() -> str:
        raise ToolError("DENIED", "not yours")

    answers = {"limited": text("try again in 30s", is_error=True), "broken": error(-32000, "away")}
    async with imported(serving([entry("limited"), entry("broken")], answers, era), era) as tools:
        names = ("crash", "refuse", "limited", "broken", "ghost")
        calls = [Call(name, id=name) for name in names]
        outcome = await run([*tools, tool(crash), tool(refuse)], *calls, middleware=[map_errors()], parallelism=9)
    assert [said for said, _ in results(outcome)] == [
        'INTERNAL: tool "crash" failed',
        "DENIED: not yours",
        "try again in 30s",
        "mcp: away",
        'NO_SUCH_TOOL: no tool named "ghost"',
    ]


async def test_map_errors_rewrites_by_a_function_that_may_keep_the_error() -> None:
    def crash(kind: str) -> str:
        raise {"a": ValueError, "b": KeyError}[kind](kind)

    def rewrite(call: ToolCall, failure: Exception) -> Exception | None:
        return ToolError("BAD", f"{call.name}: {failure}") if isinstance(failure, ValueError) else None

    calls = [Call("crash", b'{"kind":"a"}', "1"), Call("crash", b'{"kind":"b"}', "2")]
    outcome = await run([tool(crash)], *calls, middleware=[map_errors(rewrite)])
    assert results(outcome) == [("BAD: crash: a", True), ("'b'", True)]


async def test_map_errors_leaves_approvals_alone() -> None:
    gate = tool(lambda: "", require_approval(), name="gate")
    outcome = await run([gate], Call("gate", id="g"), middleware=[map_errors()])
    assert [call.id for call in outcome.pending] == ["g"]


async def test_arguments_given_as_text_or_as_a_mapping_reach_middleware_as_bytes() -> None:
    seen: list[bytes] = []

    async def spy(call: ToolCall, following: Next) -> ToolOutput:
        seen.append(call.args)
        return await following(call)

    agent = Agent(Script(), tools=[tool(lambda q="": q, name="echo")], middleware=[spy])
    for args in ('{"q": "1"}', b'{"q": "1"}', {"q": "1"}, None):
        await agent.call_tool("echo", args)  # type: ignore[arg-type]  # mypy joins the four to object
    assert seen == [b'{"q": "1"}', b'{"q": "1"}', b'{"q":"1"}', b"{}"]
