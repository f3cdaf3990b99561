"""The express lane of an app over HTTP: it stands inside the SDK's route, in front of the SDK's session manager.

A POST is answered here when it is certain to end the same way: its body is one plain `tools/call` for a tool of ours,
its headers pass the SDK's own judges, and it is open in the SDK's view. That is every call of a handshake era on a
stateless app; a call of a session in which the SDK has let a request through to a handler of ours; and a call of
2026-07-28 whose envelope did so before. Everything else is the SDK's, with the body's bytes given back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, MutableMapping
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any

import anyio
import anyio.abc
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, JSONRPCNotification
from pydantic_core import to_json

from toolwire import _core, _sdk
from toolwire.loops import loop_here, on_asyncio
from toolwire.wire.http_server.body import Message, again, read_body
from toolwire.wire.http_server.call import PostedCall, Receive, Send, reply
from toolwire.wire.http_server.head import Gate, Head, read_head, without_padding
from toolwire.wire.http_server.kept import PostedRequest
from toolwire.wire.http_server.known import HANDSHAKE, MODERN, Known
from toolwire.wire.http_server.service import PostedService
from toolwire.wire.kept import Kept
from toolwire.wire.limits import (
    LEAVE_TIMEOUT,
    POSTED_AT_ONCE,
    POSTED_BYTES,
    TELL_TIMEOUT,
)
from toolwire.wire.served_sdk_lane import cancelled_key
from toolwire.wire.server import current_wire

__all__ = ["DECLINED", "HttpLane", "Scope"]

Scope = MutableMapping[str, Any]
DECLINED = "toolwire.declined"
"""Where a request says that the lane has declined it already, and what was read of it."""
_posted: ContextVar[PostedRequest | None] = ContextVar("toolwire.posted", default=None)


class HttpLane:
    """The app that stands in the route of one session manager. It is `app.state.toolwire` of an `http_app`."""

    def __init__(self, manager: StreamableHTTPSessionManager, service: PostedService) -> None:
        self.express = True
        """Off only where the two lanes are compared: then everything is the SDK's."""
        self.express_calls = 0
        self.sdk_requests = 0
        self.lifespan: Any = None
        self.tasks: anyio.abc.TaskGroup
        self.manager = manager
        self._service = service
        self.context = service.context
        self._sdk_app, self._sdk_run = manager.asgi_app, manager.run
        self._gate = Gate(manager)
        self._as_json = manager.json_response
        self._runs = False
        self.loop: object = None
        """The one that the app runs in, once it does."""
        self._running: set[PostedCall] = set()
        self._of_sessions: dict[tuple[Any, int | str], PostedCall] = {}
        """Those of them that belong to a session, by it and the client's id: of two with one id, the later."""
        self._running_bytes = 0
        self._beside: set[asyncio.Task[None]] = set()
        self._gone = anyio.Event()
        self._known = Known(manager)
        _sdk.taken_over(manager, self, self._run)

    @property
    def counters(self) -> dict[str, int]:
        """How many requests went which way."""
        return {"express_calls": self.express_calls, "sdk_requests": self.sdk_requests}

    # The life of the app

    @asynccontextmanager
    async def _run(self) -> AsyncIterator[None]:
        """Run the SDK's session manager, and beside it the calls of this lane."""
        token = current_wire.set(self)
        failed: Exception | None = None
        try:
            async with self._sdk_run():
                async with anyio.create_task_group() as self.tasks:
                    self._runs = True
                    self.loop = loop_here()
                    self._service.wires.add(self)
                    try:
                        yield
                    except Exception as error:  # noqa: BLE001 - raised below, out of the group that would wrap it
                        failed = error
                    finally:
                        await self.quiet()
                        self.tasks.cancel_scope.cancel()
                if failed is not None:
                    raise failed
        finally:
            with suppress(ValueError):
                # Left from another task than it was entered in: that task's context is gone with it.
                current_wire.reset(token)

    def opened(self, state: Any, auth: Any) -> None:
        """Hear that the server's lifespan has begun, and of what it yielded."""
        del auth
        self.lifespan = state

    async def quiet(self) -> None:
        """End what runs: after this no handler uses the lifespan's state."""
        self._runs = False
        self._service.wires.discard(self)
        for call in list(self._running):
            call.end("session")
        with anyio.move_on_after(LEAVE_TIMEOUT, shield=True):
            while self._running:
                await self._gone.wait()

    # What the server tells unasked

    @property
    def handshake(self) -> bool:
        """There may be sessions, which hear of things unasked where their client holds a stream open."""
        return not self.manager.stateless

    def notify(self, method: str) -> None:
        """Tell every session."""
        message = SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=method))
        for tell in _sdk.tell_sessions(self.manager):
            self.tasks.start_soon(_told, tell, message)

    def spawn(self, job: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Run something beside the requests."""
        self.tasks.start_soon(job)

    # A request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: an ASGI app."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._to_sdk(scope, receive, send, None)
            return
        declined = scope.get(DECLINED)
        if declined is not None:
            await self._to_sdk(scope, receive, send, declined[0])
            return
        declined = await self.answered(scope, receive, send)
        if declined is not None:
            await self._to_sdk(scope, again(declined[1], receive), send, declined[0])

    async def answered(self, scope: Scope, receive: Receive, send: Send) -> tuple[bytes | None, list[Message]] | None:
        """Answer a POST that is certain; otherwise the body that was read, and the messages that it came in."""
        head = read_head(scope["headers"])
        length = None if head is None else head.found.get(b"content-length")
        body, messages = await read_body(receive, length, self.manager.max_request_body_size)
        if body is not None and head is not None and self.express and self._runs and self._service.certain():
            posted = await self._posted(scope, head, body)
            if posted is not None:
                await self._answer(posted, receive, send)
                return None
            self._cancelled(scope, head, body)
        return body, messages

    async def _posted(self, scope: Scope, head: Head, body: bytes) -> PostedCall | None:
        """The call that a POST is; None for anything that is not certain."""
        call = _core.served_call(body)
        if call is None or self.manager.event_store is not None:
            return None
        service, found = self._service, head.found
        version = found.get(b"mcp-protocol-version")
        session = session_id = stamp = None
        if version in MODERN:
            if not self._known.agrees(call, head, version):
                return None
            stamp = service.stamp
        elif version not in HANDSHAKE or call.envelope:
            return None
        elif not self.manager.stateless:
            session_id = found.get(b"mcp-session-id")
            session = self._known.session(scope, session_id)
            if session is None:
                return None
        tool = service.find(call.name)
        if tool is None or not (self._gate.remembered(head) or await self._gate.admits(head)):
            return None
        if stamp is not None and not service.mirrored(call.name, MODERN[version], call.arguments, scope["headers"]):
            return None
        return PostedCall(self, call, tool, stamp, session, session_id)

    async def _answer(self, posted: PostedCall, receive: Receive, send: Send) -> None:
        if len(self._running) >= POSTED_AT_ONCE or self._running_bytes > POSTED_BYTES:
            busy = {"code": INTERNAL_ERROR, "message": "the server has too many requests running: try again later"}
            line = posted.call.error_answer(to_json(busy))
            await reply(send, 503, line[:-1], (b"retry-after", b"1"))
            return
        self.express_calls += 1
        answer = posted.answer_json(send) if self._as_json else posted.answer_events(receive, send)
        if posted.session is None:
            await answer
        else:
            self._of_sessions[posted.session, posted.call.key] = posted
            with _sdk.held(posted.session):
                await answer

    # What a call asks

    def start(self, job: Callable[[], Coroutine[Any, Any, None]], /) -> None:
        """Run a call beside its request."""
        if on_asyncio():
            # A group's task costs as much as the rest of the lane; these are known, and ended with the app, as it is.
            task = asyncio.get_running_loop().create_task(job())
            self._beside.add(task)
            task.add_done_callback(self._beside.discard)
        else:
            self.tasks.start_soon(job)

    def began(self, posted: PostedCall, /) -> None:
        """Count a call that runs."""
        self._running.add(posted)
        self._running_bytes += posted.call.size

    def finished(self, posted: PostedCall, /) -> None:
        """Count one less."""
        self._running.discard(posted)
        self._running_bytes -= posted.call.size
        if posted.session is not None:
            key = (posted.session, posted.call.key)
            if self._of_sessions.get(key) is posted:
                del self._of_sessions[key]
        if not self._runs:
            self._gone.set()
            self._gone = anyio.Event()

    # The SDK lane

    async def _to_sdk(self, scope: Scope, receive: Receive, send: Send, body: bytes | None) -> None:
        self.sdk_requests += 1
        scope = {**scope, "headers": without_padding(scope["headers"])}
        if body is None:
            await self._sdk_app(scope, receive, send)
        else:
            posted = PostedRequest(body, send, lambda kept: self._learn(scope, kept))
            wire, request = current_wire.set(self), _posted.set(posted)
            try:
                await self._sdk_app(scope, receive, posted.send)
            finally:
                current_wire.reset(wire)
                _posted.reset(request)
        if scope.get("method") == "DELETE":
            for call in [call for call in self._running if call.session is not None and call.session.is_terminated]:
                call.end("session")

    def kept_of(self, request_id: int | str) -> Kept | None:
        """What is kept of the request that a handler on the SDK lane serves."""
        posted = _posted.get()
        return None if posted is None else posted.kept_of(request_id)

    def _learn(self, scope: Scope, kept: Kept) -> None:
        if self._service.certain():
            self._known.learn(scope, kept)

    def _cancelled(self, scope: Scope, head: Head, body: bytes) -> None:
        """Cancel a call of a session that its client wants no answer to any more. The SDK hears of it too."""
        session_id = head.found.get(b"mcp-session-id")
        if session_id is None or b"cancelled" not in body or not self._of_sessions:
            return
        session, key = self._known.session(scope, session_id), _named(body)
        call = None if session is None or key is None else self._of_sessions.get((session, key))
        if call is not None:
            call.end("cancelled")


async def _told(tell: Callable[[SessionMessage], Awaitable[None]], message: SessionMessage) -> None:
    # A client that does not read what it is told holds nobody up.
    with anyio.move_on_after(TELL_TIMEOUT), suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await tell(message)


def _named(body: bytes) -> int | str | None:
    """The request that a `notifications/cancelled` names."""
    try:
        frame = _core.read_message(body)
        if frame.kind != "notification" or frame.method != "notifications/cancelled":
            return None
    except ValueError:
        return None
    return cancelled_key(frame.params)
