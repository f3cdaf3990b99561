"""A URL as the target of a connection: the wire that carries it, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard
from urllib.parse import urlsplit

import httpx2

from toolwire.contract.per_call import call_headers, check_headers
from toolwire.wire.http_client.wire import HttpWire
from toolwire.wire.limits import Limits

__all__ = ["http_wire", "is_url", "shown_address"]


def is_url(target: object) -> TypeGuard[str]:
    """The target of a connection is an address, not a command."""
    return isinstance(target, str) and urlsplit(target).scheme in ("http", "https")


def shown_address(url: str) -> str:
    """The address for a message: without a password, a query or a fragment, which may hold secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def http_wire(
    url: str,
    *,
    headers: Mapping[str, str] | None,
    auth: httpx2.Auth | None,
    http_client: httpx2.AsyncClient | None,
    sse_read_timeout: float | None,
    limits: Limits,
) -> HttpWire:
    """The wire for a URL. A caller's own client is used as given, and is the caller's to close.

    `sse_read_timeout` is in seconds without a byte; `None` is the SDK's 300 on its own streams, and leaves a call to
    its deadlines. Raises TypeError for settings beside a client that has its own, ValueError for a header that is none.
    """
    if http_client is not None and (headers is not None or auth is not None or sse_read_timeout is not None):
        raise TypeError("headers, auth and sse_read_timeout are the http_client's own: set them there")
    headers = None if headers is None else dict(headers)
    check_headers(headers or {})
    return HttpWire(
        url,
        name=shown_address(url),
        headers=headers,
        auth=auth,
        http_client=http_client,
        read_timeout=sse_read_timeout,
        call_headers=call_headers,
        limits=limits,
    )
