"""Servers with something of the user's between client and tool: it is never gone round, and both lanes answer alike.

`express` says how many of the calls may take the express lane: all where nothing stands between, none otherwise.
"""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

import toolwire
from tests.serving.parity import AnyServer, Step, compare
from tests.serving.raw_client import (
    DISCOVER,
    ERAS,
    HANDSHAKE,
    INITIALIZE,
    INITIALIZED,
    call_line,
    request_line,
    served,
)
from tests.serving.shop import RAW, TYPED, add, echo, shop

Context = ServerRequestContext[Any, Any]
CALLS = [
    ("echo", b'{"text":"hello"}'),
    ("echo", b'{"text":5}'),
    ("add", b'{"a":1.0}'),
    ("add", b'{"a":2,"b":3}'),
    ("lookup_order", b'{"order_id":"1"}'),
    ("lookup_order", b'{"order_id":"boom"}'),
    ("raw", b'{"n":1.50,"big":1E400}'),
    ("remote", b"{}"),
    ("whoami", b"{}"),
    ("counted", b"{}"),
    ("own", b'{"a":1}'),
    ("nope", b"{}"),
]
OURS = len(CALLS) - 2


def script(era: str) -> list[Step]:
    first: list[Step] = [[INITIALIZE], [INITIALIZED]] if era == HANDSHAKE else [[DISCOVER]]
    calls = [[call_line(era, name, given, meta=b'"progressToken":5,"k":1.50')] for name, given in CALLS]
    return [*first, *calls, [request_line(era, "tools/list")]]


@dataclass
class Case:
    """A kind of server, and how many of the calls may go express."""

    make: Callable[[], AnyServer]
    express: int


def with_middleware(middleware: Any) -> Callable[[], AnyServer]:
    def make() -> AnyServer:
        server = shop()
        server.middleware.append(middleware)
        return server

    return make


@dataclass
class Observer:
    """Looks, and changes nothing."""

    seen: list[Any] = field(default_factory=list)

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        self.seen.append((ctx.method, ctx.params))
        result = await call_next(ctx)
        self.seen.append(result)
        return result


async def rewriting(context: Context, call_next: CallNext) -> HandlerResult:
    params = dict(context.params or {})
    if context.method == "tools/call" and params.get("name") == "nope":
        params["name"] = "add"
        params["arguments"] = {"a": 40, "b": 2}
    elif context.method == "tools/call" and params.get("name") == "add":
        # Equal in Python, and not in JSON.
        params["arguments"] = {**params["arguments"], "a": True}
    return await call_next(replace(context, params=params))


async def rewriting_meta(context: Context, call_next: CallNext) -> HandlerResult:
    params = dict(context.params or {})
    if context.method == "tools/call":
        params["_meta"] = {**params.get("_meta", {}), "by": "middleware"}
    return await call_next(replace(context, params=params))


async def changing(context: Context, call_next: CallNext) -> HandlerResult:
    result = await call_next(context)
    if context.method == "tools/call":
        assert isinstance(result, dict)
        result = {**result, "content": [*result["content"], {"type": "text", "text": "and more"}]}
    return result


async def vetoing(context: Context, call_next: CallNext) -> HandlerResult:
    if context.method == "tools/call" and (context.params or {}).get("name") == "echo":
        raise MCPError(code=-32001, message="not today")
    return await call_next(context)


async def short_circuiting(context: Context, call_next: CallNext) -> HandlerResult:
    if context.method == "tools/call":
        return types.CallToolResult(content=[types.TextContent(type="text", text="from the cache")])
    return await call_next(context)


class Subclassed(type(Server("x").middleware[0])):  # type: ignore[misc]  # the class is private, its instance is not
    """A subclass of a middleware of the SDK's is the user's."""


async def own_call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    del context
    text = f"own {params.name} {json.dumps(params.arguments)}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def own_list(context: Any, params: Any) -> types.ListToolsResult:
    del context, params
    return types.ListToolsResult(
        tools=[types.Tool(name="own", description="the user's", input_schema={"type": "object"})]
    )


def beside_handlers() -> AnyServer:
    return shop(on_call_tool=own_call, on_list_tools=own_list)


def replaced_later() -> AnyServer:
    server = shop()
    server.add_request_handler("tools/call", types.CallToolRequestParams, own_call)
    return server


def beside_tools() -> AnyServer:
    server = MCPServer("shop", version="1")

    @server.tool()
    def own(a: int) -> int:
        return a + 1

    toolwire.add_tools(server, *TYPED, *RAW)
    return server


class Counting(Extension):
    """Counts the calls that it sees; a purely additive extension does not override this."""

    identifier = "com.example/counting"

    def __init__(self) -> None:
        self.count = 0

    async def intercept_tool_call(
        self, params: types.CallToolRequestParams, ctx: Context, call_next: CallNext
    ) -> HandlerResult:
        self.count += 1
        result = await call_next(ctx)
        if params.name == "echo":
            return types.CallToolResult(content=[types.TextContent(type="text", text=f"seen {self.count}")])
        return result


class Additive(Extension):
    identifier = "com.example/additive"


def with_extension(kind: type[Extension]) -> Callable[[], AnyServer]:
    def make() -> AnyServer:
        server = MCPServer("shop", version="1", extensions=[kind()])

        @server.tool()
        def own(a: int) -> int:
            return a + 1

        toolwire.add_tools(server, *TYPED, *RAW)
        return server

    return make


tenant: ContextVar[str] = ContextVar("tenant", default="nobody")


@asynccontextmanager
async def lifespan(server: Server[Any]) -> AsyncIterator[dict[str, str]]:
    del server
    token = tenant.set("set by the lifespan")
    yield {"state": "of the lifespan"}
    tenant.reset(token)


