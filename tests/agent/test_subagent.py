"""Subagents, typed output, manifests and records: rows H1 to H13 of the reference's table, each named by its row."""

import hashlib
import json
from dataclasses import dataclass

import anyio
import pytest

from toolwire import (
    Agent,
    RunResult,
    Schema,
    Tool,
    ToolError,
    ToolOutput,
    ToolwireError,
    manifest,
    max_result_bytes,
    origin,
    output_of,
    replay,
    require_approval,
    sequential,
    subagent,
    timeout,
    tool,
    tools_record,
)
from toolwire.contract.local_tool import LocalDefinition
from toolwire.contract.policies import Settings
from toolwire.testing import Call, Fail, Say, Script, ToolCalls

PROMPT = b'{"prompt":"look"}'


@dataclass
class Verdict:
    approved: bool
    reason: str
    score: int = 0


def contents(result: RunResult) -> list[str]:
    return [part.content for message in result.messages for part in message.results]


async def through(child: Agent, args: bytes = PROMPT) -> str:
    parent = Agent(Script(ToolCalls(Call("research", args)), Say("x")), tools=[subagent("research", "d", child)])
    return contents(await parent.generate("go"))[0]


def test_h1_the_schema_of_a_subagent_is_pinned() -> None:
    made = subagent("research", "Researches.", Agent(Script()))
    assert made.input_schema.raw == (
        b'{"type":"object","properties":{"prompt":{"type":"string","description":"The task, stated in full: the agent '
        b'sees only this prompt, not the conversation."}},"required":["prompt"]}'
    )
    assert made.output_schema is None
    with pytest.raises(ToolwireError, match='Subagent "x" called with a nil agent'):
        subagent("x", "", None)  # type: ignore[arg-type]  # the mistake that the test is about


async def test_h2_a_subagents_text_is_the_result_and_its_usage_and_events_count() -> None:
    child = Agent(Script(Say("found: 3 orders")))
    parent = Agent(Script(ToolCalls(Call("research", PROMPT, "c1")), Say("x")), tools=[subagent("research", "", child)])
    events: list[tuple[str, str]] = []
    result = await parent.generate(
        "go",
        run_id="run",
        on_event=lambda event: events.append((event.kind, event.event.run_id if event.event else "")),
    )
    assert contents(result) == ["found: 3 orders"]
    assert (result.usage.total, result.steps[0].child_usage["c1"].total) == (45, 15)
    nested = [position for position, (kind, run_id) in enumerate(events) if (kind, run_id) == ("nested", "run/0/c1")]
    assert nested
    assert max(nested) < [kind for kind, _ in events].index("tool_finish")


@pytest.mark.parametrize("limit", [0.2, 60], ids=["by its deadline", "by a cancelled run"])
async def test_an_abandoned_child_tells_nothing_more_asks_nothing_more_and_what_it_used_counts(limit: float) -> None:
    began, left = anyio.Event(), anyio.Event()
    told: list[str] = []
    ended: list[RunResult] = []

    async def rude(_: bytes) -> str:
        began.set()
        with anyio.CancelScope(shield=True):
            await left.wait()
        return "at last"

    model = Script(ToolCalls(Call("rude")), Say("never asked for"))
    child = Agent(model, name="child", tools=[Tool.raw("rude", "", None, rude)])
    call = ToolCalls(Call("sub", b'{"prompt":"p"}', "k"))
    parent = Agent(Script(call, Say("done")), tools=[subagent("sub", "", child, timeout(limit))])

    async def run() -> None:
        ended.append(await parent.generate("go", on_event=lambda event: told.append(event.kind)))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await began.wait()
        if limit > 1:
            tasks.cancel_scope.cancel()
    for result in ended:
        assert contents(result) == ['tool "sub" timed out after 200ms']
        assert (result.usage.total, result.steps[0].child_usage["k"].total) == (45, 15)
    before = list(told)
    left.set()
    await anyio.wait_all_tasks_blocked()
    assert (told, len(model.requests), len(ended)) == (before, 1, 1 if limit < 1 else 0)


