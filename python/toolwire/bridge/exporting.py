"""Exposing tools: `add_tools` on the SDK's servers, beside whatever the user has there.

The checks all come before the first tool is added. Our handlers wrap those that were there: a name of ours wins a call,
everything else is the server's own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from weakref import WeakSet

import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, SubscriptionBus, ToolsListChanged
from mcp_types.version import LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic_core import to_json

from toolwire import _sdk
from toolwire.bridge.captured_lifespan import captured_lifespan
from toolwire.bridge.sdk_calls import exact_arguments, kept_of, request_of, shown
from toolwire.bridge.served_listing import Served, ServedListing
from toolwire.bridge.served_tool import ServedTool
from toolwire.contract.current import serving
from toolwire.contract.decorator import tool as make_tool
from toolwire.contract.tool_object import Tool
from toolwire.errors import RegistrationError, quoted
from toolwire.loops import call_in
from toolwire.wire.served_calls import Answered
from toolwire.wire.server import Told

__all__ = ["Exported", "add_tools", "exported_on", "remove_tools"]

logger = logging.getLogger("toolwire.bridge")

AnyServer = Server[Any] | MCPServer


def add_tools(server: AnyServer, *tools: Tool | Callable[..., Any], page_size: int | None = None) -> None:
    """Serves tools on an SDK server: Tools, or functions that become Tools.

    Every failure of a call is a result that the client's model can read. Raises RegistrationError, before anything is
    added, for a tool that is None, a name given twice or already served here, a tool that requires approval.
    `page_size` splits the listing. A tool's timeout, cap and middleware do not apply here. Any thread may call it.
    """
    if page_size is not None and page_size < 1:
        raise RegistrationError(f"toolwire: add_tools: a page of {page_size} tools never ends the listing")
    exported = exported_on(server)
    taken = exported.taken()
    prepared: dict[str, Tool] = {}
    for given in tools:
        entry = _prepared(given)
        name = quoted(entry.name)
        if entry.name in prepared:
            raise RegistrationError(f"toolwire: add_tools: duplicate tool name {name}")
        if entry.name in taken:
            raise RegistrationError(f"toolwire: add_tools: the server has a tool named {name} already")
        if entry.settings.require_approval:
            raise RegistrationError(
                f"toolwire: add_tools: tool {name} requires approval and MCP has no approval channel; "
                "expose it through serve_agent, whose dispatch answers gated calls with the approval error"
            )
        prepared[entry.name] = entry
    if page_size is not None:
        exported.page_size = page_size
    exported.add([ServedTool(entry) for entry in prepared.values()])


def remove_tools(server: AnyServer, *names: str) -> None:
    """Takes tools off a server again, and tells its clients.

    Raises KeyError, before anything is removed, for a name that is not served.
    """
    exported = exported_on(server)
    for name in names:
        if name not in exported.tools:
            raise KeyError(f"no tool named {name!r} is served here by toolwire")
    exported.remove(names)


def _prepared(entry: Any) -> Tool:
    if entry is None:
        raise RegistrationError("toolwire: add_tools called with a nil tool")
    if isinstance(entry, Sequence):
        raise RegistrationError(f"toolwire: add_tools takes tools one by one: *tools, not {type(entry).__name__}")
    return entry if isinstance(entry, Tool) else make_tool(entry)


_NAME = "toolwire_exported"


def exported_on(server: AnyServer) -> Exported:
    """What toolwire serves on a server; nothing yet, for one that it has not seen. Raises TypeError for no server."""
    lowlevel = _sdk.lowlevel_of(server)
    if not isinstance(lowlevel, Server):
        raise TypeError(f"toolwire serves tools on the SDK's Server or MCPServer, not on {type(server).__name__}")
    # It stands on the server itself: a table of ours would hold the server by its handlers, for ever.
    found = vars(lowlevel).get(_NAME)
    if not isinstance(found, Exported):
        found = vars(lowlevel)[_NAME] = Exported(server, lowlevel)
    return found


class Exported:
    """The tools of one server, its two handlers, and the wires that it is served on."""

    def __init__(self, server: AnyServer, lowlevel: Server[Any]) -> None:
        self._server = lowlevel
        self._facade = server
        self.tools: dict[str, Served] = {}
        self.page_size: int | None = None
        self.wires: WeakSet[Told] = WeakSet()
        self.stamp = to_json(lowlevel.server_info_stamp)
        self._listing = ServedListing(self.tools)
        self._bus: SubscriptionBus | None = None
        self._previous_call: Any = None
        self._previous_list: Any = None
        self._installed: Any = None
        self._of_ours: Any = None
        self._intercepted = False
        lowlevel.lifespan = captured_lifespan(lowlevel.lifespan)

    def add(self, tools: Sequence[Served]) -> None:
        """Adds checked tools, and tells the clients."""
        if self._installed is None and tools:
            self._install()
        for entry in tools:
            self.tools[entry.name] = entry
        self._changed()

    def taken(self) -> set[str]:
        """The names that are on the server already: ours, and an MCPServer's own."""
        return self.tools.keys() | _sdk.own_tool_names(self._facade)

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
        # Only around ours: the handler that was there has its interceptors around it already.
        self._of_ours, self._intercepted = _sdk.intercepted(self._facade, self._call_ours)
        self._installed = self._call
        server.add_request_handler("tools/call", types.CallToolRequestParams, self._installed)
        server.add_request_handler("tools/list", types.PaginatedRequestParams, self._list)
        if (asked := server.get_tool_input_schema) is not None:
            # An MCPServer checks `Mcp-Param-*` headers by the schemas of its own tools alone; ours have to pass too.
            ours = self._listing
            server.get_tool_input_schema = lambda name: ours.mirrored(LATEST_MODERN_VERSION).get(name) or asked(name)
        if server.get_request_handler("subscriptions/listen") is None:
            self._bus = InMemorySubscriptionBus()
            listen = ListenHandler(self._bus)
            server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, listen)
        elif isinstance(self._facade, MCPServer):
            self._bus = _sdk.subscriptions_of(self._facade)

    def _changed(self) -> None:
        self._listing.changed()
        # A tool may add others, and a sync one runs in a thread: each wire hears of it in its own loop.
        wires, bus = list(self.wires), self._bus
        for wire in wires:
            call_in(wire.loop, partial(_tell, wire))
        if wires and bus is not None:
            call_in(wires[0].loop, partial(wires[0].spawn, lambda: bus.publish(ToolsListChanged())))

    # The express lane's service

    def certain(self) -> bool:
        """Nothing of the user's stands between a `tools/call` and a tool of ours."""
        server = self._server
        entry = server.get_request_handler("tools/call")
        if entry is None or entry.handler is not self._installed or self._intercepted:
            return False
        return _sdk.only_builtin(server.middleware) and not _sdk.tracing()

    def find(self, name: str, /) -> Served | None:
        """The tool of that name, unless it asks for the SDK's own context."""
        found = self.tools.get(name)
        return None if found is None or found.needs_sdk_context else found

    def mirrored_schema(self, name: str, version: str) -> Any:
        """The input schema by which the SDK judges a call's `Mcp-Param-*` headers; None where it asks for none.

        Raises LookupError where only the SDK can tell.
        """
        lookup = self._server.get_tool_input_schema
        if lookup is not None:
            try:
                return lookup(name)
            except Exception as error:
                raise LookupError(name) from error
        listing = self._server.get_request_handler("tools/list")
        if listing is None or listing.handler != self._list:
            raise LookupError(name)
        return self._listing.mirrored(version).get(name)

    # The SDK lane's handlers

    async def _call(self, context: Any, params: types.CallToolRequestParams) -> Any:
        if params.name in self.tools:
            return await self._of_ours(context, params)
        if self._previous_call is not None:
            return await self._previous_call(context, params)
        raise _unknown(params.name)

    async def _call_ours(self, context: Any, params: types.CallToolRequestParams) -> Any:
        served = self.tools.get(params.name)
        if served is None:
            raise _unknown(params.name)
        kept = kept_of(context)
        facade = self._facade if isinstance(self._facade, MCPServer) else None
        token = serving.set(request_of(context, params, kept, facade, self._bus))
        try:
            stamp = self.stamp if context.protocol_version in MODERN_PROTOCOL_VERSIONS else None
            exact = await served.result(exact_arguments(kept, params.arguments), stamp)
        except Answered as answered:
            raise MCPError(code=answered.code, message=str(answered)) from None
        finally:
            serving.reset(token)
        result, expected = shown(exact, context.protocol_version)
        if kept is not None:
            kept.expected, kept.exact = expected, exact
        return result

    async def _list(self, context: Any, params: types.PaginatedRequestParams | None) -> Any:
        """Our tools first; the listing that was there begins on the page that ends ours, and pages on by itself."""
        entries = self._listing.entries(context.protocol_version)
        result: dict[str, Any] = {"tools": []}
        start = _place(None if params is None else params.cursor)
        end = len(entries)
        if start is not None:
            end = end if self.page_size is None else start + self.page_size
            result["tools"] += [written for written, _ in list(entries.values())[start:end]]
            params = None if params is None else params.model_copy(update={"cursor": None})
        if end < len(entries):
            result["nextCursor"] = f"{_CURSOR}{end}"
        else:
            self._append(result, await self._others(context, params))
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            result["resultType"] = "complete"
            if "tools/list" not in self._server.cache_hints:
                result.setdefault("ttlMs", 0)
                result.setdefault("cacheScope", "private")
        kept = kept_of(context)
        if kept is not None:
            kept.listed = entries
        return result

    async def _others(self, context: Any, params: types.PaginatedRequestParams | None) -> Any:
        if self._previous_list is None:
            if params is not None and params.cursor is not None:
                raise MCPError(code=types.INVALID_PARAMS, message=f"unknown cursor {quoted(params.cursor)}")
            return None
        return await self._previous_list(context, params)

    def _append(self, result: dict[str, Any], others: Any) -> None:
        if others is None:
            return
        if isinstance(others, types.ErrorData):
            raise MCPError.from_error_data(others)
        dumped = (
            others if isinstance(others, dict) else others.model_dump(by_alias=True, mode="json", exclude_none=True)
        )
        for entry in dumped.get("tools", ()):
            if isinstance(entry, dict) and entry.get("name") in self.tools:
                logger.warning("the listing's own tool %r is hidden by toolwire's of that name", entry["name"])
            else:
                result["tools"].append(entry)
        result.update({name: value for name, value in dumped.items() if name != "tools"})


def _tell(wire: Told) -> None:
    if wire.handshake:
        wire.notify("notifications/tools/list_changed")


_CURSOR = "toolwire:"
_PLACE_DIGITS = 9
"""Digits of a place in our listing: more are somebody else's cursor."""


def _place(cursor: str | None) -> int | None:
    """Where in our tools a page begins; `None` for a cursor of the listing that was there."""
    if cursor is None:
        return 0
    place = cursor.removeprefix(_CURSOR)
    return int(place) if place != cursor and place.isdecimal() and len(place) <= _PLACE_DIGITS else None


def _unknown(name: str) -> MCPError:
    return MCPError(code=types.INVALID_PARAMS, message=f"unknown tool {quoted(name)}")
