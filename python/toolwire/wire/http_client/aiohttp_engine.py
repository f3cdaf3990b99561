"""aiohttp as the engine: asyncio only, and several times as fast as the SDK's client (docs/decisions/http.md)."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

import aiohttp
import anyio
import httpx2
from aiohttp.abc import AbstractStreamWriter
from yarl import URL

from toolwire.wire.http_client.engine import Lost, Sent

__all__ = ["AiohttpEngine"]

_BROKEN = (aiohttp.ClientError, TimeoutError, OSError, ValueError)
"""What aiohttp raises for an exchange that broke: a bad header of the server is a ValueError to some versions."""


class AiohttpEngine:
    """A pool of at most `connections`, idle ones kept for `keep_alive`.

    Times are seconds; `read` is for the silence between two chunks.
    """

    def __init__(
        self, *, connections: int, keep_alive: float, connect: float, read: float | None, tls: ssl.SSLContext | None
    ) -> None:
        self._known = "", URL()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=connections, keepalive_timeout=keep_alive, ssl=tls if tls is not None else True
            ),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=read),
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            # The longest line of a head that is read, and all of its lines together.
            max_line_size=_HEAD,
            max_field_size=_HEAD,
        )

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes, sent: Sent) -> _Reply:
        """Writes a request and waits for the head of its response. Raises Lost."""
        try:
            response = await self._session.request(
                method,
                self._address(url),
                data=_Body(body, sent) if body else None,
                headers=headers,
                allow_redirects=False,
            )
        except _BROKEN as error:
            raise _lost(error) from error
        return _Reply(response)

    def _address(self, url: str) -> URL:
        """As the SDK's client writes it, byte for byte: a key in a query may be signed, escapes and all.

        Without its userinfo, of which that client has made an authorization that was learned.
        """
        known, address = self._known
        if known != url:
            try:
                theirs = httpx2.URL(url)
            except httpx2.InvalidURL as error:
                raise Lost("the URL is none") from error
            netloc, target = theirs.netloc.decode("ascii"), theirs.raw_path.decode("ascii")
            address = URL(f"{theirs.scheme}://{netloc}{target}", encoded=True)
            self._known = url, address
        return address

    async def aclose(self) -> None:
        """Closes every connection, to the end also for somebody who was cancelled."""
        # Left half way it would leave connections open; and a second cancellation on the way out of a connection that
        # broke makes a ring of exceptions, in which `contextlib`, unwinding a stack, turns for ever.
        with anyio.CancelScope(shield=True):
            await self._session.close()


_HEAD = 32 * 1024
_SHOWN = 200
"""Characters of a broken head that an error text quotes."""


class _Body(aiohttp.Payload):
    """Bytes that tell when they begin to be written; the head leaves with them. A trace config costs 35 µs a call.

    Not aiohttp's own payload of bytes: that one warns of a megabyte.
    """

    def __init__(self, body: bytes, sent: Sent) -> None:
        super().__init__(body, content_type="application/json")
        self._body = body
        self._sent = sent

    @property
    def size(self) -> int:
        return len(self._body)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self._body.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        await self.write_with_length(writer, None)

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        # The length is that of the body: it is never cut.
        del content_length
        self._sent.written = True
        await writer.write(self._body)


class _Reply:
    __slots__ = ("_response", "headers", "status")

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status
        self.headers = response.headers

    @property
    def ended(self) -> bool:
        return self._response.content.at_eof()

    async def chunk(self) -> bytes:
        try:
            return await self._response.content.readany()
        except _BROKEN as error:
            raise _lost(error) from error

    async def aclose(self) -> None:
        # aiohttp has given the connection back when the body ended; what is left of it is never read.
        self._response.close()


def _lost(error: BaseException) -> Lost:
    if isinstance(error, aiohttp.ClientConnectorError):
        return Lost(f"no connection: {error.os_error.strerror or error.os_error}")
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return Lost("no connection in time")
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return Lost("the server closed the connection without an answer")
    if isinstance(error, aiohttp.ClientPayloadError):
        return Lost("the connection broke in the middle of the answer")
    if isinstance(error, TimeoutError):
        return Lost("the server was silent for too long")
    if isinstance(error, aiohttp.ClientResponseError):
        # Its own text names the URL, where a secret may stand.
        return Lost(f"the connection broke: {' '.join(error.message.split())[:_SHOWN]}")
    if isinstance(error, aiohttp.InvalidURL):
        return Lost("the connection broke: the URL is none")
    return Lost(f"the connection broke: {str(error) or type(error).__name__}")
