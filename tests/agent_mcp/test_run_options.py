"""What a run may be told, and what ends it: options, budgets, hooks, runs side by side, runs without a loop."""

import logging
import threading
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.agent_mcp.support import PATIENCE, results, run
from toolwire import (
    Agent,
    ModelRequest,
    ModelRetry,
    RunError,
    RunResult,
    Tool,
    current_call,
    prompt_snippet,
    sequential,
    subagent,
    tool,
)
from toolwire.agent.model import Model
from toolwire.testing import Call, Say, Script, ToolCalls

PROMPT = b'{"prompt":"go"}'


def named(name: str, *policies: Any) -> Tool:
    return tool(lambda: f"{name} ran", *policies, name=name)


async def failure(agent: Agent, **options: Any) -> RunError:
    with pytest.raises(RunError) as caught:
        await agent.generate("go", **options)
    return caught.value


# What is offered, and what is run


async def test_only_tools_are_offered_and_dispatched() -> None:
    """A model may still ask for one that it remembers: what was not offered is not run."""
    model = Script(ToolCalls(Call("a"), Call("b", id="2")), Say("done"))
    outcome = await Agent(model, tools=[named("a"), named("b")]).generate("go", only_tools=["a"])
    assert [request.tool_names for request in model.requests] == [["a"], ["a"]]
    assert results(outcome) == [("a ran", False), ('NO_SUCH_TOOL: no tool named "b"', True)]


async def test_prepare_step_may_change_the_request_and_what_it_leaves_out_is_not_run() -> None:
    seen: list[int] = []

    async def prepare(step: int, request: ModelRequest) -> ModelRequest | None:
        seen.append(step)
        if step:
            return None
        return ModelRequest("Be quick.", request.messages, [entry for entry in request.tools if entry.name == "a"])

    model = Script(ToolCalls(Call("a"), Call("b", id="2")), Say("done"))
    agent = Agent(model, instructions="Be thorough.", tools=[named("a"), named("b")], prepare_step=prepare)
    outcome = await agent.generate("go")
    assert seen == [0, 1]
    assert [request.system for request in model.requests] == ["Be quick.", "Be thorough."]
    assert [request.tool_names for request in model.requests] == [["a"], ["a", "b"]]
    assert results(outcome) == [("a ran", False), ('NO_SUCH_TOOL: no tool named "b"', True)]


async def test_snippets_of_the_tools_that_are_offered_stand_behind_the_instructions() -> None:
    model = Script(Say("done"))
    tools = [named("a", prompt_snippet("Use a for air.")), named("b", prompt_snippet("Use b for bread."))]
    await Agent(model, instructions="Be brief.", tools=tools).generate("go", only_tools=["a"])
    assert model.last_request().system == "Be brief.\n\nUse a for air."


async def test_max_steps_of_a_run_can_only_lower_the_agents() -> None:
    endless = [ToolCalls(Call("a"))] * 5
    assert (await failure(Agent(Script(*endless), tools=[named("a")], max_steps=2), max_steps=4)).step == 2
    assert (await failure(Agent(Script(*endless), tools=[named("a")], max_steps=4), max_steps=1)).step == 1


async def test_models_are_wrapped_in_order_and_a_wrapper_that_gives_none_is_refused() -> None:
    lines: list[str] = []

    def wrapper(name: str) -> Any:
        class Wrapped:
            provider, name = "x", "y"

            def __init__(self, inner: Model) -> None:
                self.inner = inner

            def stream(self, request: ModelRequest) -> Any:
                lines.append(label)
                return self.inner.stream(request)

        label = name
        return Wrapped

    await Agent(Script(Say("done")), wrap_model=[wrapper("inner"), wrapper("outer")]).generate("go")
    assert lines == ["outer", "inner"]
    with pytest.raises(Exception, match="toolwire: model middleware returned a nil Model"):
        Agent(Script(), wrap_model=lambda _: None)  # type: ignore[arg-type, return-value]  # what is refused


# What ends a run


async def test_a_usage_limit_ends_a_run_between_steps() -> None:
    error = await failure(Agent(Script(*[ToolCalls(Call("a"))] * 5), tools=[named("a")], usage_limit=40))
    assert str(error) == "toolwire: run failed at step 3: toolwire: run exceeded its usage limit of 40 tokens"
    assert (error.result.usage.total, len(error.result.steps)) == (45, 3)


async def test_a_childs_usage_counts_against_the_limit() -> None:
    child = Agent(Script(*[Say("x").with_usage(1000, 1)] * 2))
    parent = Agent(Script(*[ToolCalls(Call("c", PROMPT))] * 2), tools=[subagent("c", "", child)], usage_limit=1000)
    assert (await failure(parent)).step == 1


async def test_the_same_calls_over_and_over_are_a_loop() -> None:
    same, other = ToolCalls(Call("a", b'{"q":1}')), ToolCalls(Call("a", b'{"q":1.0}'))
    error = await failure(Agent(Script(same, other, same, same, same), tools=[named("a")], detect_loops=3))
    assert str(error) == "toolwire: run failed at step 5: toolwire: run is looping: the same calls 3 times in a row"


