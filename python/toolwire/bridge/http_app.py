"""The app of a server over streamable HTTP: the SDK's own, with the express lane inside its route."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.mcpserver import MCPServer

from toolwire import _sdk
from toolwire.bridge.exporting import Exported, exported_on
from toolwire.contract.current import serving
from toolwire.wire.http_server.front import shorten
from toolwire.wire.http_server.lane import HttpLane
from toolwire.wire.server import current_wire

__all__ = ["http_app"]


def http_app(server: Server[Any] | MCPServer, **options: Any) -> Any:
    """The server as an ASGI app (Starlette), to be run by uvicorn, granian or hypercorn.

    The options are those of the SDK's `streamable_http_app`, by the same names: `streamable_http_path` (`/mcp` unless
    said otherwise), `json_response`, `stateless_http`, `event_store`, `auth`, `custom_starlette_routes`,
    `transport_security`, …

    The SDK judges, authorizes and answers as it does in its own app; a call of a tool of ours that is certain to end
    the same way is answered without it. `app.state.toolwire.counters` tells how many requests went which way, as
    `express_calls` and `sdk_requests`.
    """
    app = server.streamable_http_app(**options)
    lane = app.state.toolwire = HttpLane(server.session_manager, _Service(exported_on(server)))
    shorten(app, lane)
    _advertise(_sdk.lowlevel_of(server))
    return app


def _advertise(server: Server[Any]) -> None:
    """Have the sessions of an app of ours advertised that they hear when the tools are others."""
    make = server.create_initialization_options

    def made(notifications: NotificationOptions | None = None, *args: Any, **options: Any) -> Any:
        carrier = current_wire.get()
        if notifications is None and isinstance(carrier, HttpLane) and carrier.handshake:
            notifications = NotificationOptions(tools_changed=True)
        return make(notifications, *args, **options)

    # The SDK makes them for each session, with no word from who serves it.
    vars(server).setdefault("create_initialization_options", made)


class _Service:
    """The tools of a server, for calls that are posted."""

    def __init__(self, exported: Exported) -> None:
        self._exported = exported
        self.certain = exported.certain
        self.find = exported.find
        self.wires = exported.wires
        self.context = serving

    @property
    def stamp(self) -> bytes:
        """The server's own description."""
        return self._exported.stamp

    def mirrored(self, name: str, version: str, arguments: bytes | None, headers: Iterable[Any], /) -> bool:
        """The SDK would find the `Mcp-Param-*` headers as the tool's schema asks for them."""
        try:
            schema = self._exported.mirrored_schema(name, version)
            if schema is None:
                return True
            # The SDK judges what it decoded.
            decoded = json.loads(arguments or b"{}")
            return _sdk.mirrors(schema, decoded, headers)
        except (LookupError, ValueError, RecursionError):
            return False
