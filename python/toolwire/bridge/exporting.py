"""Exposing tools: `add_tools` on the SDK's servers, beside whatever the user has there.

The checks all come before the first tool is added. Our handlers wrap those that were there: a name of ours wins a call,
everything else is the server's own.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, SubscriptionBus, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from pydantic_core import to_json

from toolwire import _core, _sdk
from toolwire.bridge.served_tool import ServedTool
from toolwire.contract.current import Request, serving
from toolwire.contract.decorator import tool as make_tool
from toolwire.contract.tool_object import Tool
from toolwire.errors import RegistrationError, quoted
from toolwire.wire.server import Kept, ServerWire, current_wire

__all__ = ["Exported", "add_tools", "exported_on", "remove_tools"]

logger = logging.getLogger("toolwire.bridge")

AnyServer = Server[Any] | MCPServer
_servers: WeakKeyDictionary[Server[Any], Exported] = WeakKeyDictionary()


def add_tools(server: AnyServer, *tools: Tool | Callable[..., Any], page_size: int | None = None) -> None:
    """Serves tools on an SDK server: Tools, or functions that become Tools.

    Every failure of a call is a result that the client's model can read. Raises RegistrationError, before anything is
    added, for a tool that is None, a name given twice or already served here, a tool that requires approval.
    `page_size` splits the listing. A tool's timeout, cap and middleware do not apply here.
    """
    prepared = [_prepared(entry) for entry in tools]
    exported = exported_on(server)
    taken = exported.tools.keys() | _sdk.own_tool_names(server)
    seen: set[str] = set()
    for entry in prepared:
        name = quoted(entry.name)
        if entry.name in seen:
            raise RegistrationError(f"toolwire: add_tools: duplicate tool name {name}")
        if entry.name in taken:
            raise RegistrationError(f"toolwire: add_tools: the server has a tool named {name} already")
        if entry.settings.require_approval:
            raise RegistrationError(
                f"toolwire: add_tools: tool {name} requires approval and MCP has no approval channel; "
                "expose it through serve_agent, whose dispatch answers gated calls with the approval error"
            )
        seen.add(entry.name)
    if page_size is not None:
        exported.page_size = page_size
    exported.add([ServedTool(entry) for entry in prepared])


def remove_tools(server: AnyServer, *names: str) -> None:
    """Takes tools off a server again, and tells its clients. Raises KeyError, before anything is removed, for a name that is not served."""
    exported = exported_on(server)
    for name in names:
        if name not in exported.tools:
            raise KeyError(f"no tool named {name!r} is served here by toolwire")
    exported.remove(names)


def _prepared(entry: Any) -> Tool:
    if entry is None:
        raise RegistrationError("toolwire: add_tools called with a nil tool")
    return entry if isinstance(entry, Tool) else make_tool(entry)


def exported_on(server: AnyServer) -> Exported:
    """What toolwire serves on a server; nothing yet, for one that it has not seen."""
    lowlevel = _sdk.lowlevel_of(server)
    found = _servers.get(lowlevel)
    if found is None:
        found = _servers[lowlevel] = Exported(server, lowlevel)
    return found


class Exported:
    """The tools of one server, its two handlers, and the wires that it is served on."""

    def __init__(self, server: AnyServer, lowlevel: Server[Any]) -> None:
        self._server = lowlevel
        self._facade = server
        self.tools: dict[str, ServedTool] = {}
        self.page_size: int | None = None
        self.wires: WeakSet[ServerWire] = WeakSet()
        self.stamp = to_json(lowlevel.server_info_stamp)
        self._expected: dict[str, dict[str, tuple[Any, bytes]]] = {}
        self._bus: SubscriptionBus | None = None
        self._previous_call: Any = None
        self._previous_list: Any = None
        self._installed: Any = None
        self._intercepted = False
        lowlevel.lifespan = _captured(lowlevel.lifespan)

    def add(self, tools: Sequence[ServedTool]) -> None:
        """Adds checked tools, and tells the clients."""
        if self._installed is None and tools:
            self._install()
        for entry in tools:
            self.tools[entry.name] = entry
        self._changed()

    def remove(self, names: Sequence[str]) -> None:
        """Removes tools, and tells the clients."""
        for name in names:
            self.tools.pop(name, None)
        self._changed()

    def _install(self) -> None:
        server = self._server
        call, listing = server.get_request_handler("tools/call"), server.get_request_handler("tools/list")
        self._previous_call = call.handler if call is not None else None
        self._previous_list = listing.handler if listing is not None else None
        handler, self._intercepted = _sdk.intercepted(self._facade, self._call)
        server.add_request_handler("tools/call", types.CallToolRequestParams, handler)
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self._list)
        self._installed = handler
        if server.get_request_handler("subscriptions/listen") is None:
            self._bus = InMemorySubscriptionBus()
            listen = ListenHandler(self._bus)
            server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, listen)
        elif isinstance(self._facade, MCPServer):
            self._bus = _sdk.subscriptions_of(self._facade)

    def _changed(self) -> None:
        self._expected.clear()
        wires = list(self.wires)
        for wire in wires:
            if wire.handshake:
                wire.notify("notifications/tools/list_changed")
        bus = self._bus
        if wires and bus is not None:
            wires[0].spawn(lambda: bus.publish(ToolsListChanged()))

    # The express lane's service

    def certain(self) -> bool:
        """Nothing of the user's stands between a `tools/call` and a tool of ours."""
        server = self._server
        entry = server.get_request_handler("tools/call")
        return (
            entry is not None
            and entry.handler is self._installed
            and not self._intercepted
            and all(map(_sdk.is_builtin_middleware, server.middleware))
            and not _sdk.tracing()
        )

    def find(self, name: str, /) -> ServedTool | None:
        """The tool of that name, unless it asks for the SDK's own context."""
        found = self.tools.get(name)
        return None if found is None or found.needs_sdk_context else found

    # The SDK lane's handlers

    async def _call(self, context: Any, params: types.CallToolRequestParams) -> Any:
        served = self.tools.get(params.name)
        if served is None:
            if self._previous_call is not None:
                return await self._previous_call(context, params)
            raise MCPError(code=types.INVALID_PARAMS, message=f"unknown tool {quoted(params.name)}")
        kept = _kept_of(context)
        arguments = _exact_arguments(kept, params.arguments)
        token = serving.set(_request_of(context, kept))
        try:
            stamp = self.stamp if context.protocol_version in MODERN_PROTOCOL_VERSIONS else None
            exact = await served.result(arguments, stamp)
        finally:
            serving.reset(token)
        result = json.loads(exact)
        try:
            expected = _sdk.dumped_result("tools/call", context.protocol_version, result)
        except ValidationError:
            # Blocks of a remote tool that this SDK does not know: it is shown their text, and the client gets the blocks.
            read = _core.read_result(exact)
            result["content"] = [{"type": "text", "text": block.line} for block in read.blocks()]
            expected = _sdk.dumped_result("tools/call", context.protocol_version, result)
        if kept is not None:
            kept.expected, kept.exact = expected, exact
        return result

    async def _list(self, context: Any, params: types.PaginatedRequestParams | None) -> Any:
        cursor = params.cursor if params is not None else None
        version = context.protocol_version
        start = 0
        if cursor is not None:
            if not cursor.startswith(_CURSOR) or not cursor.removeprefix(_CURSOR).isdecimal():
                return await self._others(context, params)
            start = int(cursor.removeprefix(_CURSOR))
        exact = self._exact_entries(version)
        names = list(self.tools)
        end = len(names) if self.page_size is None else start + self.page_size
        result: dict[str, Any] = {"tools": [json.loads(exact[name][1]) for name in names[start:end]]}
        if start == 0:
            others = await self._others(context, params)
            if others is not None:
                self._append(result, others)
        if end < len(names):
            if "nextCursor" in result:
                raise MCPError(
                    code=types.INTERNAL_ERROR, message="page_size cannot be used beside a listing that pages itself"
                )
            result["nextCursor"] = f"{_CURSOR}{end}"
        if version in MODERN_PROTOCOL_VERSIONS:
            result["resultType"] = "complete"
            if "tools/list" not in self._server.cache_hints:
                result.setdefault("ttlMs", 0)
                result.setdefault("cacheScope", "private")
        kept = _kept_of(context)
        if kept is not None:
            kept.listed = exact
        return result

    async def _others(self, context: Any, params: types.PaginatedRequestParams | None) -> Any:
        if self._previous_list is None:
            if params is not None and params.cursor is not None:
                raise MCPError(code=types.INVALID_PARAMS, message=f"unknown cursor {quoted(params.cursor)}")
            return None
        return await self._previous_list(context, params)

    def _append(self, result: dict[str, Any], others: Any) -> None:
        dumped = others if isinstance(others, dict) else others.model_dump(by_alias=True, mode="json", exclude_none=True)
        for entry in dumped.get("tools", ()):
            if entry.get("name") in self.tools:
                logger.warning("the listing's own tool %r is hidden by toolwire's of that name", entry.get("name"))
            else:
                result["tools"].append(entry)
        result.update({name: value for name, value in dumped.items() if name != "tools"})

    def _exact_entries(self, version: str) -> dict[str, tuple[Any, bytes]]:
        """Each entry as the SDK would write it at a version, beside its own bytes."""
        found = self._expected.get(version)
        if found is None:
            modern = version in MODERN_PROTOCOL_VERSIONS
            raw = {name: served.entry(modern) for name, served in self.tools.items()}
            page = {
                "tools": [json.loads(entry) for entry in raw.values()],
                "resultType": "complete",
                "ttlMs": 0,
                "cacheScope": "private",
            }
            written = _sdk.dumped_result("tools/list", version, page)["tools"]
            found = {name: (entry, raw[name]) for name, entry in zip(raw, written, strict=True)}
            self._expected[version] = found
        return found


