"""Which engine carries express requests: aiohttp where it may, and else the SDK's client (docs/decisions/http.md)."""

from __future__ import annotations

from importlib.util import find_spec
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx2

from toolwire.loops import on_asyncio
from toolwire.wire.http_client.engine import Engine
from toolwire.wire.http_client.linger import LINGERERS

__all__ = ["express_timeout", "fast_engine", "learns", "own_client"]

REQUEST_TIMEOUT = 30.0
"""Seconds for connecting and writing: the SDK's own bound."""

SSE_READ_TIMEOUT = 300.0
"""Seconds without a byte on a stream of the SDK's transport: the SDK's own bound."""

SDK_CONNECTIONS = 16
"""Connections beside those of calls: the SDK's streams, its handshake, a goodbye."""

KEEP_ALIVE = 4.0
"""Seconds that an idle connection is kept: uvicorn closes one after five, and a call written just then may have run."""


def own_client(
    headers: dict[str, str], auth: httpx2.Auth | None, read: float | None, connections: int
) -> httpx2.AsyncClient:
    """The SDK's client, where the caller brought none. `read` is seconds of silence on a stream."""
    bound = connections + LINGERERS + SDK_CONNECTIONS
    return httpx2.AsyncClient(
        headers=headers,
        auth=auth,
        timeout=httpx2.Timeout(REQUEST_TIMEOUT, read=SSE_READ_TIMEOUT if read is None else read),
        limits=httpx2.Limits(max_connections=bound, max_keepalive_connections=bound, keepalive_expiry=KEEP_ALIVE),
    )


def express_timeout(read: float | None) -> httpx2.Timeout:
    """The same for express calls: they have deadlines of their own, and wait for a place as long as those allow."""
    return httpx2.Timeout(REQUEST_TIMEOUT, read=read, pool=None)


def learns(auth: httpx2.Auth | None) -> bool:
    """What this auth adds to a request may be added to the next one too: nothing, or the SDK's OAuth bearer.

    Anything else may sign what it sees, or change by request: it runs its own flow each time.
    """
    return auth is None or type(auth).__module__.partition(".")[0] == "mcp"


def fast_engine(url: str, *, connections: int, read: float | None) -> Engine | None:
    """aiohttp's, on asyncio and where it is installed (the extra `http`). Times are seconds.

    Where the environment names a proxy the SDK's client goes through it for both lanes, by its own rules.
    """
    scheme = urlsplit(url).scheme
    proxies = getproxies()
    if not on_asyncio() or proxies.get(scheme) or proxies.get("all") or find_spec("aiohttp") is None:
        return None
    from toolwire.wire.http_client.aiohttp_engine import AiohttpEngine  # noqa: PLC0415 - it imports aiohttp, an extra

    tls = httpx2.create_ssl_context() if scheme == "https" else None
    return AiohttpEngine(
        connections=connections + LINGERERS, keep_alive=KEEP_ALIVE, connect=REQUEST_TIMEOUT, read=read, tls=tls
    )