async def test_a_tool_may_ask_for_retries_up_to_a_bound_and_one_success_begins_anew() -> None:
    left = [True, True, False, True, True, True]

    def fussy() -> str:
        if left.pop(0):
            raise ModelRetry("with a date")
        return "ok"

    agent = Agent(Script(*[ToolCalls(Call("fussy"))] * 6), tools=[tool(fussy)], max_model_retries=2)
    error = await failure(agent)
    assert str(error) == 'toolwire: run failed at step 6: tool "fussy" asked for more than 2 retries'
    assert results(error.result)[:3] == [("RETRY: with a date", True), ("RETRY: with a date", True), ("ok", False)]


async def test_a_stop_condition_names_the_end() -> None:
    def enough(result: RunResult) -> bool:
        return len(result.steps) == 2

    agent = Agent(Script(*[ToolCalls(Call("a"))] * 5), tools=[named("a")], stop_when=enough)
    outcome = await agent.generate("go")
    assert (outcome.stop_reason, len(outcome.steps)) == ("enough", 2)


@pytest.mark.parametrize("broken", ["tool_source", "prepare_step", "stop_when"])
async def test_whatever_breaks_a_run_is_a_run_error_with_the_run_so_far(broken: str) -> None:
    def fail(*_: object) -> Any:
        raise KeyError("not ours")

    options: dict[str, Any] = {broken: fail}
    error = await failure(Agent(Script(Say("hi")), **options))
    assert str(error) == "toolwire: run failed at step 0: 'not ours'"
    assert isinstance(error.__cause__, KeyError)
    assert error.result.stop_reason == "error"


async def test_on_run_end_hears_results_and_failures_and_cannot_take_them_away(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[object] = []

    async def watch(outcome: object) -> None:
        heard.append(outcome)
        raise RuntimeError("the database is away")

    outcome = await Agent(Script(Say("hi")), on_run_end=watch).generate("go")
    error = await failure(Agent(Script(), on_run_end=watch))
    assert heard == [outcome, error]
    assert [record.message for record in caplog.records] == ["on_run_end raised"] * 2
    assert {record.levelno for record in caplog.records} == {logging.ERROR}


# Runs side by side, and runs inside of runs


async def test_runs_of_one_agent_do_not_see_each_other() -> None:
    meeting = [anyio.Event(), anyio.Event()]

    @tool
    async def meet(who: int) -> str:
        meeting[who].set()
        await meeting[1 - who].wait()
        context = current_call()
        return context.run_id if context else ""

    class Asks:
        """Each run asks for the meeting that its prompt names, then ends."""

        provider, name, scripted = "toolwire", "asks", True

        def stream(self, request: ModelRequest) -> Any:
            who = request.messages[0].text
            turn = Say("done") if len(request.messages) > 1 else ToolCalls(Call("meet", f'{{"who":{who}}}'))
            return Script(turn).stream(request)

    agent = Agent(Asks(), tools=[meet])
    outcomes: dict[str, RunResult] = {}

    async def one(prompt: str) -> None:
        outcomes[prompt] = await agent.generate(prompt, run_id=f"run-{prompt}")

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, "0")
            tasks.start_soon(one, "1")
    assert {prompt: results(outcome) for prompt, outcome in outcomes.items()} == {
        "0": [("run-0", False)],
        "1": [("run-1", False)],
    }


@pytest.mark.parametrize("policies", [(), (sequential(),)], ids=["beside", "alone"])
async def test_a_run_leaves_no_call_behind_in_its_callers_context(policies: Any) -> None:
    """A subagent that is called afterwards would count as a child of a run that has ended."""
    outcome = await run([named("a", *policies)], Call("a"))
    assert current_call() is None
    child = subagent("child", "", Agent(Script(Say("standalone"))))
    assert await child.invoke(PROMPT) == "standalone"
    assert outcome.usage.total == 30


async def test_handlers_see_their_call() -> None:
    seen: list[Any] = []

    @tool
    async def look() -> str:
        seen.append(current_call())
        return ""

    agent = Agent(Script(ToolCalls(Call("look", id="c1")), ToolCalls(Call("look", id="c2")), Say("x")), tools=[look])
    await agent.generate("go", run_id="r")
    await agent.call_tool("look", call_id="by hand")
    facts = [(call.run_id, call.step, call.call_id, call.name, call.approved) for call in seen]
    assert facts == [
        ("r", 0, "c1", "look", False),
        ("r", 1, "c2", "look", False),
        ("", 0, "by hand", "look", False),
    ]


# Without a loop


def test_generate_sync_runs_in_a_script() -> None:
    outcome = Agent(Script(ToolCalls(Call("a")), Say("done")), tools=[named("a")]).generate_sync("go")
    assert (outcome.text, results(outcome)) == ("done", [("a ran", False)])


async def test_generate_sync_runs_inside_a_loop_in_a_thread_of_its_own() -> None:
    threads: list[str] = []

    @tool
    async def where() -> str:
        threads.append(threading.current_thread().name)
        return "ok"

    outcome = Agent(Script(ToolCalls(Call("where")), Say("done")), tools=[where]).generate_sync("go", run_id="r")
    assert (outcome.id, outcome.text) == ("r", "done")
    assert threads[0] != threading.current_thread().name


async def test_generate_sync_runs_in_a_worker_thread() -> None:
    agent = Agent(Script(Say("done")))
    assert (await anyio.to_thread.run_sync(agent.generate_sync, "go")).text == "done"


async def test_generate_sync_raises_what_the_run_raised() -> None:
    with pytest.raises(RunError, match="script exhausted"):
        Agent(Script()).generate_sync("go")