_CURSOR = "toolwire:"


def _captured(lifespan: Any) -> Any:
    """The server's lifespan, which also tells the wire what it yielded."""

    @asynccontextmanager
    async def captured(server: Any) -> AsyncIterator[Any]:
        async with lifespan(server) as state:
            wire = current_wire.get()
            if wire is None:
                yield state
                return
            wire.lifespan, wire.has_lifespan = state, True
            try:
                yield state
            finally:
                # The SDK joins its handlers before the lifespan ends, and ours use its state too.
                await wire.quiet()

    return captured


def _kept_of(context: Any) -> Kept | None:
    wire = current_wire.get()
    return None if wire is None or context.request_id is None else wire.kept_of(context.request_id)


def _exact_arguments(kept: Kept | None, arguments: dict[str, Any] | None) -> bytes:
    """The client's own bytes, unless a middleware has changed what the SDK decoded from them."""
    if kept is not None and kept.message.method == "tools/call":
        sent = (kept.message.params or {}).get("arguments")
        if (sent or {}) == (arguments or {}):
            raw = kept.frame.call_arguments()
            return b"{}" if raw is None or raw == b"null" else raw
    return json.dumps(arguments or {}, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _request_of(context: Any, kept: Kept | None) -> Request:
    from mcp.server.auth.middleware.auth_context import get_access_token

    meta = dict(context.meta or {})
    if "progress_token" in meta:
        meta["progressToken"] = meta.pop("progress_token")

    async def report(progress: float, total: float | None, message: str | None) -> None:
        await context.session.report_progress(progress, total, message)

    raw = kept.frame.call_meta() if kept is not None else None
    return Request(
        request_id=context.request_id,
        lifespan=context.lifespan_context,
        auth=get_access_token(),
        meta_json=raw if raw is not None else to_json(meta) if meta else None,
        sdk_context=context,
        report=report if "progressToken" in meta else None,
    )
