"""`HttpPeer`: a server over HTTP that speaks exactly the bytes it is given."""

import socket
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import anyio
import anyio.abc

from toolwire._http_answers import HttpSteps, Piece, reply, steps_of
from toolwire._http_connection import Connection, HttpRequest, Left
from toolwire._raw_answers import Answer, Steps, error, opening

__all__ = ["HttpAnswer", "HttpPeer", "HttpTable"]

HttpAnswer: TypeAlias = Answer | HttpSteps
"""Exact bytes (a template), one message of `result`, `error` or `listing` as a reply in JSON, or steps of `http`."""

Turns: TypeAlias = HttpAnswer | Sequence[HttpAnswer] | Callable[[HttpRequest], HttpAnswer]
"""One answer for all, the next one each time (the last one repeats), or a function of the request."""

ACCEPT: Final = "\0"
HttpTable: TypeAlias = Mapping[str, Turns]
"""The answers of a peer by what they answer."""

NOBODY: Final = b"NONE / HTTP/1.1\r\n\r\n"
GONE: Final = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Session not found"}}'
ACCEPTED: Final = reply(status=202, media=None)
MODERN: Final = "2026"
"""From this era on a refusal has an HTTP status of its own, and there are no sessions."""


class HttpPeer:
    """A server on a port of 127.0.0.1, in the test's own loop (asyncio or trio): it answers by a table of exact bytes.

    `answers` maps `METHOD:NAME` (looked up first; NAME is `params.name`), a JSON-RPC method (of a request or of a
    notification; `""` is a client's own answer) or, last, an HTTP verb to an answer, a sequence of answers or a
    function of the request. Without an entry, `initialize` or, for `era="2026-07-28"`, `server/discover` and `ping`
    answer as they should, other requests with `-32601`, notifications with 202, GET with 405 and DELETE with 200.

    `sessions` are the session ids that `initialize` gives, one after the other; a request that names another than the
    living one gets 404. `split` cuts everything that is written (see `http`). `at_accept` is played when a connection
    opens, before anything is read; `at_head` when a request's head has come and its body is still due.

    An `async with` around it, and around everything that talks to it. What a script gets wrong is raised at its end.
    """

    def __init__(
        self,
        answers: HttpTable | None = None,
        *,
        era: str = "2025-11-25",
        sessions: Sequence[str] = (),
        split: Piece = None,
        at_accept: HttpAnswer | Sequence[HttpAnswer] = (),
        at_head: Callable[[HttpRequest], HttpAnswer | None] | None = None,
        path: str = "/mcp",
    ) -> None:
        self.answers: dict[str, Turns] = {**_opening(era), **(answers or {})}
        """The table; what is put in while the peer runs counts from the next request on."""
        self.session: str | None = None
        """The id of the living session. Set to None, it is forgotten: whoever still names it gets 404."""
        self.received: list[HttpRequest] = []
        """Every whole request, in the order in which they came."""
        self.connections: list[Connection] = []
        """Every connection that was ever open; `received` of each is every byte that came, whole request or not."""
        if sessions and era >= MODERN:
            raise ValueError(f"{era} has no sessions")
        self._era, self._path, self._split = era, path, split
        self._sessions = list(sessions)
        self._at_accept: Turns = at_accept
        self._at_head = at_head
        self._used: dict[str, int] = {}
        self._released: dict[str, anyio.Event] = {}
        self._held: dict[str, int] = {}
        self._news = anyio.Event()
        self._port = 0
        self._listener: socket.socket | None = None
        self._group: anyio.abc.TaskGroup

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}{self._path}"

    def requests(self, method: str) -> list[HttpRequest]:
        """The whole requests with this JSON-RPC method or this HTTP verb."""
        return [request for request in self.received if method in (request.method, request.verb)]

    async def arrived(self, method: str, count: int = 1) -> list[HttpRequest]:
        """Waits until `count` requests with this method or verb have come whole. The caller sets the deadline."""
        await self._until(lambda: len(self.requests(method)) >= count)
        return self.requests(method)

    async def left(self, method: str, count: int = 1) -> list[HttpRequest]:
        """Waits until the client has left `count` requests with this method before their answer was whole."""
        await self._until(lambda: sum(request.left for request in self.requests(method)) >= count)
        return [request for request in self.requests(method) if request.left]

    async def held(self, name: str, count: int = 1) -> None:
        """Waits until `count` requests stand at `http.hold(name)`, those that went on included."""
        await self._until(lambda: self._held.get(name, 0) >= count)

    def release(self, name: str) -> None:
        """Lets everything go on that stands at `http.hold(name)`, now and later."""
        self._gate(name).set()

    @property
    def open_connections(self) -> int:
        return sum(connection.open and not connection.left.is_set() for connection in self.connections)

    def go_down(self) -> None:
        """Stops listening and breaks every connection off, as a server does that is killed."""
        if self._listener is not None:
            anyio.notify_closing(self._listener)
            self._listener.close()
            self._listener = None
        for connection in self.connections:
            connection.end(broken=True)

    async def come_back(self) -> None:
        """Listens again on the same port, without the session that it had. The table stays, turns included."""
        self.session = None
        await self._group.start(self._listen)

    async def pause(self, name: str, left: anyio.Event) -> None:
        """Stand at a hold. Raises `Left` when the client leaves first."""
        self._held[name] = self._held.get(name, 0) + 1
        self._tell()
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                await left.wait()
                group.cancel_scope.cancel()

            group.start_soon(watch)
            await self._gate(name).wait()
            group.cancel_scope.cancel()
        if left.is_set():
            raise Left

    async def __aenter__(self) -> Self:
        self._group = await anyio.create_task_group().__aenter__()
        await self._group.start(self._listen)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._group.cancel_scope.cancel()
        return await self._group.__aexit__(kind, value, trace)

    async def _listen(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", self._port))
            listener.listen(1024)
            listener.setblocking(False)
            self._port = listener.getsockname()[1]
            self._listener = listener
            task_status.started()
            while True:
                try:
                    await anyio.wait_readable(listener)
                    accepted, _ = listener.accept()
                except BlockingIOError:
                    continue
                except (OSError, anyio.ClosedResourceError):
                    if self._listener is listener:
                        raise
                    return  # the peer went down
                connection = Connection(accepted, len(self.connections), self._split, self)
                self.connections.append(connection)
                self._group.start_soon(self._serve, connection)

    async def _serve(self, connection: Connection) -> None:
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(connection.listen)
                try:
                    nobody = HttpRequest(NOBODY, b"", b"", connection.number)
                    await connection.play(self._next(ACCEPT, self._at_accept, nobody), nobody)
                    while True:
                        await self._answer_one(connection)
                except Left:
                    group.cancel_scope.cancel()
        finally:
            connection.end()
            self._tell()

    async def _answer_one(self, connection: Connection) -> None:
        head = await connection.next_head()
        early = None if self._at_head is None else self._at_head(HttpRequest(head, b"", head, connection.number))
        if early is not None:
            await connection.play(steps_of(early), HttpRequest(head, b"", head, connection.number))
        request = await connection.finish(head)
        self.received.append(request)
        self._tell()
        try:
            if early is None:
                await connection.play(self._answer(request), request)
            request.answered = True
        finally:
            request.left = not request.answered and connection.left.is_set()
            self._tell()

    def _answer(self, request: HttpRequest) -> list[list[Any]]:
        if request.method == "initialize" and self._sessions:
            self.session = self._sessions.pop(0) if len(self._sessions) > 1 else self._sessions[0]
        elif self._sessions and request.header("mcp-session-id") not in (None, self.session):
            return steps_of(reply(GONE, status=404))
        keys = (request.message.key(), request.method, request.verb)
        key = next((key for key in keys if key in self.answers and (key or request.message.spans)), None)
        if key is None:
            return self._as_it_should(request)
        steps = self._next(key, self.answers[key], request)
        if request.method == "initialize" and self.session is not None and steps[0][0] == "reply":
            steps[0][2] = [*steps[0][2], ("Mcp-Session-Id", self.session)]
        return steps

    def _next(self, key: str, turns: Turns, request: HttpRequest) -> list[list[Any]]:
        if callable(turns):
            turns = turns(request)
        if not isinstance(turns, bytes | Steps | HttpSteps):
            if not turns:
                return []
            turn = self._used.get(key, 0)
            self._used[key] = turn + 1
            turns = turns[min(turn, len(turns) - 1)]
        return [list(step) for step in steps_of(turns)]

    def _as_it_should(self, request: HttpRequest) -> list[list[Any]]:
        """Answers what the script does not know."""
        if request.verb != "POST":
            return steps_of(reply(status=200 if request.verb == "DELETE" else 405, media=None))
        if not request.message.spans:
            return steps_of(reply(error(-32700, "Parse error"), status=400))
        if not (request.method and request.message.raw("id")):
            return steps_of(ACCEPTED)
        return steps_of(reply(error(-32601, "Method not found"), status=404 if self._era >= MODERN else 200))

    def _gate(self, name: str) -> anyio.Event:
        return self._released.setdefault(name, anyio.Event())

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._news.wait()


def _opening(era: str) -> dict[str, Turns]:
    """What a `RawServer` opens with, with the statuses that the era has."""
    table: dict[str, Turns] = dict(opening(era))
    if era >= MODERN:
        table["initialize"] = reply(opening(era)["initialize"], status=400)
    return table
