"""The server wire: a client's bytes split in two lanes.

Everything goes to the SDK, except a `tools/call` that is certain to end the same way here: the service says whether the
server is one on which that may be, the core whether the request is, and `served_sdk_lane` whether the session is open
in the SDK's own view. Everything unknown, every other method and every odd frame goes down the SDK lane.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextvars import ContextVar, copy_context
from typing import Any, Protocol

import anyio
import anyio.abc
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR
from pydantic_core import to_json

from toolwire import _core
from toolwire._core import ServedCall
from toolwire.loops import loop_here
from toolwire.wire.channel import HeldChannel
from toolwire.wire.kept import Kept
from toolwire.wire.limits import QUEUED_BYTES, SERVED_AT_ONCE
from toolwire.wire.sdk_lane import SdkWriteStream, request_key
from toolwire.wire.served_calls import CLOSED, Queue, ServedCalls, Tool
from toolwire.wire.served_sdk_lane import Key, ServedSdkLane, cancelled_key

__all__ = ["Carrier", "ServerWire", "Service", "Told", "current_wire"]


class Carrier(Protocol):
    """What a server is served on: a wire, or the app over HTTP."""

    def kept_of(self, request_id: Key, /) -> Kept | None:
        """What is kept of a request on the SDK lane."""

    def opened(self, state: Any, auth: Any, /) -> None:
        """Hear that the server's lifespan has begun, and of what it yielded."""

    async def quiet(self) -> None:
        """End what runs on the express lane: after this no handler uses the lifespan's state."""


class Told(Protocol):
    """Whoever serves the tools, and tells its clients when they are others. All but `loop` is for its own loop."""

    @property
    def loop(self) -> object:
        """The loop that it lives in, as `loop_here` names it."""

    @property
    def handshake(self) -> bool:
        """Notifications may be sent to its clients unasked."""

    def notify(self, method: str) -> None:
        """Send one to them."""

    def spawn(self, job: Callable[[], Coroutine[Any, Any, Any]], /) -> None:
        """Run something beside what is served."""


current_wire: ContextVar[Carrier | None] = ContextVar("toolwire.server_wire", default=None)
"""What the running server is served on: how the SDK lane's handlers find the bytes that the SDK did not keep."""


class Service(Protocol):
    """The tools of one server, and whether its calls may take this lane at all."""

    def certain(self) -> bool:
        """Nothing of the user's stands between a `tools/call` and its tool."""

    def find(self, name: str, /) -> Tool | None:
        """The tool of that name, unless it needs the SDK lane."""

    @property
    def stamp(self) -> bytes:
        """The server's own description, as a 2026-07-28 result carries it."""