async def test_h3_a_subagent_runs_outside_a_loop() -> None:
    made = subagent("research", "", Agent(Script(Say("standalone"), Say("standalone"))))
    assert await made.invoke(PROMPT) == "standalone"
    assert (await Agent(Script(), tools=[made]).call_tool("research", PROMPT)).text == "standalone"


async def test_h4_h5_h6_a_typed_output_gives_the_submitted_bytes() -> None:
    raw = b'{ "approved": true, "reason": "ok", "score": 7 }'
    child = Agent(Script(ToolCalls(Call("submit_output", raw))), output=Verdict)
    assert await through(child) == raw.decode()
    assert await through(Agent(Script(ToolCalls(Call("submit_output", b""))), output=Verdict)) == ""
    assert await through(Agent(Script(Say("only talk")), output=Verdict)) == "only talk"
    run = await Agent(Script(ToolCalls(Call("submit_output", raw))), output=Verdict).generate("go")
    assert (run.stop_reason, output_of(run, Verdict)) == ("output_submitted", Verdict(True, "ok", 7))
    with pytest.raises(ToolwireError, match=r"^toolwire: run ended without a structured output$"):
        output_of(await Agent(Script(Say("talk")), output=Verdict).generate("go"), Verdict)


async def test_h7_a_cycle_is_seen_before_another_model_call() -> None:
    tools: list[Tool] = []
    model_a = Script(ToolCalls(Call("use_b", PROMPT)), Say("a"))
    a = Agent(model_a, tool_source=lambda: tools)
    model_b = Script(ToolCalls(Call("use_a", PROMPT)), Say("b"))
    b = Agent(model_b, tools=[subagent("use_a", "", a)])
    tools.append(subagent("use_b", "", b))
    await a.generate("go")
    assert len(model_a.requests) == 2
    heard = model_b.requests[1].messages[-1].results[0].content
    assert heard == 'SUBAGENT_CYCLE: agent "use_a" is already running in this call chain'


async def test_h8_a_wrong_submission_is_repaired_by_the_model() -> None:
    wrong, right = (b'{"approved":true,"reason":"x","score":%s}' % score for score in (b'"high"', b"3"))
    model = Script(ToolCalls(Call("submit_output", wrong)), ToolCalls(Call("submit_output", right)))
    result = await Agent(model, output=Verdict).generate("go")
    assert 'field "score": expected integer, got string' in contents(result)[0]
    assert (contents(result)[1], len(result.steps)) == ("recorded", 2)


async def test_f15_f16_a_childs_failure_and_its_pending_calls_are_texts() -> None:
    failed = await through(Agent(Script(Fail("provider down"))))
    assert failed == 'SUBAGENT_FAILED: agent "research" failed at step 0: model stream: provider down'
    gated = Agent(Script(ToolCalls(Call("g"))), tools=[tool(lambda: "", require_approval(), name="g")])
    assert await through(gated) == 'SUBAGENT_PENDING: agent "research" ended awaiting approval of 1 call(s)'
    assert await through(Agent(Script()), b'{"prompt":5}') == (
        'INVALID_INPUT: tool "research": field "prompt": expected string, got number'
    )


FOREIGN = b'{"properties": {"q": {"type": "string","maximum":1.50}}, "required": ["q"], "type": "object"}'


def imported() -> Tool:
    """A tool as an import makes it, without a server."""

    class Caller:
        async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
            raise ToolError("never", f"{tool.name} {arguments!r}")

    return Tool(
        "gh_search", LocalDefinition("gh_search", "Search.", FOREIGN), Settings("mcp", sequential=True), Caller()
    )


