"""A client that posts exact bytes to an app in this process, and hears status, headers and body as the app sent them.

Nothing stands between: it speaks ASGI, so that a client may leave at any moment and send its body in any pieces.
"""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

import toolwire
from tests.serving.raw_client import DISCOVER, ENVELOPE, HANDSHAKE, INITIALIZE, INITIALIZED, MODERN, call_line
from toolwire.wire.http_server.lane import HttpLane

PATIENCE = 30.0
SESSION = "{session}"
"""Stands for the id of the session that the app has opened."""

Header = tuple[str, str]


@dataclass(frozen=True)
class Ask:
    """One request. `pieces` says in how many its body is sent."""

    body: bytes = b""
    headers: tuple[Header, ...] = ()
    method: str = "POST"
    path: str = "/mcp"
    pieces: int = 1

    def with_header(self, name: str, *values: str | None) -> "Ask":
        """The same with a header set; without it for None, several times for several values."""
        kept = tuple(header for header in self.headers if header[0] != name)
        return replace(self, headers=(*kept, *((name, value) for value in values if value is not None)))


@dataclass
class Reply:
    """What was answered. `finished` is False while more may follow."""

    status: int = 0
    headers: list[Header] = field(default_factory=list)
    parts: list[bytes] = field(default_factory=list)
    finished: bool = False
    started: anyio.Event = field(default_factory=anyio.Event)
    told: anyio.Event = field(default_factory=anyio.Event)

    @property
    def body(self) -> bytes:
        return b"".join(self.parts)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @property
    def messages(self) -> list[bytes]:
        """The JSON texts of the body, be they one or events."""
        if (self.header("content-type") or "").startswith("text/event-stream"):
            lines = self.body.split(b"\r\n")
            return [line.removeprefix(b"data: ") for line in lines if line.startswith(b"data: ")]
        return [self.body] if self.body else []

    @property
    def answer(self) -> Any:
        """The last message, decoded."""
        return json.loads(self.messages[-1])


class Site:
    """A running app, and the session that a client has with it."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.session: str | None = None

    @property
    def lane(self) -> HttpLane:
        lane: HttpLane = self.app.state.toolwire
        return lane

    async def ask(self, ask: Ask, gone: anyio.Event | None = None, reply: Reply | None = None) -> Reply:
        """Sends one request; what came back. The client leaves when `gone` is set."""
        reply = Reply() if reply is None else reply
        size = max(1, -(-len(ask.body) // ask.pieces))
        pieces = [ask.body[place : place + size] for place in range(0, len(ask.body), size)] or [b""]
        leaving = anyio.Event() if gone is None else gone

        async def receive() -> dict[str, Any]:
            if pieces:
                piece = pieces.pop(0)
                return {"type": "http.request", "body": piece, "more_body": bool(pieces)}
            await leaving.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                reply.status = message["status"]
                reply.headers = [(name.decode().lower(), value.decode()) for name, value in message["headers"]]
                reply.started.set()
            elif message["type"] == "http.response.body":
                reply.parts.append(bytes(message.get("body", b"")))
                reply.finished = not message.get("more_body", False)
                reply.told.set()
                reply.told = anyio.Event()

        headers = [(name.encode(), self._shown(value).encode("latin-1")) for name, value in ask.headers]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": ask.method,
            "scheme": "http",
            "path": ask.path,
            "raw_path": ask.path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": headers,
            "client": ("127.0.0.1", 5000),
            "server": ("127.0.0.1", 8000),
        }
        with anyio.fail_after(PATIENCE):
            await self.app(scope, receive, send)
        return reply

    def _shown(self, value: str) -> str:
        return value.replace(SESSION, self.session or "none")

    async def open(self, headers: tuple[Header, ...] = ()) -> None:
        """Opens a session by a handshake, and lets a handler be asked in it: from then on it may be express."""
        reply = await self.ask(post(HANDSHAKE, INITIALIZE, headers=headers))
        assert reply.status == 200, reply
        self.session = reply.header("mcp-session-id")
        await self.ask(post(HANDSHAKE, INITIALIZED, headers=headers))
        await self.ask(post(HANDSHAKE, LIST, headers=headers))


LIST = b'{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{}}'
LIST_MODERN = b'{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{"_meta":{%s}}}' % ENVELOPE


def post(era: str, body: bytes, *, headers: tuple[Header, ...] = (), name: str | None = None) -> Ask:
    """A POST as a good client of the era sends it."""
    common = (
        ("host", "127.0.0.1:8000"),
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("content-length", str(len(body))),
        ("mcp-protocol-version", era),
    )
    if era == MODERN:
        try:
            message = json.loads(body)
            method = message["method"]
        except (ValueError, TypeError, KeyError, RecursionError):
            method = "tools/call"
        if not isinstance(method, str):
            method = "tools/call"
        more: tuple[Header, ...] = (("mcp-method", method),)
        if name is not None:
            more = (*more, ("mcp-name", name))
    else:
        more = (("mcp-session-id", SESSION),) if b'"initialize"' not in body else ()
    return Ask(body, (*common, *more, *headers))


def call(era: str, name: str, arguments: bytes = b"{}", identifier: int | str = 7, meta: bytes = b"") -> Ask:
    """A POST of one `tools/call`."""
    return post(era, call_line(era, name, arguments, identifier, meta), name=name)


@asynccontextmanager
async def running(
    make: Callable[[], Any], *, express: bool = True, sdk_app: bool = False, **options: Any
) -> AsyncIterator[Site]:
    """The app of the server that `make` gives: ours, ours with the lane switched off, or the SDK's own."""
    server = make()
    app = server.streamable_http_app(**options) if sdk_app else toolwire.http_app(server, **options)
    if not sdk_app:
        app.state.toolwire.express = express
    async with app.router.lifespan_context(app):
        yield Site(app)


@asynccontextmanager
async def opened(make: Callable[[], Any], era: str, **options: Any) -> AsyncIterator[Site]:
    """The same, with a session opened or an envelope made known, as the era and the app have it."""
    async with running(make, **options) as site:
        if era == MODERN:
            await site.ask(post(MODERN, LIST_MODERN))
        elif options.get("stateless_http"):
            pass
        else:
            await site.open()
        yield site


__all__ = [
    "DISCOVER",
    "HANDSHAKE",
    "LIST",
    "LIST_MODERN",
    "MODERN",
    "SESSION",
    "Ask",
    "Reply",
    "Site",
    "call",
    "opened",
    "post",
    "running",
]
