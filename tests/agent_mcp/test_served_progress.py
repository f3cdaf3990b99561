"""A served agent's progress: 1, 2, 3 … for each step that starts and each tool that ends, if the client asked."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.agent_mcp.reach import WAYS, Way
from toolwire import Agent, current_request, report_progress, serve_agent, subagent, tool
from toolwire.agent.events import Event
from toolwire.testing import Call, Say, Script, ToolCalls

every_way = pytest.mark.parametrize("way", WAYS, ids=str)
PROMPT = b'{"prompt":"go"}'
Heard = list[tuple[float, float | None, str | None]]


def listening(heard: Heard) -> Any:
    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    return hear


@every_way
async def test_progress_counts_steps_that_start_and_tools_that_end(way: Way) -> None:
    quick = tool(lambda: "ok", name="quick")
    child = Agent(Script(ToolCalls(Call("quick")), Say("found")), tools=[quick])
    helper = subagent("helper", "", child)
    script = Script(ToolCalls(Call("quick"), Call("ghost", id="2")), ToolCalls(Call("helper", PROMPT)), Say("done"))
    server = way.make()
    serve_agent(server, Agent(script, name="research", tools=[quick, helper], parallelism=1), "")
    heard: Heard = []
    async with way.to(server) as client:
        found = await client.call("research", PROMPT, progress_callback=listening(heard))
    assert found["content"][0]["text"] == "done"
    messages = ["step 1", "tool quick", "tool ghost", "step 2", "tool helper", "step 3"]
    assert heard == [(number, None, message) for number, message in enumerate(messages, 1)]


@every_way
async def test_a_tool_in_the_run_that_tells_of_its_own_progress_does_not_turn_the_count_back(way: Way) -> None:
    """MCP asks that progress increases: the token is the agent tool's, and so is the count."""
    wanted: list[bool] = []

    @tool
    async def chatty() -> str:
        request = current_request()
        wanted.append(request is not None and request.wants_progress)
        await report_progress(0.5, 1, "half")
        return "ok"

    server = way.make()
    agent = Agent(Script(ToolCalls(Call("chatty")), Say("done")), name="research", tools=[chatty])
    serve_agent(server, agent, "")
    heard: Heard = []
    async with way.to(server) as client:
        await client.call("research", PROMPT, progress_callback=listening(heard))
        assert [number for number, _, _ in heard] == [1, 2, 3]
        await client.call("chatty", progress_callback=listening(heard))
    assert wanted == [False, True]
    assert heard[3:] == [(0.5, 1, "half")]


@every_way
async def test_without_a_client_that_asked_nothing_listens_to_the_run(way: Way) -> None:
    listeners: list[object] = []

    class Foreign:
        name = "foreign"
        tools = ()

        async def run(self, prompt: str, *, on_event: Callable[[Any], object] | None = None) -> str:
            listeners.append(on_event)
            if on_event is not None:
                on_event(Event("step_start", "r", 1, step=0))
                on_event(Event("text_delta", "r", 2, text="…"))
                on_event(Event("tool_finish", "r", 3, name="search"))
                on_event("an event of a kind that nobody here knows")
            return prompt

        async def call_tool(self, name: str, args: Any, *, call_id: str | None = None) -> Any:
            raise NotImplementedError

    server = way.make()
    serve_agent(server, Foreign(), "")
    heard: Heard = []
    async with way.to(server) as client:
        await client.call("foreign", PROMPT)
        assert len(listeners) == 1
        # The SDK's own in-process client asks for progress on every call.
        if way.client == "toolwire":
            assert listeners == [None]
        await client.call("foreign", PROMPT, progress_callback=listening(heard))
    assert heard == [(1, None, "step 1"), (2, None, "tool search")]


@every_way
async def test_a_failure_after_progress_is_the_agents_own_text(way: Way) -> None:
    server = way.make()
    serve_agent(server, Agent(Script(ToolCalls(Call("ghost"))), name="research"), "")
    heard: Heard = []
    async with way.to(server) as client:
        found = await client.call("research", PROMPT, progress_callback=listening(heard))
    assert found["isError"]
    assert found["content"][0]["text"].startswith('SUBAGENT_FAILED: agent "research" failed at step 1: model stream: ')
    assert [message for _, _, message in heard] == ["step 1", "tool ghost", "step 2"]
