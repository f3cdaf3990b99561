"""Streamable HTTP, on the SDK's own transport: the client that carries a connection.

All that goes over it is on the SDK lane; what that lane cannot keep is said at `tools()`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeGuard
from urllib.parse import urlsplit

import httpx2
from mcp.client.streamable_http import streamable_http_client

__all__ = ["http_transport", "is_url", "shown_address"]

REQUEST_TIMEOUT = 30.0
"""Seconds for connecting, writing, and a place in the pool: the SDK's own bound."""

SSE_READ_TIMEOUT = 300.0
"""Seconds without a byte on a stream of events: the SDK's own bound."""


def is_url(target: object) -> TypeGuard[str]:
    """The target of a connection is an address, not a command."""
    return isinstance(target, str) and urlsplit(target).scheme in ("http", "https")


def shown_address(url: str) -> str:
    """The address for a message: without a password, a query or a fragment, which may hold secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def http_transport(
    url: str,
    *,
    headers: Mapping[str, str] | None,
    auth: httpx2.Auth | None,
    http_client: httpx2.AsyncClient | None,
    sse_read_timeout: float | None,
) -> AbstractAsyncContextManager[Any]:
    """The SDK's transport for a URL. A caller's own client is used as given, and is the caller's to close.

    `sse_read_timeout` is in seconds; `None` is the SDK's 300. Raises TypeError for settings beside a client that has
    its own.
    """
    if http_client is not None:
        if headers is not None or auth is not None or sse_read_timeout is not None:
            raise TypeError("headers, auth and sse_read_timeout are the http_client's own: set them there")
        return streamable_http_client(url, http_client=http_client)
    reading = SSE_READ_TIMEOUT if sse_read_timeout is None else sse_read_timeout
    timeout = httpx2.Timeout(REQUEST_TIMEOUT, read=reading)
    return _on_own_client(url, httpx2.AsyncClient(headers=dict(headers or {}), auth=auth, timeout=timeout))


@asynccontextmanager
async def _on_own_client(url: str, client: httpx2.AsyncClient) -> AsyncIterator[Any]:
    async with client, streamable_http_client(url, http_client=client) as streams:
        yield streams
