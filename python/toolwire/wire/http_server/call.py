"""One posted call on the express lane: it runs, and is answered in JSON or as a stream of events, as the SDK would.

A stateless app's call, and each of 2026-07-28, belongs to its request: a client that leaves a stream ends it. A call of
a session belongs to the session, and outlives the request that brought it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, Protocol

import anyio
import anyio.lowlevel
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from mcp_types import INTERNAL_ERROR
from pydantic_core import to_json

from toolwire._core import ServedCall
from toolwire._sdk import server_ends, shielded
from toolwire.loops import next_turn, running_task
from toolwire.wire.http_server.body import Message, Receive
from toolwire.wire.limits import EVENT_PING, SERVER_POLL, SHIELD_POLL
from toolwire.wire.served_calls import Answered, Tool

__all__ = ["Lane", "PostedCall", "Receive", "Send", "reply"]

Send = Callable[[Message], Awaitable[None]]

CANCELLED: Final = to_json({"code": -32800, "message": "Request cancelled"})
ENDED: Final = to_json(
    {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": INTERNAL_ERROR, "message": "Session terminated before the request completed"},
    }
)
_JSON: Final = (b"content-type", b"application/json")
_EVENTS: Final = (
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"content-type", b"text/event-stream"),
    (b"x-accel-buffering", b"no"),
)


class Lane(Protocol):
    """What a call needs of the app that it came to."""

    @property
    def lifespan(self) -> Any:
        """What the server's lifespan yielded."""

    def start(self, job: Callable[[], Coroutine[Any, Any, None]], /) -> None:
        """Run a call beside its request: one of a session, or one that is answered by events."""

    @property
    def context(self) -> ContextVar[Any]:
        """What a tool sets in the context that it runs in: that may be the context of whoever asks."""

    def began(self, posted: PostedCall, /) -> None:
        """Hear of a call that runs."""

    def finished(self, posted: PostedCall, /) -> None:
        """Hear that it runs no more."""


