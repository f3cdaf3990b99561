"""Imported tools in a run: rows C3, C29 and D20 to D29 of the reference's table (spec one-session), named by row."""

import json
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

import toolwire
from tests.agent_mcp.support import ERAS, FS, PATIENCE, SPREAD, entry, imported, results, run, serving, text
from toolwire import (
    Agent,
    RunError,
    ToolOutput,
    current_call,
    manifest,
    max_result_bytes,
    require_approval,
    strict_input,
    timeout,
    wrap,
)
from toolwire.agent.middleware import Call as ToolCall
from toolwire.agent.middleware import Next
from toolwire.testing import (
    Answer,
    Call,
    RawServer,
    Say,
    Script,
    ToolCalls,
    error,
    listing,
    park,
    release,
    result,
    silence,
    then,
)

pytestmark = pytest.mark.parametrize(("anyio_backend", "era"), SPREAD)


async def test_c3_the_schema_reaches_the_model_byte_for_byte(era: str) -> None:
    model = Script(ToolCalls(Call("search", b'{"q":"a"}')), Say("done"))
    async with imported(serving([entry("search", schema=FS)], {"search": text("3 hits")}, era), era) as tools:
        outcome = await Agent(model, tools=tools).generate("go")
    assert [tool.schema for tool in model.requests[0].tools] == [FS]
    assert results(outcome) == [("3 hits", False)]


async def test_c29_the_manifest_tells_which_imported_tools_run_alone(era: str) -> None:
    server = serving([entry("writes", read_only=False), entry("reads")], {}, era)
    async with imported(server, era) as tools:
        document = json.loads(manifest(Agent(Script(), name="a", tools=tools)))
    assert [(tool["name"], tool.get("sequential")) for tool in document["agents"][0]["tools"]] == [
        ("writes", True),
        ("reads", None),
    ]
    assert all("source" not in tool for tool in document["agents"][0]["tools"])


async def test_d20_a_failure_of_a_remote_tool_is_data_and_the_run_goes_on(era: str) -> None:
    answers = {
        "limited": text("rate limited: try again in 30s", is_error=True),
        "broken": error(-32000, "the database is away"),
    }
    async with imported(serving([entry("limited"), entry("broken")], answers, era), era) as tools:
        outcome = await run(tools, Call("limited", id="1"), Call("broken", id="2"))
    assert results(outcome) == [
        ("rate limited: try again in 30s", True),
        ("mcp: the database is away", True),
    ]
    assert outcome.text == "done"


async def test_d21_a_timeout_is_told_as_the_runs_and_not_as_the_wires(era: str) -> None:
    server = serving([entry("slow")], {"slow": silence()}, era)
    async with imported(server, era, policy=timeout(0.1)) as tools:
        outcome = await run(tools, Call("slow"))
    assert results(outcome) == [('tool "slow" timed out after 100ms', True)]


async def test_d21_the_agents_timeout_reads_the_same(era: str) -> None:
    async with imported(serving([entry("slow")], {"slow": silence()}, era), era) as tools:
        outcome = await run(tools, Call("slow"), timeout=0.1)
    assert results(outcome) == [('tool "slow" timed out after 100ms', True)]


async def test_a_shorter_limit_of_the_connection_is_not_told_as_the_agents(era: str) -> None:
    """The model would read that a call took a minute which was given up after a tenth of a second."""
    with serving([entry("slow")], {"slow": silence()}, era) as server, anyio.fail_after(PATIENCE):
        async with toolwire.connect(server.argv, mode=ERAS[era], call_timeout=0.1) as connection:
            outcome = await run(await toolwire.tools(connection), Call("slow"), timeout=60)
    [(said, is_error)] = results(outcome)
    assert said.startswith("mcp: ")
    assert "timed out after 0.1 s" in said
    assert is_error


async def test_d22_a_gated_call_is_parked_and_the_server_hears_nothing(era: str) -> None:
    server = serving([entry("refund")], {"refund": text("never")}, era)
    async with imported(server, era, policy=require_approval()) as tools:
        outcome = await run(tools, Call("refund", b'{ "amount" : 1.50 }', "r1"))
        assert server.requests("tools/call") == []
    assert outcome.stop_reason == "pending"
    assert [(call.id, call.name, call.args) for call in outcome.pending] == [("r1", "refund", b'{ "amount" : 1.50 }')]
    assert [message.role for message in outcome.messages] == ["user", "assistant"]


