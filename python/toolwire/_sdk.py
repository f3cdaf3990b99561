"""The only file that touches names of the SDK outside its documented API. A contract test says of each what breaks.

Why: a session that does not run on a wire must be asked for a page of tools without the SDK's validation of the whole
page, and `send_request` offers no such door.
"""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
from mcp import ClientSession
from mcp.server._otel import OpenTelemetryMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, authorization_context
from mcp.server.extension import Extension, compose_tool_call_handler
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateBoundary
from mcp.server.streamable_http import check_accept_headers
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware
from mcp.shared.dispatcher import CallOptions
from mcp.shared.inbound import validate_mcp_param_headers, x_mcp_header_map
from mcp.shared.message import SessionMessage
from mcp_types import methods
from opentelemetry import trace

__all__ = [
    "accepted_forms",
    "advertised",
    "dumped_result",
    "held",
    "intercepted",
    "lowlevel_of",
    "mirror_headers",
    "mirrors",
    "only_builtin",
    "open_session",
    "own_tool_names",
    "raw_request",
    "request_judge",
    "server_ends",
    "shielded",
    "subscriptions_of",
    "taken_over",
    "tell_sessions",
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


def mirror_headers(session: ClientSession, name: str, schema: dict[str, Any]) -> None:
    """Tells a session of a tool, listed past it, whose arguments go out as `Mcp-Param-*` headers too.

    Without this a server that checks them, as 2026-07-28 has it, refuses the call.
    """
    session._x_mcp_header_maps[name] = x_mcp_header_map(schema)


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


_BUILTIN = (OpenTelemetryMiddleware, RequestStateBoundary)


def only_builtin(middleware: Iterable[Any]) -> bool:
    """Nothing but what the SDK itself puts on every server, compared by type: a subclass is the user's."""
    for entry in middleware:  # noqa: SIM110 - asked at every call, and a loop is half the price of a generator
        if type(entry) not in _BUILTIN:
            return False
    return True


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
    # What `get_tracer_provider` gives, without its look at the environment at each call: the SDK has asked it at its
    # import, and its own tracer looks here too.
    provider = trace._TRACER_PROVIDER
    return provider is not None and not isinstance(provider, trace.ProxyTracerProvider)


# The server's side of streamable HTTP


def taken_over(manager: StreamableHTTPSessionManager, app: Any, run: Callable[[], Any]) -> None:
    """Puts an app of ours and a way to run in the place of a session manager's own, inside the route that stands.

    Both names are public; what is relied on is that the route looks them up when a request comes.
    """
    vars(manager)["asgi_app"] = app
    vars(manager)["run"] = run


def request_judge(manager: StreamableHTTPSessionManager) -> Callable[[Any], Awaitable[Any]]:
    """The SDK's judge of a POST's Content-Type, Host and Origin. It reads `.headers.get` of what it is given.

    It gives the response of a refusal, or None.
    """
    security = TransportSecurityMiddleware(manager.security_settings)

    async def judge(request: Any) -> Any:
        return await security.validate_request(request, is_post=True)

    return judge


def accepted_forms(request: Any) -> tuple[bool, bool]:
    """Whether a request's Accept header takes JSON, and a stream of events. It reads `.headers.get`."""
    return check_accept_headers(request)


def server_ends() -> bool:
    """The ASGI server has been told to end, as far as the streams of the SDK's are told: they end by it."""
    status = getattr(sys.modules.get("sse_starlette.sse"), "AppStatus", None)
    return bool(getattr(status, "should_exit", False))


def open_session(manager: StreamableHTTPSessionManager, session_id: str, user: Any) -> Any:
    """The transport of a session that lives, and belongs to the credential that a request brings; or None."""
    transport = manager._server_instances.get(session_id)
    if transport is None or transport.is_terminated:
        return None
    if transport.idle_scope is not None and transport.idle_scope.cancel_called:
        return None
    owner = authorization_context(user) if isinstance(user, AuthenticatedUser) else None
    return transport if owner == manager._session_owners.get(session_id) else None


def tell_sessions(manager: StreamableHTTPSessionManager) -> list[Callable[[SessionMessage], Awaitable[None]]]:
    """What writes a message of the server's own to each session that lives, for the stream that its client holds."""
    return [found._write_stream.send for found in manager._server_instances.values() if found._write_stream is not None]


@contextmanager
def held(transport: Any) -> Iterator[None]:
    """A request of a session is being served: its time of rest begins again when the last one is over."""
    scope, seconds = transport.idle_scope, transport._idle_timeout
    if scope is None or seconds is None:
        yield
        return
    transport._requests_in_flight += 1
    scope.deadline = math.inf
    try:
        yield
    finally:
        transport._requests_in_flight -= 1
        if not transport._requests_in_flight:
            scope.deadline = anyio.current_time() + seconds


class _Lines(dict[str, str]):
    """The header lines of a request, of which one name may stand on several."""

    def __init__(self, lines: Iterable[tuple[bytes, bytes]]) -> None:
        super().__init__()
        self._lines = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in lines]

    def items(self) -> Any:
        return self._lines


def mirrors(schema: Any, arguments: dict[str, Any], headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """The SDK would find a call's `Mcp-Param-*` headers as the tool's schema asks for them.

    It reads `.items` of what it is given: a name on two lines is seen there.
    """
    return validate_mcp_param_headers(schema, arguments, _Lines(headers)) is None
