"""The client wire: one byte channel, two lanes, and every frame to the lane that waits for it.

It is an SDK `Transport`: `mcp.Client(wire)` and `mcp.ClientSession(*streams)` work on it unchanged, and
`toolwire.tools(wire)` takes the express lane beside them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
from mcp.client.stdio import StdioServerParameters
from mcp.shared.message import SessionMessage

from toolwire import _core
from toolwire.errors import RemoteCallError
from toolwire.loops import on_asyncio
from toolwire.wire.channel import Channel
from toolwire.wire.express import ExpressLane
from toolwire.wire.limits import STDERR_QUOTED, Limits
from toolwire.wire.process import Command
from toolwire.wire.runtime import AnyioRuntime, AsyncioRuntime, Runtime, alone
from toolwire.wire.sdk_lane import SdkLane
from toolwire.wire.sdk_streams import SdkWriteStream
from toolwire.wire.stdio import PipeChannel

__all__ = ["ClientWire", "command_of"]

logger = logging.getLogger("toolwire.wire")


def command_of(target: Sequence[str] | StdioServerParameters, **options: Any) -> Command:
    """A target as a command; the options of `connect` win over the SDK parameters' own."""
    if isinstance(target, StdioServerParameters):
        env = {**(target.env or {}), **(options.pop("env", None) or {})}
        cwd = options.pop("cwd", None) or target.cwd
        return Command([target.command, *target.args], env=env, cwd=cwd, **options)
    return Command(list(target), **options)