async def reply(send: Send, status: int, body: bytes, *more: tuple[bytes, bytes]) -> None:
    """Answer a request with JSON."""
    headers = [_JSON, (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class PostedCall:
    """A call, its request and its answer. It is what a handler's request asks for its facts."""

    def __init__(
        self, lane: Lane, call: ServedCall, tool: Tool, stamp: bytes | None, session: Any, session_id: bytes | None
    ) -> None:
        self.call = call
        self.session = session
        """The transport of the session that it belongs to."""
        self._lane = lane
        self._tool = tool
        self._stamp = stamp
        self._headers = () if session_id is None else ((b"mcp-session-id", session_id),)
        self._handle: asyncio.Task[Any] | anyio.CancelScope | None = None
        """What runs the handler, while it runs."""
        self._line: bytes | None = None
        self._status = 200
        self._ended: str | None = None
        """Why it was ended before it was over: `cancelled` by the client, with the `session` or the app, or the
        client is `gone`."""
        self._over: anyio.Event | None = None
        """Set when it is over, where somebody waits for that."""
        self._events: _Events | None = None

    # What a handler asks

    @property
    def lifespan(self) -> Any:
        """What the server's lifespan yielded."""
        return self._lane.lifespan

    @property
    def auth(self) -> Any:
        """The access token of the request, where the server asks for one."""
        return get_access_token()

    async def progress(self, call: ServedCall, progress: float, total: float | None, message: str | None) -> None:
        """Tell the client of the call's progress, where the answer is a stream of events."""
        events, token = self._events, call.token
        if events is None or token is None or self._line is not None or self._ended is not None:
            return
        facts = {"progress": progress, "total": total, "message": message}
        rest = to_json({name: value for name, value in facts.items() if value is not None})
        params = b'{"progressToken":' + token + b"," + rest[1:]
        await events.emit(b'{"jsonrpc":"2.0","method":"notifications/progress","params":' + params + b"}")

    # Its life

    async def _run(self) -> None:
        lane = self._lane
        lane.began(self)
        before = lane.context.get()
        # On asyncio the task itself is what is cancelled: a scope costs as much as the rest of the lane.
        task = self._handle = running_task()
        try:
            if self._ended is not None:
                return
            if task is not None:
                self._line = await self._tool.run(self, self.call, self._stamp)
            else:
                with anyio.CancelScope() as self._handle:
                    self._line = await self._tool.run(self, self.call, self._stamp)
        except Answered as answered:
            self._line = self.call.error_answer(answered.error)
            if self._stamp is not None:
                self._status = ERROR_CODE_HTTP_STATUS.get(answered.code, 200)
        except asyncio.CancelledError:
            if self._ended is None or task is None:
                raise
            # It was this call that was cancelled, and not the task that it runs in.
            task.uncancel()
        finally:
            self._handle = None
            lane.context.set(before)
            lane.finished(self)
            if self._over is not None:
                self._over.set()

    def end(self, why: str) -> None:
        """Cancel it; the first reason counts."""
        if self._ended is None:
            self._ended = why
            self._cancel()
        if why == "session" and self._over is not None:
            # The SDK waits for no handler then.
            self._over.set()

    def _cancel(self) -> None:
        """Cancel the handler as the SDK does: not while it shields itself, as to finish what must not be cut in two."""
        handle = self._handle
        if isinstance(handle, asyncio.Task) and shielded(handle):
            asyncio.get_running_loop().call_later(SHIELD_POLL, self._cancel)
        elif handle is not None:
            handle.cancel()

    def _answer(self) -> bytes | None:
        """What is said at the end; None where the session ended first."""
        if self._ended == "cancelled":
            return self.call.error_answer(CANCELLED)[:-1]
        return None if self._ended is not None or self._line is None else self._line[:-1]

    # Its answer

    async def answer_json(self, send: Send) -> None:
        """Run it, and answer with one JSON body."""
        if self.session is None:
            await self._run()
            # A turn later, so that of many clients all are served first and then all are answered: what they have in
            # common stays in the cache, and a process that reads many of the answers is woken once.
            await next_turn()
        else:
            self._over = anyio.Event()
            self._lane.start(self._run)
            await self._over.wait()
        body = self._answer()
        if body is None:
            await reply(send, 500, ENDED, *self._headers)
        else:
            await reply(send, self._status, body, *self._headers)

    async def answer_events(self, receive: Receive, send: Send) -> None:
        """Run it, and answer with events. On 2026-07-28 that is JSON where nothing was told before the end."""
        events = self._events = _Events(send, self._headers)
        over = self._over = anyio.Event()
        self._lane.start(self._run)
        try:
            # Most handlers are over at once: then there is nobody to watch, and one thing to send.
            await anyio.lowlevel.checkpoint()
            if not over.is_set():
                if self._stamp is None:
                    await events.begin()
                await self._watched(events, over, receive)
        finally:
            if self.session is None and not over.is_set():
                self.end("gone")
        if self._ended == "gone" or not over.is_set():
            return
        body = self._answer()
        if self._stamp is None or events.begun:
            await events.finish(body)
        elif body is None:
            await reply(send, 500, ENDED)
        else:
            await reply(send, self._status, body)

    async def _watched(self, events: _Events, over: anyio.Event, receive: Receive) -> None:
        async with anyio.create_task_group() as watchers:
            watchers.start_soon(self._until_gone, receive, watchers.cancel_scope)
            watchers.start_soon(events.keep_alive, self._stamp is not None)
            if self._stamp is None:
                watchers.start_soon(self._until_server_ends, watchers.cancel_scope)
            await over.wait()
            watchers.cancel_scope.cancel()

    async def _until_gone(self, receive: Receive, watchers: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._leave(watchers)

    async def _until_server_ends(self, watchers: anyio.CancelScope) -> None:
        """A server that is to end waits for its streams: those of a handshake era end by that, with the SDK."""
        while not server_ends():  # noqa: ASYNC110 - a flag of another library's, which tells nobody
            await anyio.sleep(SERVER_POLL)
        self._leave(watchers)

    def _leave(self, watchers: anyio.CancelScope) -> None:
        if self.session is None:
            self.end("gone")
        else:
            watchers.cancel()


class _Events:
    """The stream of events that answers one call: what is told on the way, a sign of life now and then, the end."""

    def __init__(self, send: Send, headers: tuple[tuple[bytes, bytes], ...]) -> None:
        self._send = send
        self._headers = headers
        self._turn = anyio.Lock(fast_acquire=True)
        self._told = anyio.Event()
        self.begun = False

    async def begin(self) -> None:
        """Tell the client that events will follow."""
        if not self.begun:
            self.begun = True
            await self._send(
                {"type": "http.response.start", "status": 200, "headers": [*_EVENTS, *self._headers]},
            )

    async def emit(self, message: bytes) -> None:
        """Send one message. A client that is gone is told nothing."""
        self._told.set()
        self._told = anyio.Event()
        await self._body(_event(message))

    async def _body(self, body: bytes) -> None:
        # By the protocol of such apps a client that is gone may be an error; to a handler it is none.
        with suppress(OSError):
            async with self._turn:
                await self.begin()
                await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def keep_alive(self, restarts: bool) -> None:
        """Send a comment whenever it has been quiet; where an event `restarts` that time it counts from the last."""
        while True:
            with anyio.move_on_after(EVENT_PING) as quiet:
                await (self._told.wait() if restarts else anyio.sleep_forever())
            if quiet.cancelled_caught:
                await self._body(b": ping\r\n\r\n" if restarts else f": ping - {datetime.now(UTC)}\r\n\r\n".encode())

    async def finish(self, message: bytes | None) -> None:
        """Send the last message, if there is one, and end the stream."""
        async with self._turn:
            await self.begin()
            body = b"" if message is None else _event(message)
            await self._send({"type": "http.response.body", "body": body})


def _event(message: bytes) -> bytes:
    return b"event: message\r\ndata: " + message + b"\r\n\r\n"
