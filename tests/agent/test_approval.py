"""Approvals, tool sources and construction: rows G22 to G29 of the reference's table, and what binds an approval."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from toolwire import (
    Agent,
    ApprovalRequired,
    Message,
    PendingCall,
    RunError,
    RunResult,
    Tool,
    ToolError,
    ToolFailure,
    ToolOutput,
    ToolwireError,
    current_call,
    messages_from_json,
    require_approval,
    tool,
)
from toolwire.agent.dispatch import ApprovalCase
from toolwire.agent.middleware import Call as ToolCall
from toolwire.agent.middleware import Next
from toolwire.testing import Call, Say, Script, ToolCalls

ran: list[tuple[str, bytes]] = []


@pytest.fixture(autouse=True)
def _forget() -> None:
    ran.clear()


def gated(name: str = "refund", rule: Callable[[ApprovalCase], bool] | None = None) -> Tool:
    async def body(args: bytes) -> str:
        ran.append((name, args))
        return f"{name} ran"

    return Tool.raw(name, "", None, body, require_approval(rule))


lookup = tool(lambda: "found", name="lookup")


def contents(result: RunResult) -> list[str]:
    return [part.content for message in result.messages for part in message.results]


async def parked() -> tuple[Agent, RunResult]:
    calls = [Call("refund", b'{ "id" : 1.50 }', "r1"), Call("lookup", b"{}", "l1"), Call("refund", b"{}", "r2")]
    agent = Agent(Script(ToolCalls(*calls, Call("refund", b"{}", "r3")), Say("bye")), tools=[gated(), lookup])
    return agent, await agent.generate("go")


async def test_g22_gated_calls_are_parked_and_the_others_run() -> None:
    _, result = await parked()
    assert result.stop_reason == "pending"
    assert [call.id for call in result.pending] == ["r1", "r2", "r3"]
    assert contents(result) == ["found"]
    assert ran == []


async def test_g23_decisions_complete_the_step_in_the_assistants_order() -> None:
    agent, result = await parked()
    resumed = await agent.generate(messages=result.messages, approve=["r1"], deny={"r2": "customer withdrew"})
    assert contents(resumed) == ["refund ran", "found", "DENIED: customer withdrew", "DENIED: no decision"]
    assert ran == [("refund", b'{ "id" : 1.50 }')]
    assert resumed.text == "bye"


async def test_an_approval_goes_through_json_in_another_process_byte_for_byte() -> None:
    agent, result = await parked()
    messages = messages_from_json(result.messages_json())
    pending = PendingCall.from_json(result.pending[0].to_json())
    assert (tuple(messages), pending) == (result.messages, result.pending[0])
    await agent.generate(messages=messages, approve=[pending])
    assert ran == [("refund", b'{ "id" : 1.50 }')]


async def test_a21_a_tool_that_changed_since_it_was_approved_asks_again() -> None:
    _, result = await parked()
    changed = Tool.raw("refund", "now asks for a card number", None, lambda _: "stolen", require_approval())
    agent = Agent(Script(Say("never")), tools=[changed, lookup])
    again = await agent.generate(messages=result.messages, approve=["r1"], deny=["r2", "r3"])
    assert [call.id for call in again.pending] == ["r1"]
    assert again.stop_reason == "pending"


async def test_what_was_approved_is_what_is_sent() -> None:
    agent, result = await parked()
    shown = PendingCall("r1", "refund", b'{"id":2}', result.pending[0].fingerprint)
    again = await agent.generate(messages=result.messages, approve=[shown], deny=["r2", "r3"])
    assert [call.id for call in again.pending] == ["r1"]
    assert ran == []


async def test_what_was_approved_is_what_is_sent_where_a_middleware_changes_it() -> None:
    async def stamp(call: ToolCall, following: Next) -> ToolOutput:
        return await following(call.with_args(stamped[-1]))

    stamped = [b'{"id":7}']
    asked = b'{"id":1}'
    agent = Agent(Script(ToolCalls(Call("refund", asked, "r1")), Say("bye")), tools=[gated()], middleware=[stamp])
    result = await agent.generate("go")
    assert [call.args for call in result.pending] == [b'{"id":7}']
    stamped.append(b'{"id":8}')
    again = result
    for approval in ("r1", result.pending[0], PendingCall("r1", "refund", asked, result.pending[0].fingerprint)):
        again = await agent.generate(messages=result.messages, approve=[approval])
        assert ([call.args for call in again.pending], ran) == ([b'{"id":8}'], [])
    saved = messages_from_json(again.messages_json())
    resumed = await agent.generate(messages=saved, approve=[PendingCall.from_json(again.pending[0].to_json())])
    assert (resumed.text, ran) == ("bye", [("refund", b'{"id":8}')])


async def test_an_approval_by_id_of_a_transcript_without_marks_is_of_the_bytes_that_stand_in_it() -> None:
    async def stamp(call: ToolCall, following: Next) -> ToolOutput:
        return await following(call.with_args(b'{"id":7}'))

    _, result = await parked()
    messages = [Message(message.role, message.parts).with_marks({}) for message in result.messages]
    agent = Agent(Script(Say("bye")), tools=[gated(), lookup], middleware=[stamp])
    again = await agent.generate(messages=messages, approve=["r1"], deny=["r2", "r3"])
    assert ([call.args for call in again.pending], ran) == ([b'{"id":7}'], [])
    plain = Agent(Script(Say("bye")), tools=[gated(), lookup])
    await plain.generate(messages=messages, approve="r1", deny=["r2", "r3"])
    assert ran == [("refund", b'{ "id" : 1.50 }')]


async def test_a_resolved_call_may_be_a_failure() -> None:
    agent, result = await parked()
    given = {"r1": ToolError("REFUSED", "by the bank"), "r2": ToolFailure("broken", output=ToolOutput("half"))}
    resumed = await agent.generate(messages=result.messages, resolve=given, deny="r3")
    parts = [part for message in resumed.messages for part in message.results if part.name == "refund"]
    assert [(part.content, part.is_error) for part in parts] == [
        ("REFUSED: by the bank", True),
        ("broken", True),
        ("DENIED: no reason given", True),
    ]


async def test_a_resolved_call_takes_the_given_text_and_its_cap() -> None:
    agent, result = await parked()
    resumed = await agent.generate(messages=result.messages, resolve={"r1": "done by hand"}, deny=["r2", "r3"])
    assert contents(resumed)[0] == "done by hand"


async def test_a_decision_on_a_call_that_is_not_pending_fails_the_run_at_step_0() -> None:
    agent, result = await parked()
    with pytest.raises(RunError) as caught:
        await agent.generate(messages=result.messages, resolve={"nope": "x"})
    text = 'toolwire: run failed at step 0: resolve: call "nope" is not pending in this run\'s transcript'
    assert str(caught.value) == text


async def test_a_dangling_call_without_any_decision_is_repaired() -> None:
    agent, result = await parked()
    resumed = await agent.generate("and now?", messages=result.messages)
    assert contents(resumed)[0] == "no result recorded: the call was interrupted"
    assert [message.role for message in resumed.messages] == ["user", "assistant", "tool", "user", "assistant"]


async def test_k3_an_approval_rule_looks_at_the_call() -> None:
    rule = gated(rule=lambda case: b"big" in case.args and len(case.fingerprint) == 64)
    agent = Agent(Script(ToolCalls(Call("refund", b'{"s":1}'), Call("refund", b'{"big":1}', "b"))), tools=[rule])
    result = await agent.generate("go")
    assert ([call.id for call in result.pending], contents(result)) == (["b"], ["refund ran"])


async def test_g24_a_call_outside_the_loop_raises_its_failure() -> None:
    @tool
    def typed(q: str = "") -> str:
        return q

    agent = Agent(Script(), tools=[gated(), typed], strict_input=True)
    with pytest.raises(ToolError, match=r'^NO_SUCH_TOOL: no tool named "ghost"$'):
        await agent.call_tool("ghost")
    with pytest.raises(ApprovalRequired, match=r'^toolwire: tool call requires approval: tool "refund"$'):
        await agent.call_tool("refund")
    with pytest.raises(ToolError, match=r'^INVALID_INPUT: tool "typed": unknown field "units": not in the schema$'):
        await agent.call_tool("typed", b'{"units":"C"}')


async def test_g25_a_call_inside_an_approved_call_inherits_no_approval() -> None:
    inner = gated("inner")
    seen: list[object] = []

    async def outer() -> str:
        seen.append(current_call())
        try:
            await agent.call_tool("inner")
        except ApprovalRequired as error:
            return str(error)
        return "ran"

    agent = Agent(
        Script(ToolCalls(Call("outer", b"{}", "o")), Say("x")), tools=[tool(outer, require_approval()), inner]
    )
    result = await agent.generate("go")
    resumed = await agent.generate(messages=result.messages, approve=["o"])
    assert contents(resumed) == ['toolwire: tool call requires approval: tool "inner"']
    assert getattr(seen[0], "approved", None) is True
    assert ran == []


async def test_g26_a_tool_source_is_asked_once_a_step() -> None:
    asked: list[int] = []
    mounted: list[Tool] = []

    @tool
    def one() -> str:
        mounted.append(tool(lambda: "two", name="two"))
        return "one"

    mounted.append(one)

    def source() -> list[Tool]:
        asked.append(len(mounted))
        return list(mounted)

    agent = Agent(Script(ToolCalls(Call("one")), ToolCalls(Call("two")), Say("x")), tool_source=source)
    result = await agent.generate("go")
    assert contents(result) == ["one", "two"]
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        (["dup", "dup"], 'toolwire: duplicate tool name from tool source: "dup"'),
        (["a", None], "toolwire: nil tool in tool source snapshot: entry 1"),
    ],
)
async def test_g27_a_broken_tool_source_fails_the_run(entries: Sequence[str | None], text: str) -> None:
    tools = cast("list[Tool]", [name and tool(lambda: "", name=name) for name in entries])
    with pytest.raises(RunError) as caught:
        await Agent(Script(Say("x")), tool_source=lambda: tools).generate("go")
    assert str(caught.value) == f"toolwire: run failed at step 0: {text}"


def test_g28_an_agent_refuses_two_tools_of_one_name_and_none() -> None:
    one = tool(lambda: "", name="x")
    with pytest.raises(ToolwireError) as caught:
        Agent(Script(), tools=[one, one])
    assert str(caught.value) == 'toolwire: duplicate tool name "x" (origins: local, local)'
    with pytest.raises(ToolwireError, match="nil tool"):
        Agent(Script(), tools=[None])  # type: ignore[list-item]  # the mistake that the test is about
    with pytest.raises(ToolwireError, match="nil Model"):
        Agent(None)  # type: ignore[arg-type]  # the mistake that the test is about


def test_g29_a_registered_tool_cannot_be_changed_from_outside() -> None:
    agent = Agent(Script(), tools=[lookup])
    with pytest.raises(AttributeError):
        agent.tools[0].name = "other"  # type: ignore[misc]  # the mistake that the test is about


@pytest.mark.parametrize(("listed", "kind"), [(None, "NoneType"), ("lookup", "str"), (5, "int")])
async def test_a_tool_source_that_gives_no_list_of_tools_fails_the_run_by_what_it_gave(listed: Any, kind: str) -> None:
    agent = Agent(Script(Say("never")), tool_source=lambda: listed)
    with pytest.raises(RunError) as caught:
        await agent.generate("go")
    text = f"toolwire: run failed at step 0: toolwire: the tool source gave {kind}, not a list of tools"
    assert str(caught.value) == text


async def test_a_tool_source_may_give_functions_as_the_agent_takes_them() -> None:
    def look() -> str:
        return "found"

    agent = Agent(Script(ToolCalls(Call("look")), Say("bye")), tool_source=lambda: iter([look]))
    assert contents(await agent.generate("go")) == ["found"]
