"""A whole agent served, on every way to it: rows F1 to F20 of the reference (spec one-session), named by row."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.agent_mcp.reach import WAYS, Way
from toolwire import (
    Agent,
    RegistrationError,
    Tool,
    ToolOutput,
    allow,
    current_call,
    require_approval,
    serve_agent,
    tool,
)
from toolwire.agent.middleware import Call as ToolCall
from toolwire.agent.middleware import Next
from toolwire.agent.subagent import PROMPT_SCHEMA
from toolwire.testing import Call, Fail, Say, Script, ToolCalls

every_way = pytest.mark.parametrize("way", WAYS, ids=str)
PROMPT = b'{"prompt":"go"}'


@dataclass
class Answer:
    answer: str


@dataclass
class Order:
    id: str
    status: str


@tool
def note() -> str:
    """Takes a note."""
    return "noted"


@tool
def lookup_order(order_id: str) -> Order:
    """Finds an order."""
    return Order(order_id, "shipped")


def served(way: Way, *tools: Tool, script: Script | None = None, name: str = "research", **options: Any) -> Any:
    server = way.make()
    serve_agent(server, Agent(script or Script(Say("research done")), name=name, tools=tools, **options), "Researches.")
    return server


@every_way
async def test_f1_the_agent_tool_runs_the_agent(way: Way) -> None:
    script = Script(Say("research done"))
    async with way.to(served(way, script=script)) as client:
        found = await client.call("research", b'{"prompt":"find it"}')
    assert [block["text"] for block in found["content"]] == ["research done"]
    assert "structuredContent" not in found
    assert [(message.role, message.text) for message in script.requests[0].messages] == [("user", "find it")]


@every_way
async def test_f2_the_agent_and_its_tools_are_listed(way: Way) -> None:
    async with way.to(served(way, note)) as client:
        entries = await client.entries()
    assert entries.keys() == {"research", "note"}
    assert entries["research"]["description"] == "Researches."
    assert entries["research"]["inputSchema"] == json.loads(PROMPT_SCHEMA)
    assert "outputSchema" not in entries["research"]


@every_way
async def test_f3_a_tool_of_the_agent_goes_through_its_middleware(way: Way) -> None:
    seen: list[str] = []

    async def spy(call: ToolCall, following: Next) -> ToolOutput:
        seen.append(call.name)
        return await following(call)

    async with way.to(served(way, note, middleware=[spy])) as client:
        assert await client.text("note") == "noted"
    assert seen == ["note"]


@every_way
async def test_f4_a_gated_tool_is_answered_and_not_run(way: Way) -> None:
    ran: list[str] = []

    @tool(require_approval())
    def refund() -> str:
        ran.append("refund")
        return ""

    async with way.to(served(way, refund)) as client:
        assert await client.error("refund") == 'toolwire: tool call requires approval: tool "refund"'
    assert ran == []


@every_way
@pytest.mark.parametrize("raw", [b'{"answer":"yes"}', b'{ "answer": "yes" }'], ids=["f5", "f6-spacing"])
async def test_f5_f6_an_agent_with_an_output_type_gives_the_submitted_bytes(way: Way, raw: bytes) -> None:
    script = Script(ToolCalls(Call("submit_output", raw)))
    async with way.to(served(way, note, script=script, output=Answer)) as client:
        assert await client.text("research", PROMPT) == raw.decode()


@every_way
async def test_submit_output_is_not_exposed(way: Way) -> None:
    """Settled in design 4.4: the reference exposes it, and a call of it does nothing."""
    async with way.to(served(way, note, output=Answer)) as client:
        assert (await client.entries()).keys() == {"research", "note"}


@every_way
async def test_f7_a_structured_result_is_text_and_value(way: Way) -> None:
    async with way.to(served(way, lookup_order)) as client:
        found = await client.call("lookup_order", b'{"order_id":"1234"}')
    assert found["content"] == [{"type": "text", "text": '{"id":"1234","status":"shipped"}'}]
    assert found["structuredContent"] == {"id": "1234", "status": "shipped"}


@every_way
async def test_f8_a_promised_structure_that_is_no_json_is_an_error(way: Way) -> None:
    badge = Tool.raw("badge", "", None, lambda _: "badge granted", output_schema=b'{"type":"object"}')
    async with way.to(served(way, badge)) as client:
        assert await client.error("badge") == (
            'tool "badge" advertised an output schema, so its result must be JSON; got non-JSON text'
        )


@every_way
async def test_f8_middleware_that_gives_text_breaks_the_promise_too(way: Way) -> None:
    async def plain(_call: ToolCall, _following: Next) -> str:
        return "no order here"

    async with way.to(served(way, lookup_order, middleware=[plain])) as client:
        said = await client.error("lookup_order", b'{"order_id":"1"}')
    assert "must be JSON" in said


@pytest.mark.parametrize("way", WAYS[::4], ids=str)
def test_f9_f10_f11_what_cannot_be_served_is_refused_and_nothing_is_added(way: Way) -> None:
    server = way.make()
    unnamed = Agent(Script(), tools=[note])
    with pytest.raises(
        RegistrationError, match="the agent has no name; set one with name= — the exposed tool is named"
    ):
        serve_agent(server, unnamed, "")
    with pytest.raises(RegistrationError, match="serve_agent called with a nil agent"):
        serve_agent(server, None, "")  # type: ignore[arg-type]  # what is refused
    with pytest.raises(RegistrationError) as caught:
        serve_agent(server, Agent(Script(), name="note", tools=[note]), "")
    assert str(caught.value) == ('toolwire: serve_agent: tool "note" collides with the agent tool or an earlier tool')
    serve_agent(server, Agent(Script(), name="research", tools=[note]), "")
    with pytest.raises(RegistrationError, match='the server has a tool named "note" already'):
        serve_agent(server, Agent(Script(), name="other", tools=[note]), "")


@every_way
async def test_f12_a_denial_is_an_error_result(way: Way) -> None:
    rm = tool(lambda: "gone", name="rm")
    async with way.to(served(way, rm, middleware=[allow(lambda call: call.name != "rm")])) as client:
        assert await client.error("rm") == 'DENIED: tool "rm" is not allowed'


@every_way
async def test_f13_the_agents_strict_input_holds(way: Way) -> None:
    async with way.to(served(way, lookup_order, strict_input=True)) as client:
        assert await client.error("lookup_order", b'{"order_id":"1","x":2}') == (
            'INVALID_INPUT: tool "lookup_order": unknown field "x": not in the schema'
        )


@every_way
async def test_f14_call_ids_count_per_serving(way: Way) -> None:
    seen: list[tuple[str, str]] = []

    async def spy(call: ToolCall, following: Next) -> ToolOutput:
        context = current_call()
        seen.append((call.id, context.call_id if context else ""))
        return await following(call)

    server = way.make()
    other = tool(lambda: "", name="other")
    serve_agent(server, Agent(Script(Say("x")), name="one", tools=[note], middleware=[spy]), "")
    serve_agent(server, Agent(Script(), name="two", tools=[other], middleware=[spy]), "")
    async with way.to(server) as client:
        await client.text("note")
        await client.text("one", PROMPT)
        await client.text("note")
        await client.text("other")
    assert seen == [("mcp_call_1",) * 2, ("mcp_call_2",) * 2, ("mcp_call_1",) * 2]


@every_way
async def test_f15_f18_a_failed_run_is_an_error_result(way: Way) -> None:
    head = 'SUBAGENT_FAILED: agent "research" failed at step 0: model stream: '
    async with way.to(served(way, script=Script(Fail("provider down")))) as client:
        assert await client.error("research", PROMPT) == head + "provider down"
        assert await client.error("research", PROMPT) == (
            head + "wefttest: model script exhausted (agent made more model calls than the script provides)"
        )


@every_way
async def test_f16_a_run_that_parks_a_call_is_an_error_result(way: Way) -> None:
    gate = tool(lambda: "", require_approval(), name="gate")
    async with way.to(served(way, gate, script=Script(ToolCalls(Call("gate"))), name="gated")) as client:
        assert await client.error("gated", PROMPT) == (
            'SUBAGENT_PENDING: agent "gated" ended awaiting approval of 1 call(s)'
        )


@every_way
async def test_f17_a_prompt_of_the_wrong_type_is_refused_before_the_run(way: Way) -> None:
    script = Script()
    async with way.to(served(way, script=script)) as client:
        assert await client.error("research", b'{"prompt":5}') == (
            'INVALID_INPUT: tool "research": field "prompt": expected string, got number'
        )
    assert script.requests == []


@every_way
async def test_f19_a_panic_is_an_error_result_and_the_server_lives(way: Way) -> None:
    @tool
    async def x() -> str:
        raise SystemExit("bang")

    async with way.to(served(way, x, note)) as client:
        assert await client.error("x") == 'tool "x" panicked: bang'
        assert await client.text("note") == "noted"


@every_way
async def test_f20_the_example_server(way: Way) -> None:
    said = "Order 1234 shipped and is on its way."
    script = Script(ToolCalls(Call("lookup_order", b'{"order_id":"1234"}')), Say(said))
    async with way.to(served(way, lookup_order, script=script, name="support")) as client:
        assert await client.text("support", b'{"prompt":"Where is order 1234?"}') == said
        found = await client.call("lookup_order", b'{"order_id":"5678"}')
    assert found["structuredContent"] == {"id": "5678", "status": "shipped"}


@every_way
async def test_a_listed_tool_is_dispatched_to_what_was_listed_whatever_a_tool_source_says(way: Way) -> None:
    """Settled in design 4.4: the reference answers NO_SUCH_TOOL, or runs another tool of that name."""
    impostor = tool(lambda: "from the source", name="note")
    async with way.to(served(way, note, tool_source=lambda: [impostor])) as client:
        assert await client.text("note") == "noted"


@every_way
async def test_timeout_and_cap_of_the_agent_do_not_apply(way: Way) -> None:
    big = tool(lambda: "x" * 100, name="big")
    async with way.to(served(way, big, max_result_bytes=10, timeout=60)) as client:
        assert await client.text("big") == "x" * 100


class Foreign:
    """An agent of another framework: `ServableAgent`, structurally."""

    name = "foreign"

    def __init__(self, run: Callable[[str, Any], Awaitable[str]]) -> None:
        self.tools = [note]
        self.calls: list[tuple[str, bytes, str | None]] = []
        self._run = run

    async def run(self, prompt: str, *, on_event: Callable[[Any], object] | None = None) -> str:
        return await self._run(prompt, on_event)

    async def call_tool(self, name: str, args: Any, *, call_id: str | None = None) -> ToolOutput:
        self.calls.append((name, args, call_id))
        return await note.call(args)


@every_way
async def test_an_agent_of_another_framework_is_served(way: Way) -> None:
    async def echo(prompt: str, _: Any) -> str:
        return f"heard: {prompt}"

    agent = Foreign(echo)
    server = way.make()
    serve_agent(server, agent, "Not ours.")
    async with way.to(server) as client:
        assert (await client.entries())["foreign"]["inputSchema"] == json.loads(PROMPT_SCHEMA)
        assert await client.text("foreign", b'{"prompt":"hello"}') == "heard: hello"
        assert await client.text("foreign") == "heard: "
        assert await client.text("note") == "noted"
        assert await client.error("foreign", b'{"prompt":5}') == (
            'INVALID_INPUT: tool "foreign": field "prompt": expected string, got number'
        )
    assert agent.calls == [("note", b"{}", "mcp_call_1")]


@every_way
@pytest.mark.parametrize("failure", [RuntimeError("no credits"), ValueError()], ids=["said", "unsaid"])
async def test_a_foreign_agents_failure_reads_as_a_subagents(way: Way, failure: Exception) -> None:
    async def fail(_: str, __: Any) -> str:
        raise failure

    server = way.make()
    serve_agent(server, Foreign(fail), "")
    async with way.to(server) as client:
        cause = str(failure) or "ValueError"
        assert await client.error("foreign", PROMPT) == f'SUBAGENT_FAILED: agent "foreign" failed: {cause}'


@every_way
async def test_a_foreign_agent_may_answer_a_call_with_a_text_and_what_is_no_answer_is_a_failure(way: Way) -> None:
    async def nothing(_: str, __: Any) -> Any:
        return None

    class Loose(Foreign):
        async def call_tool(self, name: str, args: Any, *, call_id: str | None = None) -> Any:
            return f"{name} said" if args == b"{}" else 5

    server = way.make()
    serve_agent(server, Loose(nothing), "")
    async with way.to(server) as client:
        assert await client.text("note") == "note said"
        assert await client.error("note", b'{"a":1}') == "call_tool returned int: it is a ToolOutput or a str"
        failed = 'SUBAGENT_FAILED: agent "foreign" failed: run returned NoneType: it is a str'
        assert await client.error("foreign", PROMPT) == failed
