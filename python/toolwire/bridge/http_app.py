"""The app of a server over streamable HTTP: the SDK's own."""

from __future__ import annotations

from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

__all__ = ["http_app"]


def http_app(server: Server[Any] | MCPServer, **options: Any) -> Any:
    """The server as an ASGI app (Starlette), to be run by uvicorn, granian or hypercorn.

    The options are those of the SDK's `streamable_http_app`, by the same names: `streamable_http_path` (`/mcp` unless
    said otherwise), `json_response`, `stateless_http`, `event_store`, `auth`, `custom_starlette_routes`,
    `transport_security`, …
    """
    return server.streamable_http_app(**options)
