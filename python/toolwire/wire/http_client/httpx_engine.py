"""The SDK's own HTTP client as the engine: on any loop, with its owner's settings, its `auth` run on each request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2

from toolwire.wire.http_client.engine import Lost, Sent

__all__ = ["HttpxEngine", "lost"]

_UNSENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
)
"""What is raised before a byte of the request has left."""


class HttpxEngine:
    """A client that belongs to somebody else. `timeout` replaces its own, unless it is None."""

    def __init__(self, client: httpx2.AsyncClient, timeout: httpx2.Timeout | None) -> None:
        self._client = client
        self._options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes, sent: Sent) -> HttpxReply:
        """Writes a request and waits for the head of its response. Raises Lost."""

        async def trace(event: str, info: object) -> None:
            del info
            if event.endswith(".send_request_headers.started"):
                sent.written = True

        request = self._client.build_request(
            method, url, headers=dict(headers), content=body, extensions={"trace": trace}, **self._options
        )
        # An authorization of the caller's for this request stands in the place of the client's.
        auth: Any = None if "authorization" in headers else httpx2.USE_CLIENT_DEFAULT
        try:
            response = await self._client.send(request, stream=True, auth=auth, follow_redirects=False)
        except httpx2.HTTPError as error:
            # Not every transport traces. What a caller's own one raised without a word may have come from anywhere.
            sent.written = sent.written or not isinstance(error, _UNSENT)
            raise lost(error) from error
        except Exception as error:
            # The auth may be anybody's, and raise anything; to its caller it is one failed call.
            raise Lost(f"the request was not made: {str(error) or type(error).__name__}") from error
        sent.written = True
        return HttpxReply(response)

    async def aclose(self) -> None:
        """The client is its owner's to close."""


class HttpxReply:
    __slots__ = ("_parts", "_response", "ended", "headers", "status")

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self._parts: Any = None
        self.ended = False
        self.status = response.status_code
        self.headers = response.headers

    @property
    def request(self) -> httpx2.Request:
        """What went out in the end: with what the client and its auth have added."""
        return self._response.request

    async def chunk(self) -> bytes:
        if self._parts is None:
            self._parts = self._response.aiter_raw()
        try:
            while True:
                part: bytes = await anext(self._parts)
                if part:
                    return part
        except StopAsyncIteration:
            self.ended = True
            return b""
        except httpx2.HTTPError as error:
            raise lost(error) from error

    async def aclose(self) -> None:
        if self._parts is not None:
            await self._parts.aclose()
        await self._response.aclose()


def lost(error: httpx2.HTTPError) -> Lost:
    """What broke, in words."""
    if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return Lost("no connection in time")
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        return Lost(f"no connection: {_told(error)}")
    if isinstance(error, httpx2.TimeoutException):
        return Lost("the server was silent for too long")
    return Lost(f"the connection broke: {_told(error)}")


def _told(error: BaseException) -> str:
    """What an exception says, or the one behind it: what trio's streams raise is without a word itself."""
    behind: BaseException | None = error
    while behind is not None:
        if str(behind):
            return str(behind)
        behind = behind.__cause__ or behind.__context__
    return type(error).__name__
