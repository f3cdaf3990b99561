"""The only file that touches names of the SDK outside its documented API. A contract test says of each what breaks.

Why: a session that does not run on a wire must be asked for a page of tools without the SDK's validation of the whole
page, and `send_request` offers no such door.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from mcp import ClientSession
from mcp.server._otel import OpenTelemetryMiddleware
from mcp.server.extension import Extension, compose_tool_call_handler
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateBoundary
from mcp.shared.dispatcher import CallOptions
from mcp_types import methods
from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

__all__ = [
    "advertised",
    "dumped_result",
    "intercepted",
    "is_builtin_middleware",
    "lowlevel_of",
    "own_tool_names",
    "raw_request",
    "shielded",
    "subscriptions_of",
    "tracing",
    "write_stream_of",
]


def write_stream_of(session: ClientSession) -> Any:
    """The stream that a session writes to; `None` where its dispatcher has none (in process)."""
    return getattr(session._dispatcher, "_write_stream", None)


async def raw_request(
    session: ClientSession,
    method: str,
    params: dict[str, Any],
    request_id: int | None = None,
    on_progress: Callable[[float, float | None, str | None], None] | None = None,
) -> dict[str, Any]:
    """One request through a session's dispatcher: envelope and headers as the SDK stamps them, the result unvalidated.

    Raises MCPError for an error answer and a closed connection, and whatever else the session's transport raises.
    """
    data: dict[str, Any] = {"method": method, "params": params}
    options: CallOptions = {}
    session._stamp(data, options)
    if request_id is not None:
        options["request_id"] = request_id
    if on_progress is not None:

        async def heard(progress: float, total: float | None, message: str | None) -> None:
            on_progress(progress, total, message)

        options["on_progress"] = heard
    return await session._dispatcher.send_raw_request(method, data["params"], options)


def advertised(session: ClientSession) -> dict[str, Any]:
    """The capabilities that a session's client side advertises."""
    capabilities = session._build_capabilities(session.protocol_version or "")
    return capabilities.model_dump(by_alias=True, mode="json", exclude_none=True)


def lowlevel_of(server: Any) -> Server[Any]:
    """The low-level server under an MCPServer; a low-level server is its own."""
    return server._lowlevel_server if isinstance(server, MCPServer) else server


def own_tool_names(server: Any) -> set[str]:
    """The tools that an MCPServer has of its own."""
    return {tool.name for tool in server._tool_manager.list_tools()} if isinstance(server, MCPServer) else set()


def subscriptions_of(server: MCPServer) -> Any:
    """The bus behind an MCPServer's own `subscriptions/listen`."""
    return server._subscriptions


def intercepted(server: Any, handler: Any) -> tuple[Any, bool]:
    """A `tools/call` handler under the interceptors of an MCPServer's extensions, and whether there are any.

    Without this a tool of ours would be called past them.
    """
    extensions = server._extensions if isinstance(server, MCPServer) else []
    if any(type(extension).intercept_tool_call is not Extension.intercept_tool_call for extension in extensions):
        return compose_tool_call_handler(extensions, handler), True
    return handler, False


def dumped_result(method: str, version: str, result: dict[str, Any]) -> dict[str, Any]:
    """What the SDK writes for a handler's result that says all of its envelope itself.

    Raises pydantic's ValidationError.
    """
    return methods.serialize_server_result(method, version, result)


def is_builtin_middleware(middleware: Any) -> bool:
    """A middleware that the SDK itself puts on every server, compared by type: a subclass is the user's."""
    return type(middleware) in (OpenTelemetryMiddleware, RequestStateBoundary)


def shielded(task: asyncio.Task[Any]) -> bool:
    """Whether a task stands in an anyio scope that keeps cancellation out, of which `task.cancel()` does not know.

    The SDK cancels its handlers by such scopes. To give every handler one of its own would cost as much as the call.
    """
    states = getattr(sys.modules.get("anyio._backends._asyncio"), "_task_states", {})
    scope = getattr(states.get(task), "cancel_scope", None)
    while scope is not None and not scope.shield:
        scope = getattr(scope, "_parent_scope", None)
    return scope is not None


def tracing() -> bool:
    """A real tracer provider is set, so that the SDK's spans go somewhere."""
    return not isinstance(get_tracer_provider(), ProxyTracerProvider)
