"""One connection of an `HttpPeer`: exact bytes in, exact bytes out, and every way to break it off.

It reads whatever comes at all times, so that it knows when the client leaves, and holds the socket itself: nothing
stands between a step of the script and the kernel.
"""

import socket
import struct
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final, NoReturn, Protocol

import anyio
import anyio.lowlevel

from toolwire._http_answers import LAST_CHUNK, Framing, Parts, Piece
from toolwire._raw_peer import Request

__all__ = ["Connection", "HttpRequest", "Left"]

CHUNK: Final = 1 << 16
BODILESS: Final = {100, 101, 102, 103, 204, 304}


class Left(Exception):
    """The client went away, or the script ended the connection: nobody's error."""


class HttpRequest:
    """One request as it came: `verb`, `target`, `headers` in order, `body` without its framing, `raw` with every byte.

    `method` is that of its JSON-RPC message, `""` where there is none. `answered`: all of its answer was written;
    `left`: the client went away before. `connection` counts the connections from 0.
    """

    def __init__(self, head: bytes, body: bytes, raw: bytes, connection: int) -> None:
        line, *fields = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        self.verb, self.target, self.version = line.split(" ")
        pairs = (field.partition(":") for field in fields)
        self.headers = tuple((name, value.strip(" \t")) for name, _, value in pairs)
        self.head, self.body, self.raw, self.connection = head, body, raw, connection
        self.message = Request(body)
        self.answered = self.left = False

    @property
    def method(self) -> str:
        return self.message.method

    def header(self, name: str) -> str | None:
        """The first value of a header, whatever its case."""
        return next((value for given, value in self.headers if given.lower() == name.lower()), None)

    def render(self, parts: Parts) -> bytes:
        """Fill a template with the spans of this request."""
        texts = (part[1] if part[0] == "text" else self.message.raw(part[1]) or part[2] for part in parts)
        return "".join(texts).encode("latin-1")

    def __repr__(self) -> str:
        return f"<HttpRequest {self.verb} {self.target} {self.message.key()!r} on connection {self.connection}>"


class Holds(Protocol):
    """What a connection asks of its peer."""

    async def pause(self, name: str, left: anyio.Event) -> None: ...


