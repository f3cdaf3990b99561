"""What a handler may ask of the request that it serves: the same on both lanes, and nothing outside of one."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer

import toolwire
from tests.serving.raw_client import ERAS, HANDSHAKE, call_line, served, text_of
from toolwire import Request

LANES = pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])


@asynccontextmanager
async def lifespan(server: Server[Any]) -> AsyncIterator[dict[str, str]]:
    yield {"name": server.name}


class Seen:
    """A tool that keeps the request which it was called in."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.tool = toolwire.tool(self.look)

    async def look(self, report: bool = False) -> str:
        request = toolwire.current_request()
        assert request is not None
        self.requests.append(request)
        if report:
            await request.report_progress(1, 2, "half")
            await toolwire.report_progress(2)
        return "seen"


@LANES
@pytest.mark.parametrize("era", ERAS)
async def test_id_lifespan_and_meta_are_told_exactly(era: str, express: bool) -> None:
    seen = Seen()
    server: Server[Any] = Server("s", lifespan=lifespan)
    toolwire.add_tools(server, seen.tool)
    async with served(server, express=express) as client:
        await client.open(era)
        await client.say(
            call_line(era, "look", identifier="a-1", meta=b'"k":{"n":1.50,"big":1E400},"progressToken":"t"')
        )
        await client.say(call_line(era, "look", identifier=5))
        assert client.wire.counters["express_calls"] == (2 if express else 0)
    first, second = seen.requests
    assert (first.request_id, second.request_id) == ("a-1", 5)
    assert first.lifespan == {"name": "s"}
    assert first.meta["k"]["n"] == 1.5
    assert first.meta_json is not None
    assert b'"k":{"n":1.50,"big":1E400},"progressToken":"t"' in first.meta_json
    assert (first.wants_progress, second.wants_progress) == (True, False)
    assert (first.auth, second.auth) == (None, None)
    assert (second.meta_json is None, dict(second.meta) == {}) == ((True, True) if era == HANDSHAKE else (False, False))


@LANES
@pytest.mark.parametrize("era", ERAS)
async def test_progress_goes_out_under_the_callers_token_before_the_answer(era: str, express: bool) -> None:
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, Seen().tool)
    async with served(server, express=express) as client:
        await client.open(era)
        for token in (b"7", b'"t"', b"0"):
            lines = await client.say(call_line(era, "look", b'{"report":true}', meta=b'"progressToken":' + token))
            told = [json.loads(line) for line in lines]
            assert [message.get("method") for message in told] == ["notifications/progress"] * 2 + [None]
            given = json.loads(token)
            assert told[0]["params"] == {"progressToken": given, "progress": 1, "total": 2, "message": "half"}
            assert told[1]["params"] == {"progressToken": given, "progress": 2}
        assert len(await client.say(call_line(era, "look", b'{"report":true}'))) == 1


@LANES
async def test_progress_that_comes_after_the_answer_is_not_told(express: bool) -> None:
    seen = Seen()
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, seen.tool)
    async with served(server, express=express) as client:
        await client.open(HANDSHAKE)
        await client.say(call_line(HANDSHAKE, "look", meta=b'"progressToken":1'))
        before = len(client.lines)
        await seen.requests[0].report_progress(9)
        await client.settle()
        assert len(client.lines) == before


async def test_outside_of_a_served_call_there_is_no_request_and_progress_goes_nowhere() -> None:
    assert toolwire.current_request() is None
    await toolwire.report_progress(1)

    @toolwire.tool
    async def look() -> str:
        await toolwire.report_progress(1)
        return repr(toolwire.current_request())

    assert await look.invoke() == "None"


@LANES
async def test_calls_side_by_side_have_each_its_own_request(express: bool) -> None:
    together = anyio.Event()
    waiting: list[Any] = []

    @toolwire.tool
    async def meet() -> str:
        first = toolwire.current_request()
        waiting.append(first)
        if len(waiting) == 20:
            together.set()
        await together.wait()
        second = toolwire.current_request()
        assert first is second
        assert second is not None
        return str(second.request_id)

    server: Server[Any] = Server("s")
    toolwire.add_tools(server, meet)
    async with served(server, express=express) as client:
        await client.open(HANDSHAKE)
        lines = await client.say(*(call_line(HANDSHAKE, "meet", identifier=number) for number in range(20)))
        answers = [json.loads(line) for line in lines]
        assert [text_of(answer["result"]) for answer in answers] == [str(answer["id"]) for answer in answers]


@LANES
async def test_the_access_token_of_whoever_embeds_the_server_is_told(express: bool) -> None:
    seen = Seen()
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, seen.tool)
    token = AccessToken(token="t", client_id="c", scopes=[])  # noqa: S106 - a name, no secret
    auth_context_var.set(AuthenticatedUser(token))
    async with served(server, express=express) as client:
        auth_context_var.set(None)
        await client.open(HANDSHAKE)
        await client.call(HANDSHAKE, "look")
    assert seen.requests[0].auth == token


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", [Server, MCPServer])
async def test_a_tool_that_asks_for_a_context_of_the_sdks_takes_its_lane_and_gets_it(kind: Any, era: str) -> None:
    given: list[Any] = []

    @toolwire.tool
    async def high(x: int, ctx: Context) -> str:
        given.append(ctx)
        await ctx.report_progress(x, 2)
        return f"{x} {ctx.request_id} {ctx.request_context.method}"

    @toolwire.tool
    async def low(ctx: ServerRequestContext[Any, Any], x: int = 1) -> str:
        given.append(ctx)
        return f"{x} {ctx.request_id} {ctx.protocol_version}"

    @toolwire.tool
    async def perhaps(ctx: Context | None = None) -> str:
        given.append(ctx)
        return type(ctx).__name__

    server = kind("s")
    toolwire.add_tools(server, high, low, perhaps)
    async with served(server) as client:
        await client.open(era)
        lines = await client.say(call_line(era, "high", b'{"x":1}', meta=b'"progressToken":3'))
        assert json.loads(lines[0])["params"] == {"progressToken": 3, "progress": 1, "total": 2}
        assert text_of(json.loads(lines[1])["result"]) == "1 7 tools/call"
        assert text_of(await client.call(era, "low")) == f"1 7 {era}"
        assert text_of(await client.call(era, "perhaps")) == "Context"
        assert client.wire.counters["express_calls"] == 0
    assert given[0].request_context.session is not None
    if kind is MCPServer:
        assert given[0].mcp_server is server


async def test_a_direct_call_of_such_a_tool_has_no_context() -> None:
    @toolwire.tool
    async def perhaps(ctx: Context | None = None) -> str:
        return repr(ctx)

    assert await perhaps.invoke() == "None"


async def test_a_client_in_the_same_process_does_not_lend_its_request_to_the_server() -> None:
    """The inner handler is called from within an outer one, over a wire: it sees its own server's context alone."""
    inner: Server[Any] = Server("inner")
    seen = Seen()
    toolwire.add_tools(inner, seen.tool)
    async with toolwire.connect(inner) as connection:
        imported = (await toolwire.tools(connection))["look"]

        @toolwire.tool
        async def outer() -> str:
            mine = toolwire.current_request()
            assert mine is not None
            text = await imported.invoke()
            assert toolwire.current_request() is mine
            return f"{text} {mine.request_id}"

        server: Server[Any] = Server("outer")
        toolwire.add_tools(server, outer)
        async with served(server) as client:
            await client.open(HANDSHAKE)
            assert text_of(await client.call(HANDSHAKE, "outer", identifier=3)) == "seen 3"
    assert seen.requests[0].request_id != 3
