"""A run as a stream of events: whole, closed early, left early, failed; and nothing of it stays behind."""

import gc

import anyio
import pytest

from tests.agent_mcp.support import PATIENCE, ticks
from toolwire import Agent, RunError, Tool, tool
from toolwire.testing import Call, Fail, Say, Script, ToolCalls


class Held:
    """A tool that never ends by itself, and says when it began and that it was cancelled."""

    def __init__(self) -> None:
        self.began = anyio.Event()
        self.ended = anyio.Event()

    @property
    def tool(self) -> Tool:
        async def hold() -> str:
            self.began.set()
            try:
                await anyio.sleep_forever()
            finally:
                self.ended.set()
            return ""

        return tool(hold)

    def agent(self) -> Agent:
        return Agent(Script(ToolCalls(Call("hold")), Say("never")), tools=[self.tool])


async def test_the_events_of_a_run_come_in_order_and_end_with_its_result() -> None:
    echo = tool(lambda: "hi", name="echo")
    agent = Agent(Script(ToolCalls(Call("echo")), Say("done")), tools=[echo])
    with anyio.fail_after(PATIENCE):
        events = [event async for event in agent.stream("go", run_id="r")]
    assert [event.kind for event in events] == [
        "run_start",
        "step_start",
        "tool_start",
        "tool_finish",
        "step_finish",
        "step_start",
        "text_delta",
        "step_finish",
        "run_finish",
    ]
    assert [event.seq for event in events] == list(range(1, 10))
    assert {event.run_id for event in events} == {"r"}
    assert (events[2].call_id, events[2].name, events[2].args) == ("call_1", "echo", b"{}")
    assert (events[3].content, events[3].is_error) == ("hi", False)
    assert events[-1].result.text == "done"


async def test_a_stream_that_is_closed_early_cancels_the_run_and_ends() -> None:
    held = Held()
    with anyio.fail_after(PATIENCE):
        async with held.agent().stream("go") as stream:
            async for event in stream:
                if event.kind == "tool_start":
                    break
            await held.began.wait()
        assert held.ended.is_set()
        assert [event async for event in stream] == []


async def test_a_stream_that_is_left_early_cancels_the_run() -> None:
    """`break` out of `async for` closes nothing: the run has to notice that nobody holds its stream any more."""
    held = Held()
    with anyio.fail_after(PATIENCE):
        async for event in held.agent().stream("go"):
            if event.kind == "tool_start":
                break
        await held.began.wait()
        gc.collect()
        await held.ended.wait()


async def test_a_stream_that_nobody_reads_starts_nothing() -> None:
    model = Script(Say("never"))
    stream = Agent(model).stream("go")
    await ticks()
    await stream.aclose()
    assert model.requests == []
    assert [event async for event in stream] == []


async def test_a_failed_run_raises_from_its_stream_after_its_events() -> None:
    stream = Agent(Script(Fail("provider down"))).stream("go")
    with anyio.fail_after(PATIENCE):
        kinds = [(await anext(stream)).kind for _ in range(3)]
        with pytest.raises(RunError, match="provider down"):
            await anext(stream)
    assert kinds == ["run_start", "step_start", "run_finish"]


async def test_a_listener_that_raises_ends_the_run_with_what_it_has() -> None:
    echo = tool(lambda: "hi", name="echo")

    def listen(event: object) -> None:
        if getattr(event, "kind", "") == "step_finish":
            raise RuntimeError("the screen is gone")

    agent = Agent(Script(ToolCalls(Call("echo"), Call("echo", id="2"))), tools=[echo])
    with pytest.raises(RunError, match=r"^toolwire: run failed at step 0: the screen is gone$") as caught:
        await agent.generate("go", on_event=listen)
    assert len(caught.value.result.steps) == 1
