"""A served agent behind a server's own middleware: every call takes the SDK lane, and nothing about it is another."""

from typing import Any

import pytest
from mcp.server.context import ServerRequestContext

from tests.agent_mcp.reach import Way
from tests.agent_mcp.support import ERAS
from toolwire import Agent, Tool, current_request, serve_agent, tool
from toolwire.testing import Call, Say, Script, ToolCalls

every_way = pytest.mark.parametrize(
    "way", [Way(server, "toolwire", era) for server in ("lowlevel", "mcpserver") for era in ERAS], ids=str
)
PROMPT = b'{"prompt":"go"}'


async def observe(ctx: ServerRequestContext[Any, Any], call_next: Any) -> Any:
    return await call_next(ctx)


def server_of(way: Way, *tools: Tool, script: Script) -> Any:
    server = way.make()
    server.middleware.append(observe)
    serve_agent(server, Agent(script, name="research", tools=tools), "")
    return server


@every_way
async def test_progress_is_told_of_on_the_sdk_lane_too(way: Way) -> None:
    note = tool(lambda: "noted", name="note")
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, _total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    server = server_of(way, note, script=Script(ToolCalls(Call("note")), Say("done")))
    async with way.to(server) as client:
        found = await client.call("research", PROMPT, progress_callback=hear)
    assert found["content"][0]["text"] == "done"
    assert heard == [(1, "step 1"), (2, "tool note"), (3, "step 2")]


@every_way
async def test_a_handler_in_the_chain_sees_its_request(way: Way) -> None:
    seen: list[Any] = []

    @tool
    async def look() -> str:
        request = current_request()
        seen.append(None if request is None else (request.request_id is not None, request.sdk_context is not None))
        return "seen"

    server = server_of(way, look, script=Script(ToolCalls(Call("look")), Say("done")))
    async with way.to(server) as client:
        assert await client.text("look") == "seen"
        assert await client.text("research", PROMPT) == "done"
    assert seen == [(True, True)] * 2


@every_way
async def test_arguments_keep_their_bytes_through_the_chain(way: Way) -> None:
    seen: list[bytes] = []

    def keep(args: bytes) -> str:
        seen.append(args)
        return "kept"

    server = server_of(way, Tool.raw("keep", "", None, keep), script=Script())
    async with way.to(server) as client:
        assert await client.text("keep", b'{ "n": 1.50, "big": 9007199254740993 }') == "kept"
    assert seen == [b'{ "n": 1.50, "big": 9007199254740993 }']