@pytest.mark.parametrize("text", ['\0{"evil":1}\0', '\0"', '"}],"x":[{', "\u2028\n\\u0000"])
def test_no_text_of_a_tool_is_anything_but_a_text_in_the_manifest(text: str) -> None:
    hostile = Tool.raw(text, text, b'{"type":"object","title":"\\u0000[1]\\u0000"}', lambda _: "")
    agent = Agent(Script(), name=text, instructions=text, tools=[hostile])
    described = json.loads(manifest(agent))["agents"][0]
    tool = described["tools"][0]
    assert [described["name"], described["instructions"], tool["name"], tool["description"]] == [text] * 4
    assert tool["input_schema"] == {"type": "object", "title": "\0[1]\0"}


def test_h9_h10_the_manifest_is_the_document_of_the_spec() -> None:
    agent = Agent(Script(), name="importer", instructions="Be brief.", tools=[imported()])
    assert (
        manifest(agent)
        == """{
  "toolwire": 1,
  "agents": [
    {
      "name": "importer",
      "model": {
        "provider": "toolwire",
        "name": "script"
      },
      "instructions": "Be brief.",
      "policy": {
        "parallelism": 4,
        "max_steps": 10,
        "max_result_bytes": 65536,
        "max_model_retries": 3
      },
      "tools": [
        {
          "name": "gh_search",
          "description": "Search.",
          "input_schema": {
            "properties": {
              "q": {
                "type": "string",
                "maximum": 1.50
              }
            },
            "required": [
              "q"
            ],
            "type": "object"
          },
          "sequential": true
        }
      ]
    }
  ]
}
"""
    )


def test_h11_a_manifest_refuses_agents_without_names_and_two_of_one() -> None:
    with pytest.raises(ToolwireError, match="agent 0 has no name"):
        manifest(Agent(Script()))
    with pytest.raises(ToolwireError, match='duplicate agent name "a"'):
        manifest(Agent(Script(), name="a"), Agent(Script(), name="a"))
    with pytest.raises(ToolwireError, match="agent 0 is nil"):
        manifest(None)  # type: ignore[arg-type]  # the mistake that the test is about


def test_g11_a_lifted_timeout_stands_in_the_manifest() -> None:
    agent = Agent(Script(), name="a", tools=[tool(lambda: "", timeout(0), name="x")], timeout=0.02)
    text = manifest(agent)
    assert '"timeout": "0s"' in text
    assert '"timeout": "20ms"' in text
    json.loads(text)


def test_h12_h13_the_tools_record_has_a_chip_for_every_policy() -> None:
    body = lambda: ""  # noqa: E731 - five tools of one body
    tools = [
        tool(body, timeout(2), require_approval(), replay("safe"), max_result_bytes(100), sequential(), name="tuned"),
        tool(body, name="plain"),
        tool(body, require_approval(), name="parked"),
        subagent("sub", "", Agent(Script())),
        imported(),
        tool(body, origin("gh"), name="renamed"),
    ]
    record = tools_record(Agent(Script(), tools=tools, timeout=5))
    chips = {
        entry["name"]: "/".join(
            str(entry[key]).lower()
            for key in ("timeout_ms", "approval", "replay", "max_result_bytes", "sequential", "source")
        )
        for entry in record["tools"]
    }
    assert chips == {
        "tuned": "2000/true/safe/100/true/local",
        "plain": "5000/false/never/65536/false/local",
        "parked": "5000/true/never/65536/false/local",
        "sub": "5000/false/never/65536/false/subagent",
        "gh_search": "5000/false/never/65536/true/mcp",
        "renamed": "5000/false/never/65536/false/gh",
    }
    assert [entry["name"] for entry in record["tools"]] == sorted(chips)
    assert len(record["hash"]) == 64
    assert tools_record(Agent(Script()))["hash"] == ""
    assert hashlib.sha256(b"").hexdigest() != record["hash"]


def test_a17_a_parsed_schema_survives_the_agent() -> None:
    schema = Schema.parse(b'{"type":"object","properties":{"q":{"minLength":3}}}')
    agent = Agent(Script(), tools=[Tool.raw("r", "", schema, lambda _: "")])
    assert agent.tools[0].input_schema.raw == schema.raw
