"""An ASGI app as the target of a connection: a URL whose HTTP client never leaves the process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import httpx2

from toolwire.wire.http_client.asgi import AsgiTransport
from toolwire.wire.http_client.lifespan import AsgiApp

__all__ = ["APP_URL", "app_client"]

APP_URL: Final = "http://127.0.0.1:8000/mcp"
"""Where an app is reached unless the caller says otherwise: the SDK's own path, at a host that it allows by default."""


def app_client(
    app: AsgiApp, *, headers: Mapping[str, str] | None, auth: httpx2.Auth | None, sse_read_timeout: float | None
) -> httpx2.AsyncClient:
    """A client of the app, which runs while it is entered. Only silence is bounded, by `sse_read_timeout` seconds."""
    # No proxy and no `.netrc` has a part in what stays here.
    return httpx2.AsyncClient(
        transport=AsgiTransport(app),
        headers=dict(headers or {}),
        auth=auth,
        timeout=httpx2.Timeout(None, read=sse_read_timeout),
        trust_env=False,
    )
