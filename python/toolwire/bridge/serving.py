"""Serving: an SDK server over this process's standard input and output, or inside it, on a wire of ours."""

import _thread
import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from typing import Any

import anyio
import anyio.abc
import mcp
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.mcpserver import MCPServer

from toolwire import _sdk
from toolwire.bridge.exporting import exported_on
from toolwire.loops import loop_here, on_asyncio, soon_in
from toolwire.wire.channel import HeldChannel
from toolwire.wire.claim import claimed_stdio
from toolwire.wire.client import ClientWire
from toolwire.wire.descriptors import DescriptorChannel
from toolwire.wire.limits import Limits
from toolwire.wire.memory import memory_pair
from toolwire.wire.runtime import AnyioRuntime, AsyncioRuntime, Runtime
from toolwire.wire.server import ServerWire, current_wire

__all__ = ["in_process", "run_descriptors", "run_stdio", "stdio"]

AnyServer = Server[Any] | MCPServer

_EXIT_AFTER = 2.5
"""Seconds after SIGTERM in which handlers may end; a thread that nobody can stop does not keep the process longer."""


@asynccontextmanager
async def _runtime() -> AsyncIterator[tuple[Runtime, anyio.abc.TaskGroup | None]]:
    if on_asyncio():
        yield AsyncioRuntime(), None
        return
    async with anyio.create_task_group() as tasks:
        runtime = AnyioRuntime(tasks)
        try:
            yield runtime, tasks
        finally:
            runtime.stop()
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def _wire(
    server: AnyServer, channel: HeldChannel, tasks: anyio.abc.TaskGroup | None
) -> AsyncIterator[ServerWire]:
    exported = exported_on(server)
    wire = ServerWire(channel, exported, tasks)
    exported.wires.add(wire)
    token = current_wire.set(wire)
    try:
        await channel.open(wire)
        yield wire
    finally:
        with suppress(ValueError):
            # Left from another task than it was entered in: that task's context is gone with it.
            current_wire.reset(token)
        exported.wires.discard(wire)
        await wire.aclose()


def _options(server: Server[Any]) -> Any:
    return server.create_initialization_options(NotificationOptions(tools_changed=True))


@asynccontextmanager
async def stdio(server: AnyServer) -> AsyncIterator[tuple[Any, Any]]:
    """Open the streams for `await server.run(read, write, options)`, on a wire over standard input and output.

    While they are open these belong to the protocol alone: what a handler prints goes to stderr. Raises RuntimeError
    when they serve another session already.
    """
    with claimed_stdio() as (source, sink):
        async with _on_descriptors(server, source, sink) as streams:
            yield streams


@asynccontextmanager
async def _on_descriptors(server: AnyServer, source: int, sink: int) -> AsyncIterator[tuple[Any, Any]]:
    async with _runtime() as (runtime, tasks), _wire(server, DescriptorChannel(runtime, source, sink), tasks) as wire:
        yield wire.streams


async def run_stdio(server: AnyServer) -> None:
    """Serve an SDK server, low-level or MCPServer, over standard input and output until the client is gone.

    SIGTERM cancels the handlers in flight and ends the process within three seconds. What the server's lifespan raises
    comes out of here as it is.
    """
    with claimed_stdio() as (source, sink):
        await run_descriptors(server, source, sink)


async def run_descriptors(server: AnyServer, source: int, sink: int) -> None:
    """Do what `run_stdio` does, over descriptors that are claimed already."""
    lowlevel = _sdk.lowlevel_of(server)
    failed: list[Exception] = []
    with anyio.CancelScope() as scope, _cancelled_by_sigterm(scope):
        try:
            async with _on_descriptors(server, source, sink) as (read, write):
                await lowlevel.run(read, write, _options(lowlevel))
        except Exception as error:  # noqa: BLE001 - raised below, out of the groups that our own tasks put around it
            failed.append(error)
    if failed:
        raise _alone(failed[0])


def _alone(error: Exception) -> Exception:
    """Take an error out of the groups that our own tasks put around it."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        (error,) = error.exceptions
    return error


@contextmanager
def _cancelled_by_sigterm(scope: anyio.CancelScope) -> Iterator[None]:
    """Cancel a scope at SIGTERM, and end the process some time later, whatever still runs in it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = loop_here()

    def terminate(*_: object) -> None:
        # The interpreter calls this where it stands, in a handler that never lets the loop turn as well: the loop's own
        # way to hear of a signal would wait for that handler. A Timer takes locks, which whoever stands there may hold.
        _thread.start_new_thread(_exit_late, ())
        soon_in(loop, scope.cancel)

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def _exit_late() -> None:
    time.sleep(_EXIT_AFTER)
    os._exit(128 + signal.SIGTERM)


@asynccontextmanager
async def in_process(
    server: AnyServer, limits: Limits, options: dict[str, Any]
) -> AsyncIterator[tuple[mcp.Client, ClientWire]]:
    """A client and a server in one process, over a byte channel without a pipe."""
    lowlevel = _sdk.lowlevel_of(server)
    async with AsyncExitStack() as stack:
        runtime, tasks = await stack.enter_async_context(_runtime())
        ours, theirs = memory_pair(runtime)
        serving = await stack.enter_async_context(anyio.create_task_group())

        async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
            async with _wire(server, theirs, tasks) as wire:
                task_status.started()
                await lowlevel.run(*wire.streams, _options(lowlevel))

        await serving.start(serve)
        wire = ClientWire(ours, limits=limits)
        wire.name = lowlevel.name
        async with mcp.Client(wire, **options) as client:
            yield client, wire
        # The client has hung up; a server that does not end by that is ended.
        serving.cancel_scope.deadline = anyio.current_time() + _EXIT_AFTER