async def test_d23_a_cap_of_the_import_cuts_once(era: str) -> None:
    server = serving([entry("big")], {"big": text("x" * 500)}, era)
    async with imported(server, era, policy=max_result_bytes(8)) as tools:
        outcome = await run(tools, Call("big"))
        assert await tools["big"].invoke() == "xxxxxxxx\n…[truncated 492 bytes]"
    assert results(outcome) == [("xxxxxxxx\n…[truncated 492 bytes]", False)]


async def test_d23_a_cap_cuts_the_text_of_a_failure_once(era: str) -> None:
    server = serving([entry("big")], {"big": text("x" * 500, is_error=True)}, era)
    async with imported(server, era, policy=max_result_bytes(8)) as tools:
        outcome = await run(tools, Call("big"))
    assert results(outcome) == [("xxxxxxxx\n…[truncated 492 bytes]", True)]


async def test_d24_middleware_of_the_import_sees_the_imported_name(era: str) -> None:
    seen: list[tuple[str, str]] = []

    async def spy(call: ToolCall, following: Next) -> ToolOutput:
        context = current_call()
        seen.append((call.name, context.name if context else ""))
        return await following(call)

    server = serving([entry("search")], {"search": text("hit")}, era)
    async with imported(server, era, prefix="gh_", policy=wrap(spy)) as tools:
        assert results(await run(tools, Call("gh_search"))) == [("hit", False)]
        assert b'"name":"search"' in server.requests("tools/call")[0]
    assert seen == [("gh_search", "gh_search")]


async def test_d25_strict_input_is_the_servers_business(era: str) -> None:
    server = serving([entry("search", schema=FS)], {"search": text("hit")}, era)
    async with imported(server, era, policy=strict_input()) as tools:
        outcome = await run(tools, Call("search", b'{"q":"a","unknown":1.50}'), strict_input=True)
        assert b'{"q":"a","unknown":1.50}' in server.requests("tools/call")[0]
    assert results(outcome) == [("hit", False)]


async def test_d26_a_refusal_by_the_agents_middleware_is_data(era: str) -> None:
    async def refuse(_call: ToolCall, _following: Next) -> ToolOutput:
        raise RuntimeError("searching is disabled today")

    server = serving([entry("search")], {"search": text("hit")}, era)
    async with imported(server, era) as tools:
        outcome = await run(tools, Call("search"), middleware=[refuse])
        assert server.requests("tools/call") == []
    assert results(outcome) == [("searching is disabled today", True)]
    assert outcome.text == "done"


async def test_d27_a_listing_is_served_through_a_tool_source(era: str) -> None:
    asked: list[int] = []
    model = Script(Say("ready"))
    async with imported(serving([entry("search")], {}, era), era) as tools:

        def source() -> toolwire.Toolset:
            asked.append(1)
            return tools

        await Agent(model, tool_source=source).generate("go")
    assert asked == [1]
    assert model.last_request().has_tool("search")


