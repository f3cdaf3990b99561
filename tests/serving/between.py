"""Servers with something of the user's between a client and a tool of ours."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

import toolwire
from tests.serving.parity import AnyServer
from tests.serving.shop import RAW, TYPED, shop

Context = ServerRequestContext[Any, Any]


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
