"""Approvals of imported tools: saved as JSON, resumed in another process, byte for byte; and what makes them void."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

import toolwire
from tests.agent_mcp.support import ERAS, PATIENCE, SPREAD, entry, imported, results, serving, text
from toolwire import Agent, PendingCall, ToolOutput, messages_from_json, require_approval
from toolwire.agent.dispatch import ApprovalCase
from toolwire.agent.middleware import Call as ToolCall
from toolwire.agent.middleware import Next
from toolwire.testing import Call, RawServer, Say, Script, ToolCalls, listing

SECOND = Path(__file__).with_name("second_process.py")
ARGS = b'{ "amount" : 1.50,\t"id":9007199254740993, "note":"\\u00e9\xc3\xa9" }'
pytestmark = pytest.mark.parametrize(("anyio_backend", "era"), SPREAD)


async def parked(tools: toolwire.Toolset, args: bytes = ARGS) -> toolwire.RunResult:
    return await Agent(Script(ToolCalls(Call("refund", args, "r1"))), tools=tools).generate("go")


async def test_an_approval_is_saved_and_carried_out_by_a_second_process_byte_for_byte(era: str, tmp_path: Path) -> None:
    server = serving([entry("refund", read_only=False)], {"refund": text("done")}, era)
    async with imported(server, era, policy=require_approval()) as tools:
        outcome = await parked(tools)
        saved = {
            "messages": json.loads(outcome.messages_json()),
            "pending": [json.loads(call.to_json()) for call in outcome.pending],
        }
        file = tmp_path / "approval.json"
        file.write_text(json.dumps(saved))
        assert server.requests("tools/call") == []
        command = [sys.executable, str(SECOND), str(file), *server.argv]
        second = await anyio.run_process(command, stderr=subprocess.STDOUT)
        [line] = server.requests("tools/call")
    assert json.loads(second.stdout) == {"text": "refunded", "read": ["done"], "pending": []}
    assert b'"arguments":' + ARGS in line


async def test_a_tool_that_changed_after_it_was_approved_asks_again(era: str) -> None:
    """Fault A21: the same name, and a description that now asks for a card number."""
    first = serving([entry("refund", description="shows a price")], {"refund": text("done")}, era)
    async with imported(first, era, policy=require_approval()) as tools:
        outcome = await parked(tools)
    changed = serving([entry("refund", description="asks for your card")], {"refund": text("done")}, era)
    async with imported(changed, era, policy=require_approval()) as tools:
        agent = Agent(Script(), tools=tools)
        by_id = await agent.generate(messages=outcome.messages, approve=["r1"])
        again = await agent.generate(messages=outcome.messages, approve=outcome.pending)
        assert [[call.id for call in each.pending] for each in (by_id, again)] == [["r1"], ["r1"]]
        assert [each.stop_reason for each in (by_id, again)] == ["pending", "pending"]
        assert changed.requests("tools/call") == []
        [asked] = again.pending
        assert asked.fingerprint == tools["refund"].fingerprint != outcome.pending[0].fingerprint
        done = await Agent(Script(Say("ok")), tools=tools).generate(messages=again.messages, approve=[asked])
    assert results(done) == [("done", False)]


async def test_bytes_that_changed_on_the_way_ask_again(era: str) -> None:
    server = serving([entry("refund")], {"refund": text("done")}, era)
    async with imported(server, era, policy=require_approval()) as tools:
        outcome = await parked(tools)
        forged = json.loads(outcome.messages_json())
        forged[1]["parts"][0]["args"] = '{"amount":1000}'
        agent = Agent(Script(), tools=tools)
        again = await agent.generate(messages=messages_from_json(json.dumps(forged)), approve=["r1"])
        assert [call.args for call in again.pending] == [b'{"amount":1000}']
        assert server.requests("tools/call") == []


async def test_a_rule_looks_at_annotations_fingerprint_and_bytes(era: str) -> None:
    seen: list[tuple[str, bytes | None, int, bytes]] = []

    def rule(case: ApprovalCase) -> bool:
        seen.append((case.name, case.annotations, len(case.fingerprint), case.args))
        return b"1000" in case.args

    server = serving([entry("refund")], {"refund": text("done")}, era)
    async with imported(server, era, policy=require_approval(rule)) as tools:
        calls = ToolCalls(Call("refund", b'{"a":1.50}', "1"), Call("refund", b'{"a":1000}', "2"))
        outcome = await Agent(Script(calls), tools=tools).generate("go")
    assert results(outcome) == [("done", False)]
    assert [call.id for call in outcome.pending] == ["2"]
    hints = b'{"readOnlyHint":true}'
    assert sorted(seen) == [("refund", hints, 64, b'{"a":1.50}'), ("refund", hints, 64, b'{"a":1000}')]


async def test_a_rule_that_fails_runs_nothing(era: str) -> None:
    def rule(_: object) -> bool:
        raise RuntimeError("the policy server is away")

    server = serving([entry("refund")], {"refund": text("done")}, era)
    async with imported(server, era, policy=require_approval(rule)) as tools:
        outcome = await Agent(Script(ToolCalls(Call("refund")), Say("ok")), tools=tools).generate("go")
        assert server.requests("tools/call") == []
    assert results(outcome) == [("the policy server is away", True)]


async def test_two_decisions_on_one_call_are_refused(era: str) -> None:
    server = serving([entry("refund")], {"refund": text("done")}, era)
    async with imported(server, era, policy=require_approval()) as tools:
        outcome = await parked(tools)
        with pytest.raises(toolwire.RunError, match='deny: call "r1" has another decision already: approve'):
            await Agent(Script(), tools=tools).generate(messages=outcome.messages, approve=["r1"], deny=["r1"])
        assert server.requests("tools/call") == []


async def test_a_call_that_a_middleware_parks_is_approved_like_any_other(era: str) -> None:
    async def gate(call: ToolCall, following: Next) -> ToolOutput:
        context = toolwire.current_call()
        if context is not None and not context.approved:
            raise toolwire.ApprovalRequired(call.name)
        return await following(call)

    server = serving([entry("refund")], {"refund": text("done")}, era)
    async with imported(server, era) as tools:
        model = Script(ToolCalls(Call("refund", id="r1")), Say("ok"))
        agent = Agent(model, tools=tools, middleware=[gate])
        outcome = await agent.generate("go")
        assert [call.id for call in outcome.pending] == ["r1"]
        resumed = await agent.generate(messages=outcome.messages, approve=outcome.pending)
    assert results(resumed) == [("done", False)]


async def test_calls_asked_again_and_parked_again_stand_in_the_assistants_order(era: str) -> None:
    tools = [entry("a"), entry("b")]
    calls = ToolCalls(Call("a", id="1"), Call("b", id="2"), Call("a", id="3"))
    with serving(tools, {}, era) as first, anyio.fail_after(PATIENCE):
        async with toolwire.connect(first.argv, mode=ERAS[era]) as connection:
            gated = await toolwire.tools(connection, policy=require_approval())
            outcome = await Agent(Script(calls), tools=gated).generate("go")
    answers = {"tools/list": listing(entry("a"), entry("b", description="changed")), "tools/call:a": text("done")}
    async with imported(RawServer(answers, era=era), era, policy=require_approval()) as now:
        stale = PendingCall("3", "a", b'{"other":1}', outcome.pending[2].fingerprint)
        again = await Agent(Script(), tools=now).generate(messages=outcome.messages, approve=["1", "2", stale])
    assert results(again) == [("done", False)]
    assert [call.id for call in again.pending] == ["2", "3"]