class ServerWire:
    """One client of one server. `streams` are for `server.run`."""

    def __init__(
        self,
        channel: HeldChannel,
        service: Service,
        tasks: anyio.abc.TaskGroup | None,
        *,
        line_limit: int = _core.LINE_LIMIT,
        at_once: int = SERVED_AT_ONCE,
        express: bool = True,
    ) -> None:
        # Off only where the two lanes are compared: then everything is the SDK's.
        self._express = express
        self._channel = channel
        self._service = service
        self._tasks = tasks
        self.loop = loop_here()
        self._inbound = _core.Inbound(line_limit)
        self._at_once = at_once
        self._sdk = ServedSdkLane(channel.write, service.certain)
        self.streams = (self._sdk.stream, SdkWriteStream(self, self._send))
        self._calls = ServedCalls(self, tasks, channel.write, self._finished)
        self._queue = Queue()
        self._ended = False
        self._has_room = anyio.Event()
        self._beside: set[asyncio.Task[Any]] = set()
        self.lifespan: Any = None
        self.auth: Any = None
        """The access token under which the server runs, where whoever embeds it has asked for one."""
        self.has_lifespan = False
        self.express_calls = 0
        self.closed = anyio.Event()

    # The channel's listener

    def received(self, chunk: bytes, /) -> None:
        """Take bytes of the client."""
        sdk = self._sdk
        if self._express and sdk.open and self.has_lifespan and self._service.certain():
            for item in self._inbound.feed_calls(chunk):
                if not isinstance(item, ServedCall):
                    self._route(item)
                elif sdk.admits(envelope := item.envelope) and (tool := self._service.find(item.name)) is not None:
                    self._accept(item, tool, self._service.stamp if envelope else None)
                else:
                    self._route(item.frame())
        else:
            for frame in self._inbound.feed(chunk):
                self._route(frame)
        if self._channel.unwritten > QUEUED_BYTES:
            # A client that never reads has to wait: nothing else bounds what it is owed.
            self._channel.pause()

    def ended(self, reason: str, /) -> None:
        """End what runs for a client that says no more, and the SDK's session."""
        del reason
        for frame in self._inbound.finish():
            self._route(frame)
        self._end()

    def writable(self) -> None:
        """Go on: the client reads again."""
        self._channel.resume()
        self._has_room.set()
        self._has_room = anyio.Event()
        self._finished()

    @property
    def idle(self) -> bool:
        """Nothing runs for the client."""
        return not (self._calls.count or self._sdk.kept or self._queue.waiting)

    async def room(self) -> None:
        """Wait as long as the client does not read."""
        while self._channel.full and not self._ended:
            await self._has_room.wait()

    def _end(self) -> None:
        if self._ended:
            return
        self._ended = True
        self._has_room.set()
        for id_json in self._queue.clear():
            self._channel.write(_core.answer_error(id_json, CLOSED))
        self._calls.end()
        self._sdk.end()
        self.closed.set()

    # The bound on what runs at once: only requests wait, never an answer or a notification

    def _accept(self, call: ServedCall, tool: Tool, stamp: bytes | None) -> None:
        self.express_calls += 1
        if self._queue.waiting or self._busy():
            self._put(call.key, call.id_json, call.size, lambda: self._calls.start(call, tool, stamp))
        else:
            self._calls.start(call, tool, stamp)

    def _busy(self) -> bool:
        return (
            self._calls.count + len(self._sdk.kept) >= self._at_once
            or self._calls.size + self._sdk.kept_size > QUEUED_BYTES
            or self._channel.full
        )

    def _put(self, key: Key, id_json: bytes, size: int, start: Callable[[], object]) -> None:
        if not self._queue.put(key, id_json, size, start):
            busy = {"code": INTERNAL_ERROR, "message": "the server has too many requests waiting: try again later"}
            self._channel.write(_core.answer_error(id_json, to_json(busy)))

    def _finished(self) -> None:
        """Start what waits, if there is room again."""
        while self._queue.waiting and not self._ended and not self._busy():
            self._queue.start_next()

    # Inward, on the SDK lane

    def _route(self, frame: _core.Frame) -> None:
        kind = frame.kind
        if kind == "request":
            if self._queue.waiting or self._busy():
                key = frame.id if frame.id is not None else ""
                self._put(key, frame.id_json or b"null", frame.size, lambda: self._sdk.hand_over(frame))
            else:
                self._sdk.hand_over(frame)
        elif kind == "notification":
            self._notified(frame)
            self._sdk.pass_on(frame)
        elif kind in ("broken", "broken_request"):
            self._sdk.broken(frame)
        else:
            self._sdk.answered(frame)

    def _notified(self, frame: _core.Frame) -> None:
        method = frame.method
        if method == "notifications/initialized":
            self._sdk.initialized()
        elif method == "notifications/cancelled":
            key = cancelled_key(frame.params)
            if key is not None and not self._queue.cancel(key):
                self._calls.cancel(key)
                self._sdk.forget(key)
                self._finished()

    # Outward

    async def _send(self, item: SessionMessage) -> None:
        if self._channel.full:
            await self.room()
        if self._sdk.written(item.message):
            self._finished()

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Sends a notification of the wire's own."""
        body: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            body["params"] = params
        self._channel.write(to_json(body) + b"\n")

    async def progress(self, call: ServedCall, progress: float, total: float | None, message: str | None) -> None:
        """Tell the client of a call's progress, if it gave a token, and until the call is over."""
        if self._channel.full:
            await self.room()
        token = call.token
        if token is None or call not in self._calls:
            return
        facts = {"progress": progress, "total": total, "message": message}
        rest = to_json({name: value for name, value in facts.items() if value is not None})
        params = b'{"progressToken":' + token + b"," + rest[1:]
        self._channel.write(b'{"jsonrpc":"2.0","method":"notifications/progress","params":' + params + b"}\n")

    def kept_of(self, request_id: Key) -> Kept | None:
        """What is kept of a request on the SDK lane."""
        return self._sdk.kept.get(request_key(request_id))

    def spawn(self, job: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Runs something beside the session."""
        if self._tasks is None:
            task = asyncio.get_running_loop().create_task(job())
            self._beside.add(task)
            task.add_done_callback(self._beside.discard)
        else:
            self._tasks.start_soon(job)

    @property
    def kept(self) -> Mapping[Key, Kept]:
        """The requests that the SDK has not answered."""
        return self._sdk.kept

    @property
    def handshake(self) -> bool:
        """The session was opened by a handshake: notifications may be sent to it unasked."""
        return self._sdk.handshake

    @property
    def counters(self) -> dict[str, int]:
        """What went which way, and what was forgiven."""
        return {**self._inbound.counters, "express_calls": self.express_calls, "sdk_requests": self._sdk.requests}

    def opened(self, state: Any, auth: Any) -> None:
        """The server's lifespan has begun: handlers see what it yielded, and the context variables that it set."""
        self.lifespan, self.auth, self.has_lifespan = state, auth, True
        self._calls.context = copy_context()

    async def quiet(self) -> None:
        """Ends what runs on the express lane: after this no handler uses the lifespan's state."""
        self.has_lifespan = False
        self._end()
        await self._calls.wait()

    async def aclose(self) -> None:
        """Ends what runs, writes what is left, gives the channel back."""
        await self.quiet()
        self._sdk.stream.close()
        with anyio.CancelScope(shield=True):
            await self._channel.aclose()
