"""The loop of a run: rows G of the reference's table (spec one-session, part 3), each named by its row."""

from asyncio import CancelledError
from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import pytest

from toolwire import (
    Agent,
    CallEvent,
    Finish,
    Policy,
    RunError,
    RunResult,
    TextDelta,
    Tool,
    ToolError,
    ToolOutput,
    allow,
    map_errors,
    max_result_bytes,
    sequential,
    timeout,
    tool,
    wrap,
)
from toolwire.agent.middleware import Call as ToolCall
from toolwire.agent.middleware import Middleware, Next
from toolwire.agent.model import ModelEvent, ModelRequest
from toolwire.testing import Call, Fail, MaxTokens, Raw, Say, Script, ToolCalls


@tool
async def echo(text: str) -> dict[str, str]:
    return {"echoed": text.upper()}


def results(result: RunResult) -> list[tuple[str, bool]]:
    return [(part.content, part.is_error) for message in result.messages for part in message.results]


async def run(agent_tools: Sequence[Tool], *calls: Call, **options: Any) -> RunResult:
    return await Agent(Script(ToolCalls(*calls), Say("done")), tools=agent_tools, **options).generate("go")


async def test_g1_a_run_from_prompt_to_text() -> None:
    agent = Agent(Script(ToolCalls(Call("echo", b'{"text":"hello"}')), Say("All done.")), tools=[echo])
    result = await agent.generate("go")
    assert (result.text, len(result.steps), result.usage.total) == ("All done.", 2, 30)
    assert [message.role for message in result.messages] == ["user", "assistant", "tool", "assistant"]
    assert results(result) == [('{"echoed":"HELLO"}', False)]


async def test_g2_a_failing_tool_is_data_and_its_sibling_runs() -> None:
    @tool
    def boom() -> str:
        raise RuntimeError("warehouse unreachable")

    @tool
    def fine() -> str:
        return "fine"

    result = await run([boom, fine], Call("boom"), Call("fine"))
    assert results(result) == [("warehouse unreachable", True), ("fine", False)]
    assert result.text == "done"


async def test_g3_an_unknown_tool_is_answered_and_the_run_goes_on() -> None:
    result = await run([echo], Call("ghost"))
    assert results(result) == [('NO_SUCH_TOOL: no tool named "ghost"', True)]


async def test_g4_a_panic_is_contained() -> None:
    @tool
    async def explode() -> str:
        raise SystemExit("oh no")

    assert results(await run([explode], Call("explode"))) == [('tool "explode" panicked: oh no', True)]


async def test_g5_calls_of_a_step_overlap_by_default() -> None:
    both = [anyio.Event(), anyio.Event()]

    @tool
    async def meet(who: int) -> str:
        both[who].set()
        await both[1 - who].wait()
        return "met"

    with anyio.fail_after(5):
        result = await run([meet], Call("meet", b'{"who":0}'), Call("meet", b'{"who":1}'))
    assert results(result) == [("met", False), ("met", False)]