class ClientWire:
    """A connection to one server, as an SDK transport. Enter it once; leaving it ends the server.

    `target` is the server's command (an argv list or the SDK's StdioServerParameters) or a Channel of the caller's.
    """

    def __init__(
        self, target: Sequence[str] | StdioServerParameters | Command | Channel, *, limits: Limits | None = None
    ) -> None:
        self._target: Command | Channel
        if isinstance(target, Sequence | StdioServerParameters):
            self._target = command_of(target)
        else:
            self._target = target
        self.limits = limits or Limits()
        self.name = self._target.argv[0] if isinstance(self._target, Command) and self._target.argv else "the server"
        self._inbound = _core.Inbound(self.limits.line_limit)
        self._stack = AsyncExitStack()
        self._channel: Channel
        self._entered = False
        self._closed = False
        self._ended: str | None = None
        self._room: anyio.Event | None = None
        self.lost = False
        """The server ended the connection; nobody here had closed it."""
        self.unclaimed_answers = 0
        self._listeners: dict[str, list[Callable[[], None]]] = {}
        self.express: ExpressLane
        self.sdk: SdkLane

    # The SDK's transport

    async def __aenter__(self) -> tuple[Any, SdkWriteStream]:
        """Starts the server; the SDK's read and write streams. Raises ConnectError."""
        if self._entered:
            raise RuntimeError("a wire is entered once: make another one for another connection")
        self._entered = True
        try:
            return await self._enter()
        except ExceptionGroup as group:
            # Off asyncio a task group stands around the start, and wraps what a person wants to read.
            error = alone(group)
            raise error from error.__cause__

    async def _enter(self) -> tuple[Any, SdkWriteStream]:
        async with AsyncExitStack() as stack:
            runtime: Runtime
            if on_asyncio():
                runtime = AsyncioRuntime()
            else:
                runtime = AnyioRuntime(await stack.enter_async_context(anyio.create_task_group()))
            stack.callback(runtime.stop)
            if isinstance(self._target, Command):
                self._channel = PipeChannel(self._target, runtime, self._waiting)
            else:
                self._channel = self._target
            self.express = ExpressLane(runtime, self._channel, self.limits)
            self.sdk = SdkLane(self._channel)
            stack.callback(self.sdk.inbox.close)
            await self._channel.open(self)
            stack.push_async_callback(self._close)
            self._stack = stack.pop_all()
        return self.sdk.inbox.stream, SdkWriteStream(self, self._send)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def _close(self) -> None:
        self._closed = True
        self._die("the connection was closed")
        with anyio.CancelScope(shield=True):
            await self._channel.aclose()

    async def _send(self, item: SessionMessage) -> None:
        while self._ended is None and not self.sdk.send(item.message):
            self._room = self._room or anyio.Event()
            await self._room.wait()
        if self._ended is not None:
            raise anyio.BrokenResourceError
        if self._inbound.lsp_framing:
            self._fail_lsp()
        await anyio.lowlevel.checkpoint()

    # The channel's listener

    def received(self, chunk: bytes, /) -> None:
        """Bytes of the server: each frame to the lane that waits for it."""
        self._take(self._inbound.feed(chunk))
        if self._inbound.lsp_framing:
            self._fail_lsp()

    def ended(self, reason: str, /) -> None:
        """The server says no more."""
        self._take(self._inbound.finish())
        self.lost = True
        self._die(self._with_stderr(reason))

    def writable(self) -> None:
        """The server reads again."""
        self.sdk.writable()
        self.express.writable()
        self._let_go()

    def _take(self, frames: list[_core.Frame]) -> None:
        self.express.take(frames, self._pass_on)

    def _pass_on(self, frame: _core.Frame, number: int) -> None:
        """A frame that answers no express request which waits."""
        try:
            self._route(frame, number)
        except Exception:
            # A listener's or our own mistake: it costs this frame, not those behind it.
            logger.exception("a message of %s could not be passed on", self.name)

    def _route(self, frame: _core.Frame, number: int) -> None:
        kind = frame.kind
        if kind == "request":
            self.sdk.incoming(frame)
        elif kind == "broken_request":
            self.sdk.refuse(frame, frame.fault or "the request could not be read")
        elif kind == "notification":
            if frame.method == "notifications/progress":
                token, progress, total, message = frame.progress()
                if token >= _core.EXPRESS_ID:
                    self.express.progressed(token, progress, total, message)
                    return
            self.sdk.incoming(frame)
            for heard in tuple(self._listeners.get(frame.method or "", ())):
                heard()
        elif number >= _core.EXPRESS_ID:
            self.express.late_answers += 1
        elif not self.sdk.answered(number if number >= 0 else frame.id or number, frame):
            self._answer_for_nobody(frame)

    def _answer_for_nobody(self, frame: _core.Frame) -> None:
        """An error without an id, or a message whose id is lost, answers the request that waits, if it alone does."""
        nameless = frame.id is None and frame.kind in ("error", "broken")
        express, sdk = list(self.express.pending), self.sdk.waiting
        if not nameless or len(express) + len(sdk) != 1:
            self.unclaimed_answers += 1
        elif express:
            self.express.answer(express[0], frame)
        else:
            self.sdk.fail_nameless(sdk[0], frame)

    def _fail_lsp(self) -> None:
        text = "the server uses LSP framing (Content-Length headers); MCP over stdio is one message a line"
        self.sdk.fail_all(text)
        self.express.die(RemoteCallError(text))

    def _die(self, text: str) -> None:
        self._ended = self._ended or text
        self.express.die(RemoteCallError(self._ended))
        self.sdk.die(self._ended)
        self._let_go()

    def _waiting(self) -> int:
        # Who waits to say something waits as well: a server that reads no more must not hold the SDK for ever.
        return self.express.waiting + len(self.sdk.waiting) + (self._room is not None)

    def _let_go(self) -> None:
        room, self._room = self._room, None
        if room is not None:
            room.set()

    def _with_stderr(self, reason: str) -> str:
        tail = self.stderr_tail.decode("utf-8", "replace").strip()
        return f"{reason}; its stderr ends: {tail[-STDERR_QUOTED:]}" if tail else reason

    def listen(self, method: str, heard: Callable[[], None]) -> Callable[[], None]:
        """Calls `heard` at each notification of `method`, besides the SDK; the call that ends it."""
        listeners = self._listeners.setdefault(method, [])
        listeners.append(heard)
        return lambda: listeners.remove(heard) if heard in listeners else None

    def listed(self, page: _core.Page) -> None:
        """A page of the server's tools: nothing on a byte channel depends on it."""

    # What a person may ask

    @property
    def end_reason(self) -> str | None:
        """Why the connection has ended, with the tail of the server's stderr; `None` while it lives."""
        return self._ended

    @property
    def counters(self) -> dict[str, int]:
        """What was forgiven so far, by name; `frames` counts what was read."""
        lanes = {"late_answers": 0, "unclaimed_answers": self.unclaimed_answers}
        if self._entered and hasattr(self, "sdk"):
            lanes["late_answers"] = self.express.late_answers
            lanes["dropped_notifications"] = self.sdk.dropped_notifications
            lanes["refused_messages"] = self.sdk.refused_messages
        return {**self._inbound.counters, **lanes}

    @property
    def first_fault(self) -> str | None:
        """What was wrong with the first answer to the SDK that could not be mended."""
        return self.sdk.first_fault if hasattr(self, "sdk") else None

    @property
    def noise(self) -> tuple[bytes, ...]:
        """The first lines that were no messages, clipped."""
        return tuple(self._inbound.noise)

    @property
    def stderr_tail(self) -> bytes:
        """The last 64 KiB of the server's stderr."""
        return self._channel.stderr_tail if hasattr(self, "_channel") else b""

    @property
    def exit_code(self) -> int | None:
        """The server's process exited with this; negative is a signal."""
        return self._channel.exit_code if hasattr(self, "_channel") else None

    # The express lane

    @property
    def open(self) -> bool:
        """Express requests may go: the SDK's session is open, and what its requests carry is known."""
        return self._entered and not self._closed and self.sdk.open

    async def request(self, method: str, params: bytes, *, timeout: float | None) -> _core.Frame:
        """One express request; `params` are the JSON members of its params. See `ExpressLane.send`."""
        envelope = self.sdk.envelope

        def line(number: int) -> bytes:
            return _core.request(number, method, params, envelope)

        return await self.express.send(line, label=(method, self), timeout=timeout)
