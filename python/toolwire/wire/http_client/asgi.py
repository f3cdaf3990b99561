"""An ASGI app in this process, under an HTTP client: no socket, and everything in the order in which it happens.

httpx2's own transport gives a body only when it is whole; a stream of events would never begin. Here the app runs in
a task of its own and each part of its body goes to the reader as it is sent: an app waits for a slow reader. What a
server does around an app is done too: its lifespan, a disconnect when the reader leaves, a 500 when it raises.
"""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Final, Self, TypeGuard

import anyio
import anyio.abc
import anyio.lowlevel
import httpx2
from anyio.streams.memory import MemoryObjectSendStream

from toolwire.wire.http_client.lifespan import AsgiApp, Lifespan, Message, logger

__all__ = ["AsgiTransport", "is_app"]

PATIENCE: Final = 1.0
"""Seconds that requests, and then the lifespan, are given to end by themselves when the transport is left."""

FAILED: Final = (500, [(b"content-type", b"text/plain; charset=utf-8")])


def is_app(target: object) -> TypeGuard[AsgiApp]:
    """An ASGI app: an object that is called with a scope, a receiver and a sender."""
    if not callable(target) or isinstance(target, type) or hasattr(target, "__aenter__"):
        return False
    try:
        inspect.signature(target).bind({}, None, None)
    except (TypeError, ValueError):
        return False
    return True


class AsgiTransport(httpx2.AsyncBaseTransport):
    """A transport for `httpx2.AsyncClient`: an `async with` around the client runs the app's lifespan.

    Raises ConnectError when the app does not start.
    """

    def __init__(self, app: AsgiApp) -> None:
        self._app = app
        self._lifespan = Lifespan(app)
        self._exchanges: set[_Exchange] = set()
        self._idle = anyio.Event()
        self._group: anyio.abc.TaskGroup
        # A request is served as a server would serve it, without the context of whoever asks.
        self._context: contextvars.Context

    async def __aenter__(self) -> Self:
        self._context = contextvars.copy_context()
        self._group = await anyio.create_task_group().__aenter__()
        try:
            self._group.start_soon(self._lifespan.run)
            await self._lifespan.start()
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(PATIENCE):
                for exchange in self._exchanges:
                    exchange.leave()
                while self._exchanges:
                    self._idle = anyio.Event()
                    await self._idle.wait()
            with anyio.move_on_after(PATIENCE):
                await self._lifespan.stop()
        await self._end()

    async def _end(self) -> None:
        # Nothing that was raised around it is told to the group: it would come back wrapped.
        self._group.cancel_scope.cancel()
        await self._group.__aexit__(None, None, None)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Gives the response as soon as it has begun. Its body is read as the app sends it."""
        exchange = _Exchange(request, await request.aread(), self._lifespan.state)
        if (trace := request.extensions.get("trace")) is not None:
            # The app has the whole request from here on: who wants to know hears it as httpx2's own transport tells it.
            await trace("asgi.send_request_headers.started", {"request": request})
        self._exchanges.add(exchange)
        self._context.copy().run(self._group.start_soon, self._serve, exchange)
        try:
            with exchange.in_time():
                await exchange.begun.wait()
        except BaseException:
            exchange.leave()
            raise
        return httpx2.Response(exchange.status, headers=exchange.headers, stream=exchange, request=request)

    async def _serve(self, exchange: _Exchange) -> None:
        try:
            await exchange.run(self._app)
        finally:
            self._exchanges.discard(exchange)
            self._idle.set()


class _Exchange(httpx2.AsyncByteStream):
    """One request and its response: what the app is called with, and the body that the client reads."""

    def __init__(self, request: httpx2.Request, body: bytes, state: dict[str, Any]) -> None:
        url = request.url
        self.scope: Message = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": url.scheme,
            "path": url.path,
            "raw_path": url.raw_path.partition(b"?")[0],
            "query_string": url.query,
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
            "server": (url.host, url.port),
            "client": ("127.0.0.1", 0),
            "state": dict(state),
            "extensions": {},
        }
        self.status, self.headers = FAILED
        self.begun, self.left = anyio.Event(), anyio.Event()
        self._timeout: float | None = request.extensions.get("timeout", {}).get("read")
        self._body: bytes | None = body
        self._silent = request.method == "HEAD"
        self._ended = False
        self._fault: Exception | None = None
        self._parts: MemoryObjectSendStream[bytes]
        self._parts, self._read = anyio.create_memory_object_stream[bytes](0)

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """The client's own bound on silence."""
        try:
            with anyio.fail_after(self._timeout):
                yield
        except TimeoutError:
            raise httpx2.ReadTimeout(f"the app said nothing for {self._timeout:g} s") from None

    # The app's side

    async def run(self, app: AsgiApp) -> None:
        """Calls the app, and ends the response however it ends."""
        try:
            await app(self.scope, self._receive, self._send)
            if not self._ended and not self.left.is_set():
                self._fault = httpx2.RemoteProtocolError("the app returned before its response was whole")
        except Exception as error:  # noqa: BLE001 - an app may raise anything, and it is one request's fault
            logger.exception("the app raised while it served %s %s", self.scope["method"], self.scope["path"])
            if not self._ended:
                self._fault = httpx2.RemoteProtocolError(f"the app raised before its response was whole: {error!r}")
                self._fault.__cause__ = error
        finally:
            if not self.begun.is_set():
                self._fault = None  # the status says it
            self.begun.set()
            self._parts.close()

    async def _receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        match message["type"]:
            case "http.response.start" if not self.begun.is_set():
                self.status, self.headers = message["status"], list(message.get("headers", ()))
                self.begun.set()
            case "http.response.body" if self.begun.is_set() and not self._ended:
                await self._part(message.get("body", b""))
                if not message.get("more_body", False):
                    self._ended = True
                    self.left.set()
                    self._parts.close()
            case kind:
                raise RuntimeError(f"{kind!r} has no place here in a response")

    async def _part(self, part: bytes) -> None:
        if part and not self._silent and not self.left.is_set():
            with suppress(anyio.BrokenResourceError):  # the reader has left, and the app hears of it
                await self._parts.send(part)
        else:
            await anyio.lowlevel.checkpoint()

    # The client's side

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        # No generator: one that is left halfway is closed when it pleases the collector.
        try:
            with self.in_time():
                return await self._read.receive()
        except anyio.EndOfStream:
            raise self._fault or StopAsyncIteration from None

    def leave(self) -> None:
        """The reader has left: the app hears a disconnect, and what it sends goes nowhere."""
        self.left.set()
        self._read.close()

    async def aclose(self) -> None:
        """See `leave`."""
        self.leave()