async def test_d28_the_kill_switch_refuses_models_and_no_tools(era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLWIRE_MODEL_REQUESTS", "deny")

    class Network(Script):
        scripted = False

    async with imported(serving([entry("search")], {"search": text("hit")}, era), era) as tools:
        assert await tools["search"].invoke() == "hit"
        assert results(await run(tools, Call("search"))) == [("hit", False)]
        model = Network(Say("never"))
        with pytest.raises(RunError) as caught:
            await Agent(model, tools=tools).generate("go")
    refused = "model stream: TOOLWIRE_MODEL_REQUESTS=deny refuses every model that is not scripted"
    assert str(caught.value) == f"toolwire: run failed at step 0: {refused}"
    assert model.requests == []


async def test_d29_the_tools_of_two_servers_answer_in_one_step(era: str) -> None:
    one, two = (serving([entry("ask")], {"ask": text(said)}, era) for said in ("from gh", "from db"))
    async with imported(one, era, prefix="gh_") as gh, imported(two, era, prefix="db_") as db:
        model = Script(ToolCalls(Call("gh_ask"), Call("db_ask")), Say("both answered"))
        outcome = await Agent(model, tools=[*gh, *db]).generate("go")
    assert results(outcome) == [("from gh", False), ("from db", False)]
    assert outcome.text == "both answered"


async def test_e9_a_local_and_an_imported_tool_of_one_name_are_caught_with_both_origins(era: str) -> None:
    search = toolwire.tool(lambda: "", name="search")
    async with imported(serving([entry("search")], {}, era), era) as tools:
        with pytest.raises(toolwire.ToolwireError) as caught:
            Agent(Script(), tools=[search, *tools])
    assert str(caught.value) == 'toolwire: duplicate tool name "search" (origins: local, mcp)'


async def test_d18_ends_are_kept_and_the_whole_text_goes_to_a_private_file(era: str, tmp_path: Path) -> None:
    whole = "".join(f"{number:04}," for number in range(2000))
    server = serving([entry("big")], {"big": text(whole)}, era)
    policy = max_result_bytes(20, keep="ends", spill=tmp_path / "kept")
    async with imported(server, era, policy=policy) as tools:
        outcome = await run(tools, Call("big"))
    [file] = (tmp_path / "kept").iterdir()
    marker = f"\n…[truncated 9980 bytes; the whole text is in {file}]\n"
    assert results(outcome) == [(f"0000,0001,{marker}1998,1999,", False)]
    assert file.read_text() == whole
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


async def test_d18_an_error_keeps_its_tail_where_ends_are_kept(era: str) -> None:
    server = serving([entry("big")], {"big": text("start" + "x" * 500 + "cause", is_error=True)}, era)
    async with imported(server, era, policy=max_result_bytes(10, keep="ends")) as tools:
        outcome = await run(tools, Call("big"))
    assert results(outcome) == [("start\n…[truncated 500 bytes]\ncause", True)]


async def test_d18_a_hundred_thousand_blocks_are_one_capped_text_and_all_parts(era: str) -> None:
    blocks = b",".join([b'{"type":"text","text":"x"}'] * 100_000)
    answer = result(b'{"content":[%s],"resultType":"complete"}' % blocks, verbatim=True)
    async with imported(serving([entry("big")], {"big": answer}, era), era) as tools:
        outcome = await run(tools, Call("big"), max_result_bytes=9)
    [part] = outcome.messages[2].results
    assert part.content == "x\nx\nx\nx\nx\n…[truncated 199990 bytes]"
    assert len(part.parts) == 100_000


async def test_a_result_that_cannot_be_spilled_is_cut_and_says_so(era: str, tmp_path: Path) -> None:
    """The tool has run: a full disk may not end the run that wanted its answer (rule 4)."""
    (tmp_path / "taken").write_text("a file, no folder")
    server = serving([entry("big")], {"big": text("x" * 100)}, era)
    policy = max_result_bytes(10, spill=tmp_path / "taken")
    async with imported(server, era, policy=policy) as tools:
        outcome = await run(tools, Call("big"))
    [(said, is_error)] = results(outcome)
    assert said == "x" * 10 + "\n…[truncated 90 bytes; the whole text could not be kept: File exists]"
    assert not is_error
    assert outcome.messages[2].results[0].parts[0] == toolwire.TextPart("x" * 100, raw=_raw_block("x" * 100))


def _raw_block(said: str) -> bytes:
    return b'{"type":"text","text":"%s"}' % said.encode()


async def test_calls_of_one_step_go_out_together_and_a_writing_tool_is_a_barrier(era: str) -> None:
    """Three reads are on the wire before one is answered; the write waits for them, and goes alone."""

    def reply(number: int) -> bytes:
        return (
            b'{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"text","text":"%d"}],"resultType":"complete"}}\n'
            % number
        )

    reads = [park(reply(1)), park(reply(2)), then(park(reply(3)), release(backwards=True))]
    answers: dict[str, Answer | Sequence[Answer]] = {
        "tools/list": listing(entry("read"), entry("write", read_only=False)),
        "tools/call:read": reads,
        "tools/call:write": text("written"),
    }
    server = RawServer(answers, era=era)
    async with imported(server, era) as tools:
        outcome = await run(tools, *(Call("read", id=f"r{index}") for index in range(3)), Call("write", id="w"))
    assert [said for said, _ in results(outcome)] == ["1", "2", "3", "written"]
