"""The app of a server over streamable HTTP: the SDK's own, with the express lane inside its route."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from toolwire import _core, _sdk
from toolwire.bridge.exporting import Exported, exported_on
from toolwire.contract.current import serving
from toolwire.wire.served_calls import Tool
from toolwire.wire.served_http import HttpLane
from toolwire.wire.served_http_call import PostedCall

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
    app.state.toolwire = HttpLane(server.session_manager, _Service(exported_on(server)))
    return app


class _Service:
    """The tools of a server, for calls that are posted."""

    def __init__(self, exported: Exported) -> None:
        self._exported = exported
        self.certain = exported.certain
        self.find = exported.find

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

    async def run(self, tool: Tool, posted: PostedCall, call: _core.ServedCall, stamp: bytes | None, /) -> bytes:
        """Run a tool, and leave the context as it was: it may be that of whoever asks, where the app is in process."""
        before = serving.get()
        try:
            return await tool.run(posted, call, stamp)
        finally:
            serving.set(before)
