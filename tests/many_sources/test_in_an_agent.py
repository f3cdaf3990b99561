"""Discovered tools in an agent: the many-sources texts, concurrency, a call that asks for input (design 4.3)."""

import json
from typing import Any

import pytest

from tests.bridge.raw import ERAS, NEW, entry
from tests.many_sources.support import discovered, in_process
from tests.many_sources.test_input_round_rows import ASKING, NEGOTIATED
from toolwire import Agent, Overlap, PendingCall, Tool, ToolFailure, guard, waves
from toolwire.testing import Call, Say, Script, ToolCalls, result

TEXT = b'{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}'


def results(run: Any) -> list[tuple[str, bool]]:
    return [(part.content, part.is_error) for message in run.messages for part in message.results]


@pytest.mark.parametrize("era", ERAS)
async def test_texts_are_those_of_discovery(era: str) -> None:
    calls = [
        result(b'{"content":[],"isError":true}'),
        result(b'{"content":[{"type":"tool_use"}]}'),
        result(b'{"content":[{"type":"text","text":"hi"}],"structuredContent":{"a":1.50}}', verbatim=True),
    ]
    async with discovered(entry("t", TEXT), calls=calls, era=era) as (server, tools):
        args = [b"{}", b'{"text":"a"}', b'{"text":"b"}', b'{"text":"c"}']
        script = Script(*[ToolCalls(Call("src/t", given, str(n))) for n, given in enumerate(args)], Say("end"))
        run = await Agent(script, tools=tools).generate("go")
        assert len(server.requests("tools/call")) == 3
    assert results(run) == [
        ('toolwire: invalid invocation: arguments: toolwire: validate value: field "text": required', True),
        ('mcp: tool "t" reported failure', True),
        ("mcp: tool content[0]: mcp: unsupported content tool_use", True),
        ('{"a":1.50}', False),
    ]


async def test_a_question_waits_on_pending_and_is_resolved_by_its_continuation() -> None:
    """Request K10: the question is saved with the run, and the call goes on where it stood."""
    script = Script(ToolCalls(Call("src/question", b'{"topic":"city"}', "c1")), Say("end"))
    async with in_process(ASKING, NEW, connecting=NEGOTIATED) as (_, tools):
        agent = Agent(script, tools=tools)
        first = await agent.generate("go")
        (pending,) = first.pending
        assert (first.stop_reason, pending.kind, pending.id) == ("pending", "input", "c1")
        saved = PendingCall.from_json(pending.to_json())
        assert json.loads(saved.request.prompt)["message"] == "Which city?"
        name = saved.request.answer(b'{"action":"accept","content":{"name":"Oslo"}}')
        second = await agent.generate(messages=first.messages, resolve={"c1": name})
        (pending,) = second.pending
        assert json.loads(pending.request.prompt)["message"] == "Sure?"
        sure = pending.request.answer(b'{"action":"accept","content":{"sure":true}}')
        last = await agent.generate(messages=second.messages, resolve={"c1": sure})
    assert results(last) == [("city {'sure': True} second:Oslo", False)]
    assert last.text == "end"


async def test_a_concurrency_policy_decides_what_overlaps() -> None:
    def policy(source: str, remote: str, annotations: dict[str, Any], invocation: Any) -> tuple[str, bool]:
        del source, remote, annotations
        key = json.loads(invocation.arguments)["text"]
        return key, key != "alone"

    async with discovered(entry("t", TEXT), concurrency=policy) as (_, tools):
        agent = Agent(Script(Say("end")), tools=tools)
        given = ["a", "b", "a", "alone", "c"]
        plans = [agent.overlap(tools[0], _call(json.dumps({"text": text}).encode())) for text in given]
        assert plans[0] == Overlap(key="a")
        assert waves(plans) == [[0, 1], [2], [3], [4]]
        # What is not admitted is never sent, so it stands in nobody's way.
        assert not agent.overlap(tools[0], _call(b"{}")).exclusive


def _call(args: bytes) -> Any:
    from toolwire.contract.message import ToolCallPart  # noqa: PLC0415 - only here

    return ToolCallPart("1", "src/t", args)


async def nobody(name: str, invocation: Any) -> bool:
    del name, invocation
    return False


@pytest.mark.parametrize("strict", [False, True])
async def test_a_guard_holds_in_an_agent_and_on_a_plain_call(strict: bool) -> None:
    ran: list[bytes] = []

    def handler(arguments: bytes) -> str:
        ran.append(arguments)
        return "ran"

    tool = Tool.raw("t", "", None, handler, guard(nobody))
    run = await Agent(Script(ToolCalls(Call("t", b"{}", "1")), Say("end")), tools=[tool], strict_input=strict).generate(
        "go"
    )
    refusal = 'error: tool "t" is not authorized'
    assert results(run) == [(refusal, True)]
    for call in (
        tool.call(b"{}"),
        tool.call({"a": 1}),
        tool.call(tool.prepare(b"{}", call_id="1")),
        tool.binding.call(tool.prepare(call_id="1")),
    ):
        with pytest.raises(ToolFailure) as caught:
            await call
        assert (str(caught.value), caught.value.kind) == (refusal, "rejected")
    assert ran == []