@toolwire.tool
async def whose() -> str:
    request = toolwire.current_request()
    assert request is not None
    return f"{tenant.get()}, {request.lifespan}"


def with_lifespan() -> AnyServer:
    server = shop(lifespan=lifespan)
    toolwire.add_tools(server, whose)
    return server


def with_cache_hints() -> AnyServer:
    return shop(cache_hints={"tools/list": CacheHint(ttl_ms=5000, scope="public")})


CASES = {
    "nothing between": Case(shop, OURS),
    "an observing middleware": Case(with_middleware(Observer()), 0),
    "a middleware that rewrites params": Case(with_middleware(rewriting), 0),
    "a middleware that rewrites _meta": Case(with_middleware(rewriting_meta), 0),
    "a middleware that changes results": Case(with_middleware(changing), 0),
    "a middleware that vetoes": Case(with_middleware(vetoing), 0),
    "a middleware that answers by itself": Case(with_middleware(short_circuiting), 0),
    "a subclass of the SDK's middleware": Case(with_middleware(Subclassed()), 0),
    "the user's own handlers beside ours": Case(beside_handlers, OURS),
    "a handler that replaced ours": Case(replaced_later, 0),
    "an MCPServer's own tools": Case(beside_tools, OURS),
    "an extension that intercepts calls": Case(with_extension(Counting), 0),
    "an extension that only adds": Case(with_extension(Additive), OURS),
    "a lifespan": Case(with_lifespan, OURS),
    "cache hints": Case(with_cache_hints, OURS),
}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("case", CASES)
async def test_whatever_stands_between_has_its_say_on_both_lanes(case: str, era: str) -> None:
    compared = await compare(CASES[case].make, script(era))
    assert compared.tolerated == set()
    assert compared.express.express_calls == CASES[case].express


def text_at(compared: Any, name: str) -> str:
    """The first text of the last answer to a call of that name."""
    first = 2 if len(compared.express.answers[1]) == 0 else 1
    at = first + max(index for index, (called, _) in enumerate(CALLS) if called == name)
    answer = json.loads(compared.express.answers[at][-1])
    text: str = answer["result"]["content"][0]["text"] if "result" in answer else answer["error"]["message"]
    return text


@pytest.mark.parametrize("era", ERAS)
async def test_what_was_changed_is_what_is_answered(era: str) -> None:
    """Equality alone would hold for two lanes that are wrong alike."""
    for case, name, expected in [
        ("a middleware that rewrites params", "nope", "42"),
        (
            "a middleware that rewrites params",
            "add",
            'INVALID_INPUT: tool "add": field "a": expected integer, got bool',
        ),
        ("a middleware that vetoes", "echo", "not today"),
        ("a middleware that answers by itself", "raw", "from the cache"),
        ("the user's own handlers beside ours", "nope", "own nope {}"),
        ("a handler that replaced ours", "add", 'own add {"a": 2, "b": 3}'),
        ("an extension that intercepts calls", "echo", "seen 2"),
        ("an MCPServer's own tools", "own", "2"),
    ]:
        compared = await compare(CASES[case].make, script(era))
        assert text_at(compared, name) == expected, case


@pytest.mark.parametrize("era", ERAS)
async def test_a_result_that_was_changed_keeps_the_change_and_one_that_was_not_keeps_its_bytes(era: str) -> None:
    changed = await compare(CASES["a middleware that changes results"].make, script(era))
    raw = [line for step in changed.express.answers for line in step if b"1.50" in line or b"and more" in line]
    assert all(b'"text":"and more"' in line for line in raw)
    kept = await compare(CASES["an observing middleware"].make, script(era))
    assert any(b'"structuredContent":{"b":1.50,"a":[1E400,-0,123456789012345678901234567890]}' in line
               for step in kept.express.answers for line in step)  # fmt: skip


@pytest.mark.parametrize("era", ERAS)
async def test_meta_that_a_middleware_rewrote_is_what_the_handler_sees(era: str) -> None:
    compared = await compare(CASES["a middleware that rewrites _meta"].make, script(era))
    assert json.loads(text_at(compared, "whoami"))[2]["by"] == "middleware"


@pytest.mark.parametrize("era", ERAS)
async def test_the_lifespans_state_and_context_variables_are_seen_on_both_lanes(era: str) -> None:
    compared = await compare(with_lifespan, [*script(era), [call_line(era, "whose", identifier=99)]])
    assert "set by the lifespan, {'state': 'of the lifespan'}" in compared.answers[-1]["result"]["content"][0]["text"]
    assert compared.express.express_calls == OURS + 1


async def test_an_interceptor_runs_once_around_an_mcpservers_own_tool() -> None:
    extension = Counting()

    def make() -> AnyServer:
        server = MCPServer("shop", version="1", extensions=[extension])

        @server.tool()
        def own(a: int) -> int:
            return a + 1

        toolwire.add_tools(server, echo, add)
        return server

    await compare(make, [[INITIALIZE], [INITIALIZED], [call_line(HANDSHAKE, "own", b'{"a":1}')]])
    assert extension.count == 2  # one on each lane


@pytest.mark.parametrize("era", ERAS)
async def test_a_middleware_that_comes_and_goes_while_clients_are_connected_is_obeyed_at_once(era: str) -> None:
    server = shop()
    observer = Observer()
    async with served(server) as client:
        await client.open(era)
        for expected, change in [(1, None), (1, server.middleware.append), (2, server.middleware.remove)]:
            if change is not None:
                change(observer)
            await client.call(era, "echo", b'{"text":"a"}')
            assert client.wire.counters["express_calls"] == expected
    assert [seen[0] for seen in observer.seen[:1]] == ["tools/call"]