class Connection:
    """A socket and its number. `received` is every byte that came."""

    def __init__(self, sock: socket.socket, number: int, split: Piece, holds: Holds) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.number = number
        self.received = bytearray()
        self.left = anyio.Event()
        self._socket = sock
        self._split = split
        self._holds = holds
        self._read = 0
        self._budget: int | None = None
        """Bytes that may still be written of an answer that is cut."""
        self._news = anyio.Event()

    @property
    def open(self) -> bool:
        return self._socket.fileno() >= 0

    async def listen(self) -> None:
        """Reads until the client leaves."""
        data = b" "
        while data and self.open:
            try:
                await anyio.wait_readable(self._socket)
                data = self._socket.recv(CHUNK)
            except BlockingIOError:
                continue
            except (OSError, ValueError, anyio.ClosedResourceError):
                data = b""  # it was reset, or we have closed it ourselves
            self.received += data
            self._news.set()
            self._news = anyio.Event()
        self.left.set()

    async def next_head(self) -> bytes:
        """The next request's head. Raises `Left` when the client has none."""
        return await self._until(b"\r\n\r\n")

    async def finish(self, head: bytes) -> HttpRequest:
        """The request with this head, once its body is there."""
        start = self._read - len(head)
        request = HttpRequest(head, b"", b"", self.number)
        if (request.header("transfer-encoding") or "").lower() == "chunked":
            body = b""
            while size := int((await self._until(b"\r\n")).partition(b";")[0], 16):
                body += (await self._take(size + 2))[:size]
            while await self._until(b"\r\n") != b"\r\n":
                pass
        else:
            body = await self._take(int(request.header("content-length") or 0))
        return HttpRequest(head, body, bytes(self.received[start : self._read]), self.number)

    async def _until(self, end: bytes) -> bytes:
        seen = self._read
        while (found := self.received.find(end, seen)) < 0:
            seen = max(self._read, len(self.received) - len(end) + 1)
            await self._more()
        return await self._take(found + len(end) - self._read)

    async def _take(self, count: int) -> bytes:
        while len(self.received) < self._read + count:
            await self._more()
        self._read += count
        return bytes(self.received[self._read - count : self._read])

    async def _more(self) -> None:
        if self.left.is_set():
            raise Left
        await self._news.wait()

    async def write(self, data: bytes, piece: Piece = None) -> None:
        """Raises `Left` when nobody is there to take it."""
        piece = self._split if piece is None else piece
        if self._budget is not None:
            data = data[: self._budget]
            self._budget -= len(data)
        for part in _cut(data, piece):
            view = memoryview(part)
            while view:
                try:
                    view = view[self._socket.send(view) :]
                except BlockingIOError:
                    await self._room()
                except OSError:
                    raise Left from None
            if piece is not None:
                # A client in the same loop reads what is there before there is more.
                for _ in range(3):
                    await anyio.lowlevel.checkpoint()
        if self._budget == 0:
            raise Left

    async def _room(self) -> None:
        try:
            await anyio.wait_writable(self._socket)
        except (OSError, ValueError, anyio.ClosedResourceError):
            raise Left from None

    def end(self, *, broken: bool = False) -> None:
        """Closes the socket: with FIN, or, `broken`, with RST. May be called again."""
        if not self.open:
            return
        try:
            if broken:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the client was first
        anyio.notify_closing(self._socket)
        self._socket.close()

    # The steps. Each takes the request that it answers, and its operands.

    async def do_reply(
        self,
        request: HttpRequest,
        status: int,
        headers: list[tuple[str, str]],
        body: Parts,
        framing: Framing,
        piece: Piece,
    ) -> None:
        data = request.render(body)
        length = len(data) if framing == "length" else None
        if framing == "chunked":
            data = _chunk(data) + LAST_CHUNK
        # In one write, if it is not cut: so a server would send it.
        await self.write(_head(status, headers, framing, length) + data, piece)
        if framing == "close":
            request.answered = True
            await self.do_close(request)

    async def do_stream(
        self,
        request: HttpRequest,
        status: int,
        headers: list[tuple[str, str]],
        events: list[Parts],
        end: bool,
        framing: Framing,
        piece: Piece,
    ) -> None:
        texts = [request.render(event) for event in events]
        await self.write(_head(status, headers, framing, sum(map(len, texts))), piece)
        for text in texts:
            await self.write(_chunk(text) if framing == "chunked" else text, piece)
        if end and framing == "chunked":
            await self.write(LAST_CHUNK, piece)
        elif end and framing == "close":
            request.answered = True
            await self.do_close(request)

    async def do_send(self, request: HttpRequest, data: Parts, piece: Piece, times: int) -> None:
        text = request.render(data)
        batch = max(1, CHUNK // max(1, len(text)))
        for done in range(0, times, batch):
            await self.write(text * min(batch, times - done), piece)

    async def do_chunk(self, request: HttpRequest, data: Parts, piece: Piece, times: int) -> None:
        framed = _chunk(request.render(data))
        for _ in range(times):
            await self.write(framed, piece)

    async def do_hold(self, _: HttpRequest, name: str) -> None:
        await self._holds.pause(name, self.left)

    async def do_read(self, _: HttpRequest, count: int) -> None:
        while len(self.received) < count:
            await self._more()

    async def do_silence(self, _: HttpRequest) -> NoReturn:
        await self.left.wait()
        raise Left

    async def do_cut(self, request: HttpRequest, steps: list[list[Any]], at: int, broken: bool) -> None:
        self._budget = at
        try:
            await self.play(steps, request)
            request.answered = True
        finally:
            self.end(broken=broken)
        raise Left

    async def do_close(self, _: HttpRequest) -> NoReturn:
        self.end()
        raise Left

    async def do_reset(self, _: HttpRequest) -> NoReturn:
        self.end(broken=True)
        raise Left

    async def play(self, steps: list[list[Any]], request: HttpRequest) -> None:
        for operation, *operands in steps:
            await getattr(self, f"do_{operation}")(request, *operands)


def _head(status: int, headers: list[tuple[str, str]], framing: Framing, length: int | None) -> bytes:
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Odd"
    named = list(headers)
    given = {name.lower() for name, _ in headers}
    if framing == "close":
        named.append(("Connection", "close"))
    elif framing == "chunked":
        named.append(("Transfer-Encoding", "chunked"))
    elif "content-length" not in given and status not in BODILESS:
        named.append(("Content-Length", str(length)))
    lines = "".join(f"{name}: {value}\r\n" for name, value in named)
    return f"HTTP/1.1 {status} {phrase}\r\n{lines}\r\n".encode("latin-1")


def _chunk(data: bytes) -> bytes:
    # An empty chunk would be the last one.
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


def _cut(data: bytes, piece: Piece) -> Iterator[bytes]:
    at = 0
    if isinstance(piece, int):
        piece = [piece] * (len(data) // max(1, piece))
    for size in piece or ():
        yield data[at : at + size]
        at += size
    yield data[at:]