class Trace:
    """Tools that write down when they start and end, and how many run at once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.running: set[str] = set()
        self.beside: dict[str, set[str]] = {}

    def make(self, name: str, *policies: Policy, ticks: int = 3) -> Tool:
        async def body() -> str:
            self.lines.append(f">{name}")
            self.running.add(name)
            for other in self.running:
                self.beside.setdefault(other, set()).update(self.running)
            for _ in range(ticks):
                await anyio.lowlevel.checkpoint()
            self.running.discard(name)
            self.lines.append(f"<{name}")
            return name

        return tool(body, *policies, name=name)


async def test_g6_a_sequential_tool_is_a_barrier_and_results_keep_the_order() -> None:
    trace = Trace()
    tools = [trace.make(name) for name in ("p1", "p2", "p3", "p4")] + [trace.make("alone", sequential())]
    result = await run(tools, *(Call(name) for name in ("p1", "p2", "alone", "p3", "p4")))
    assert trace.beside["alone"] == {"alone"}
    assert trace.beside["p1"] == trace.beside["p2"] == {"p1", "p2"}
    assert trace.beside["p3"] == trace.beside["p4"] == {"p3", "p4"}
    assert [content for content, _ in results(result)] == ["p1", "p2", "alone", "p3", "p4"]


async def test_g7_a_sequential_agent_runs_one_call_at_a_time_and_hints_so() -> None:
    trace = Trace()
    names = [f"t{index}" for index in range(8)]
    model = Script(ToolCalls(*map(Call, names)), Say("done"))
    await Agent(model, tools=[trace.make(name) for name in names], sequential=True).generate("go")
    assert trace.lines == [line for name in names for line in (f">{name}", f"<{name}")]
    assert model.requests[0].request.sequential_tools


async def test_g8_starts_are_in_call_order_whatever_a_call_takes() -> None:
    trace = Trace()
    ticks = {"a": 9, "b": 1, "c": 5, "d": 1, "e": 1}
    tools = [trace.make(name, ticks=count) for name, count in ticks.items()]
    await run(tools, *map(Call, ticks), parallelism=2)
    assert [line for line in trace.lines if line.startswith(">")] == [">a", ">b", ">c", ">d", ">e"]


async def test_g9_polite_and_rude_handlers_time_out_and_the_rude_one_is_left_behind() -> None:
    let_go = anyio.Event()

    @tool
    async def polite() -> str:
        await anyio.sleep_forever()
        return ""

    @tool
    async def rude() -> str:
        with anyio.CancelScope(shield=True):
            await let_go.wait()
        return ""

    @tool
    async def quick() -> str:
        return "quick"

    with anyio.fail_after(5):
        result = await run([polite, rude, quick], Call("polite"), Call("rude"), Call("quick"), timeout=0.02)
    let_go.set()
    assert results(result) == [
        ('tool "polite" timed out after 20ms', True),
        ('tool "rude" timed out after 20ms', True),
        ("quick", False),
    ]


async def test_g10_g11_a_tools_own_timeout_wins_and_zero_lifts_it() -> None:
    @tool(timeout(60))
    async def slow() -> str:
        await anyio.sleep(0.02)
        return "slow"

    @tool(timeout(0))
    async def unbounded() -> str:
        await anyio.sleep(0.02)
        return "unbounded"

    result = await run([slow, unbounded], Call("slow"), Call("unbounded"), timeout=0.001)
    assert results(result) == [("slow", False), ("unbounded", False)]


async def test_g12_a_cancelled_run_is_cancelled_and_not_timed_out() -> None:
    started = anyio.Event()
    ended: list[str] = []

    @tool(timeout(60))
    async def slow() -> str:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("ended")
        return ""

    agent = Agent(Script(ToolCalls(Call("slow"))), tools=[slow])
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.generate, "go")
            await started.wait()
            tasks.cancel_scope.cancel()
        while not ended:
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize(
    ("text", "cap", "expected"),
    [
        ("x" * 200_000, None, "x" * 65536 + "\n…[truncated 134464 bytes]"),
        ("é" * 100, 101, "é" * 50 + "\n…[truncated 100 bytes]"),
        ("é", 1, "\n…[truncated 2 bytes]"),
        ("x" * 8, 8, "x" * 8),
    ],
    ids=["g13", "g14", "g15", "g16"],
)
async def test_g13_to_g16_a_text_is_cut_on_a_character_and_marked(text: str, cap: int | None, expected: str) -> None:
    @tool
    def big() -> str:
        return text

    options = {} if cap is None else {"max_result_bytes": cap}
    assert results(await run([big], Call("big"), **options)) == [(expected, False)]


async def test_g17_a_tools_own_cap_wins_and_zero_lifts_it() -> None:
    def make(name: str, *policies: Policy) -> Tool:
        return tool(lambda: "x" * 1000, *policies, name=name)

    tools = [make("ten", max_result_bytes(10)), make("none", max_result_bytes(0)), make("agents")]
    result = await run(tools, Call("ten"), Call("none"), Call("agents"), max_result_bytes=100)
    assert [content[-28:] for content, _ in results(result)] == [
        ("x" * 10 + "\n…[truncated 990 bytes]")[-28:],
        "x" * 28,
        ("x" * 100 + "\n…[truncated 900 bytes]")[-28:],
    ]


def layer(name: str, lines: list[str]) -> Middleware:
    async def middleware(call: ToolCall, following: Next) -> ToolOutput:
        lines.append(f"{name}>{call.name}")
        try:
            return await following(call)
        finally:
            lines.append(f"{name}<{call.name}")

    return middleware


async def test_g18_middleware_nests_from_the_agent_inwards_to_the_tool() -> None:
    lines: list[str] = []
    wrapped = tool(lambda: "ok", wrap(layer("tool", lines)), name="echo")
    await run([wrapped], Call("echo"), middleware=[layer("a", lines), layer("b", lines), layer("c", lines)])
    assert ",".join(lines) == "a>echo,b>echo,c>echo,tool>echo,tool<echo,c<echo,b<echo,a<echo"
    lines.clear()
    await run([wrapped], Call("ghost"), middleware=[layer("a", lines), layer("b", lines)])
    assert lines == ["a>ghost", "b>ghost", "b<ghost", "a<ghost"]


async def test_g19_a_panic_of_a_middleware_is_contained() -> None:
    async def broken(_call: ToolCall, _following: Next) -> ToolOutput:
        raise SystemExit("middleware bug")

    ls = tool(lambda: "ok", name="ls")
    assert results(await run([ls], Call("ls"), middleware=[broken])) == [('tool "ls" panicked: middleware bug', True)]


async def test_g20_allow_refuses_before_the_handler_runs() -> None:
    ran: list[str] = []
    tools = [tool(lambda: ran.append("rm"), name="rm"), tool(lambda: "fine", name="ls")]
    result = await run(tools, Call("rm"), Call("ls"), middleware=[allow(lambda call: call.name != "rm")])
    assert results(result) == [('DENIED: tool "rm" is not allowed', True), ("fine", False)]
    assert ran == []


async def test_g21_map_errors_hides_what_is_no_toolerror() -> None:
    def plain() -> str:
        raise RuntimeError("private detail")

    def coded() -> str:
        raise ToolError("NOT_FOUND", "no such order")

    result = await run([tool(plain), tool(coded)], Call("plain"), Call("coded"), middleware=[map_errors()])
    assert results(result) == [('INTERNAL: tool "plain" failed', True), ("NOT_FOUND: no such order", True)]


async def test_g30_a_run_over_its_steps_fails_with_what_it_has() -> None:
    agent = Agent(Script(*[ToolCalls(Call("echo", b'{"text":"x"}'))] * 3), tools=[echo], max_steps=2)
    with pytest.raises(
        RunError, match=r"^toolwire: run failed at step 2: toolwire: run exceeded the maximum"
    ) as caught:
        await agent.generate("go")
    assert (caught.value.step, len(caught.value.result.steps)) == (2, 2)


async def test_g31_calls_of_a_cut_off_answer_are_not_run() -> None:
    ran: list[str] = []
    touch = tool(lambda: ran.append("x"), name="touch")
    model = Script(MaxTokens("", Call("touch"), Call("touch")), Say("sorry"))
    result = await Agent(model, tools=[touch]).generate("go")
    text = "tool call touch was not executed: the response hit the output token limit"
    assert results(result) == [(text, True)] * 2
    assert ran == []


@pytest.mark.parametrize(
    ("events", "breach"),
    [
        ([TextDelta("x")], "no finish"),
        ([Finish("stop"), Finish("stop")], "two finishes"),
        ([Finish("stop"), TextDelta("x")], "an event after finish"),
        ([CallEvent("", "echo", b"{}"), Finish("tool_calls")], "a call without an id"),
        ([CallEvent("1", "", b"{}"), Finish("tool_calls")], "a call without a name"),
        (
            [CallEvent("1", "a", b"{}"), CallEvent("1", "b", b"{}"), Finish("tool_calls")],
            "the call id '1' twice in one step",
        ),
        ([CallEvent(1, "a", b"{}"), Finish("tool_calls")], "a call's id is int, not str"),  # type: ignore[arg-type]  # a model's mistake
        (
            [CallEvent("1", "a", {"q": 1}), Finish("tool_calls")],  # type: ignore[arg-type]  # a model's mistake
            "a call's arguments are dict, not bytes or str",
        ),
    ],
)
async def test_a_stream_that_breaks_its_contract_ends_the_run(events: Sequence[ModelEvent], breach: str) -> None:
    with pytest.raises(RunError) as caught:
        await Agent(Script(Raw(events))).generate("go")
    assert (
        str(caught.value) == f"toolwire: run failed at step 0: toolwire: model violated the stream contract: {breach}"
    )


async def test_a_failing_model_ends_the_run() -> None:
    with pytest.raises(RunError, match=r"^toolwire: run failed at step 0: model stream: provider down$"):
        await Agent(Script(Fail("provider down"))).generate("go")


async def test_options_that_are_none_and_caps_below_zero_are_passed_over() -> None:
    options: dict[str, Any] = {"middleware": [None], "wrap_model": [None], "stop_when": [None], "max_result_bytes": -1}
    result = await run([echo], Call("echo", b'{"text":"x"}'), **options)
    assert (results(result), result.stop_reason) == ([('{"echoed":"X"}', False)], "stop")
    result = await run([echo], Call("echo"), middleware=allow(lambda _: False))
    assert results(result) == [('DENIED: tool "echo" is not allowed', True)]


class Odd:
    """A model that raises: before it streams, while it streams, and what is no ordinary failure."""

    provider, name, scripted = "toolwire", "odd", True

    def __init__(self, error: BaseException, *, streams: bool) -> None:
        self._error = error
        self._streams = streams

    def stream(self, request: ModelRequest, /) -> AsyncIterator[ModelEvent]:
        return self._stream() if self._streams else self._raise()

    def _raise(self) -> AsyncIterator[ModelEvent]:
        raise self._error

    async def _stream(self) -> AsyncIterator[ModelEvent]:
        yield TextDelta("x")
        raise self._error


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (KeyError(), "model stream: KeyError"),
        (SystemExit(2), "toolwire: model violated the stream contract: panic: 2"),
        (CancelledError(), "toolwire: model violated the stream contract: panic: CancelledError"),
    ],
    ids=["without a text", "a panic", "a cancellation that nobody asked for"],
)
async def test_whatever_a_model_raises_ends_the_run_with_a_text(
    error: BaseException, text: str, *, streams: bool
) -> None:
    with pytest.raises(RunError) as caught:
        await Agent(Odd(error, streams=streams)).generate("go")
    assert str(caught.value) == f"toolwire: run failed at step 0: {text}"


@pytest.mark.parametrize("error", [CancelledError(), GeneratorExit()])
@pytest.mark.parametrize("parallelism", [1, 4])
async def test_a_cancellation_that_a_handler_raises_itself_costs_its_own_call_alone(
    error: BaseException, parallelism: int
) -> None:
    async def handler(_: bytes) -> str:
        raise error

    odd = Tool.raw("odd", "", None, handler)
    calls = [Call("odd", b"{}", "1"), Call("echo", b'{"text":"x"}', "2"), Call("odd", b"{}", "3")]
    result = await run([odd, echo], *calls, parallelism=parallelism)
    panicked = (f'tool "odd" panicked: {type(error).__name__}', True)
    assert results(result) == [panicked, ('{"echoed":"X"}', False), panicked]
