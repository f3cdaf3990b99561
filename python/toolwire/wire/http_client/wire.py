"""The client wire over Streamable HTTP: the SDK's own transport on one lane, posts of our own on the other.

Like the wire over a byte channel it is an SDK `Transport`, and asks nothing else of the SDK.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, cast

import anyio
import anyio.abc
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest

from toolwire import _core
from toolwire.errors import RemoteCallError
from toolwire.wire.http_client.arrivals import Arrivals
from toolwire.wire.http_client.engine import Lost
from toolwire.wire.http_client.engines import express_timeout, fast_engine, learns, own_client
from toolwire.wire.http_client.exchange import Call, Exchange
from toolwire.wire.http_client.express import HttpExpress
from toolwire.wire.http_client.httpx_engine import HttpxEngine
from toolwire.wire.http_client.lane import HttpLane, Tapped
from toolwire.wire.http_client.learned import Learned
from toolwire.wire.http_client.lessons import Lessons
from toolwire.wire.http_client.linger import Linger
from toolwire.wire.http_client.mirrored import Mirrors
from toolwire.wire.http_client.renewal import Renewal
from toolwire.wire.http_client.watched import WatchedClient
from toolwire.wire.limits import Limits
from toolwire.wire.sdk_streams import SdkWriteStream, message_of

__all__ = ["HttpWire"]

logger = logging.getLogger("toolwire.wire")

CANCEL_TIMEOUT = 5.0
"""Seconds for telling a server that a call was given up: nobody waits for it."""


class HttpWire:
    """A connection to one server over HTTP. Enter it once; leaving it ends the session.

    `http_client` is the caller's, used as given and left open; without it there is one of our own, with `headers`,
    `auth` and `read_timeout` (seconds of silence on a stream). `call_headers()` is asked for the headers of each
    request, by names in lower case.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str,
        headers: Mapping[str, str] | None = None,
        auth: httpx2.Auth | None = None,
        http_client: httpx2.AsyncClient | None = None,
        read_timeout: float | None = None,
        call_headers: Callable[[], Mapping[str, str]] = dict,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.name = name
        self.call_headers = call_headers
        self.lost = False
        """The SDK's transport ended; nobody here had closed it."""
        self._url = url
        self._given = http_client
        self._auth = auth
        self._headers = dict(headers or {})
        self._read_timeout = read_timeout
        self._learned = Learned(self._headers)
        self._mirrors = Mirrors()
        self._stack = AsyncExitStack()
        self._entered = self._closed = False
        self._ended: str | None = None
        self._tasks: anyio.abc.TaskGroup
        self._exchange: Exchange
        self._renewal: Renewal
        self._to_server: Any
        self.express: HttpExpress
        self.sdk = HttpLane(self._learned)
        self._arrivals = Arrivals(self.sdk, self._progressed)
        self._lessons = Lessons(self.sdk, self._learned, call_headers, self._lost_session)

    # The SDK's transport

    async def __aenter__(self) -> tuple[Any, SdkWriteStream]:
        """The SDK's read and write streams. Nothing is sent yet."""
        if self._entered:
            raise RuntimeError("a wire is entered once: make another one for another connection")
        self._entered = True
        async with AsyncExitStack() as stack:
            client, timeout = self._given, None
            if client is None:
                client = own_client(self._headers, self._auth, self._read_timeout, self.limits.in_flight)
                await stack.enter_async_context(client)
                timeout = express_timeout(self._read_timeout)
            watched = cast("httpx2.AsyncClient", WatchedClient(client, self._lessons))
            from_server, self._to_server = await stack.enter_async_context(
                streamable_http_client(self._url, http_client=watched, max_sse_event_size=self.limits.line_limit)
            )
            self._tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(self._tasks.cancel_scope.cancel)
            stack.callback(self.sdk.inbox.close)
            self._build(client, timeout, stack)
            self._tasks.start_soon(self._pump, from_server)
            stack.callback(self._close)
            self._stack = stack.pop_all()
        return self.sdk.inbox.stream, SdkWriteStream(self, self._send)

    def _build(self, client: httpx2.AsyncClient, timeout: httpx2.Timeout | None, stack: AsyncExitStack) -> None:
        fast = None
        if self._given is None and learns(self._auth):
            fast = fast_engine(self._url, connections=self.limits.in_flight, read=self._read_timeout)
            if fast is not None:
                stack.push_async_callback(fast.aclose)
        self._renewal = Renewal(
            self.sdk, self._learned, self._tasks, self.limits.connect_timeout, self._to_server.send, self._renewed
        )
        self._exchange = Exchange(
            self._url,
            fast=fast,
            own=HttpxEngine(client, timeout),
            learned=self._learned,
            mirrors=self._mirrors,
            line_limit=self.limits.line_limit,
            has_auth=self._auth is not None,
            modern=lambda: bool(self.sdk.envelope),
            call_headers=self.call_headers,
            route=self._arrivals.route,
            renew=self._renewal.renew,
            hold=self._renewal.hold,
            linger=Linger(self._tasks).takes,
        )
        self.express = HttpExpress(self._exchange, self.limits, self._cancelled)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    def _close(self) -> None:
        self._closed = True
        self._die("the connection was closed")

    def _die(self, text: str) -> None:
        self._ended = self._ended or text
        self.express.die(RemoteCallError(self._ended))
        self.sdk.inbox.end()

    async def ready(self) -> None:
        """Waits until the handshake is through at the server, so that the first call already goes express."""
        if self.sdk.settled is not None:
            await self.sdk.settled.wait()

    # From the SDK

    async def _send(self, item: SessionMessage) -> None:
        if self._ended is not None:
            raise anyio.BrokenResourceError
        message = item.message
        if isinstance(message, JSONRPCRequest) and (tapped := self.sdk.tapped.get(message.id)) is not None:
            self.sdk.outgoing(item)
            self._tasks.start_soon(self._post_tapped, tapped, message)
            return
        if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            key = (message.params or {}).get("requestId")
            tapped = self.sdk.abandoned(key) if isinstance(key, int | str) else None
            if tapped is not None:
                if tapped.scope is not None:
                    tapped.scope.cancel()
                if self.sdk.envelope:
                    return
        self.sdk.outgoing(item)
        await self._to_server.send(item)

    async def _post_tapped(self, tapped: Tapped, message: JSONRPCRequest) -> None:
        number = cast("int", message.id)
        name = (message.params or {}).get("name")
        call = Call(number, tapped.body(message), message.method, (str(name or message.method), self))
        error = ErrorData(code=INTERNAL_ERROR, message="the answer could not be read")
        answer: Any = None
        with anyio.CancelScope() as tapped.scope:
            try:
                frame = await self._exchange.answer(call)
            except RemoteCallError as problem:
                tapped.hear(problem)
                error = ErrorData(code=INTERNAL_ERROR, message=str(problem))
            else:
                tapped.hear(frame)
                answer = message_of(frame) if frame.kind in ("result", "error") else None
            if answer is None or isinstance(answer, JSONRPCError):
                told = error if answer is None else answer.error
                answer = JSONRPCError(jsonrpc="2.0", id=number, error=told)
            self.sdk.incoming(answer)

    def _lost_session(self) -> None:
        self._renewal.start()

    async def _pump(self, from_server: Any) -> None:
        async for item in from_server:
            if isinstance(item, Exception):
                logger.warning("the SDK's transport could not read a message of %s: %s", self.name, item)
            elif not self._renewal.takes(item.message):
                self._arrivals.carried(item.message)
        self.lost = not self._closed
        self._die("the SDK's transport has ended")

    def _progressed(self, token: int, progress: float, total: float | None, message: str | None) -> None:
        self.express.progressed(token, progress, total, message)

    def _renewed(self) -> None:
        """Behind a new session may stand another server: its tools are listed again by who follows them (fault I13)."""
        self._arrivals.tell("notifications/tools/list_changed")

    def _cancelled(self, number: int, reason: str) -> None:
        """Tells the server that nobody waits; on 2026-07-28 the closed POST has said so."""
        if self._ended is None and not self.sdk.envelope:
            body = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"%s"}}' % (
                number,
                reason.encode(),
            )
            self._tasks.start_soon(self._post, body)

    async def _post(self, body: bytes) -> None:
        with anyio.move_on_after(CANCEL_TIMEOUT):
            try:
                await self._exchange.post(body)
            except Lost as error:
                logger.debug("a cancellation was not delivered: %s", error)

    # What a person may ask

    def listen(self, method: str, heard: Callable[[], None]) -> Callable[[], None]:
        """Calls `heard` at each notification of `method`, besides the SDK; the call that ends it."""
        return self._arrivals.listen(method, heard)

    def listed(self, page: _core.Page) -> None:
        """A page of the server's tools: their schemas say which arguments go into headers."""
        self._mirrors.listed(page)

    @property
    def open(self) -> bool:
        """Express requests may go: the SDK's session is open, and what its requests carry is known."""
        return self._entered and not self._closed and self.sdk.open

    @property
    def end_reason(self) -> str | None:
        """Why the connection has ended; `None` while it lives."""
        return self._ended

    @property
    def counters(self) -> dict[str, int]:
        """What was forgiven so far, by name, and how many requests went which way."""
        if not hasattr(self, "express"):
            return {}
        return {
            "express_requests": self.express.requests,
            "sdk_requests": self.sdk.requests,
            "late_answers": self._arrivals.late_answers,
            "dropped_notifications": self.sdk.dropped_notifications,
            "sessions_renewed": self._renewal.count,
            **self._exchange.counters,
        }

    first_fault: str | None = None
    noise: tuple[bytes, ...] = ()
    stderr_tail: bytes = b""
    exit_code: int | None = None

    async def request(self, method: str, params: bytes, *, timeout: float | None) -> _core.Frame:
        """One express request; `params` are the JSON members of its params. See `HttpExpress.send`."""
        envelope = self.sdk.envelope

        def line(number: int) -> bytes:
            return _core.request(number, method, params, envelope)

        return await self.express.send(line, label=(method, self), timeout=timeout, method=method)
