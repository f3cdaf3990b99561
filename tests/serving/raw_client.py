"""A client that speaks exact bytes to a server in this process, over the wire that every served session runs on.

Everything happens in turns of one event loop, so that a test can wait until nothing is left to happen, without a clock.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.mcpserver import MCPServer

from toolwire import _sdk
from toolwire.bridge.exporting import exported_on
from toolwire.loops import on_asyncio
from toolwire.wire.memory import MemoryChannel, memory_pair
from toolwire.wire.runtime import AnyioRuntime, AsyncioRuntime, Runtime
from toolwire.wire.server import ServerWire, current_wire

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
ERAS = (HANDSHAKE, MODERN)
ENVELOPE = (
    b'"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    b'"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},'
    b'"io.modelcontextprotocol/clientCapabilities":{}'
)
INITIALIZE = (
    b'{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"raw","version":"1"}}}'
)
INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
DISCOVER = b'{"jsonrpc":"2.0","id":"open","method":"server/discover","params":{"_meta":{%s}}}' % ENVELOPE

PATIENCE = 20.0
"""Seconds after which a test gives up: everything here is a matter of milliseconds."""

IDLE_TURNS = 25
"""Turns of the loop after which a notification has gone through the SDK's streams and tasks; it takes about ten."""


class RawClient:
    """One session: lines in, lines out."""

    def __init__(self, channel: MemoryChannel, wire: ServerWire) -> None:
        self._channel = channel
        self._partial = b""
        self.wire = wire
        self.lines: list[bytes] = []
        self.ended = False

    def received(self, chunk: bytes, /) -> None:
        *whole, self._partial = (self._partial + chunk).split(b"\n")
        self.lines += whole

    def writable(self) -> None:
        pass

    def end(self, reason: str, /) -> None:
        del reason
        self.ended = True

    def write(self, *lines: bytes) -> None:
        """Sends lines, together."""
        if lines:
            self._channel.write(b"".join(line + b"\n" for line in lines))

    async def settle(self) -> None:
        """Waits until every request is answered, and what only tells something has been heard."""
        with anyio.fail_after(PATIENCE):
            idle = 0
            while idle < IDLE_TURNS:
                await anyio.lowlevel.checkpoint()
                idle = 0 if self.wire.kept or self.wire._calls.count else idle + 1

    async def say(self, *lines: bytes) -> list[bytes]:
        """Sends lines together; what came back until nothing was left to do."""
        before = len(self.lines)
        self.write(*lines)
        await self.settle()
        return self.lines[before:]

    async def ask(self, line: bytes) -> dict[str, Any]:
        """Sends one request; its answer decoded. What else came stays in `lines`."""
        identifier = loads(line)["id"]
        for answer in await self.say(line):
            decoded: dict[str, Any] = loads(answer)
            if decoded.get("id") == identifier and "method" not in decoded:
                return decoded
        raise AssertionError(f"no answer to {line!r} in {self.lines}")

    async def open(self, era: str) -> None:
        """Opens the session, so that the express lane may run."""
        if era == HANDSHAKE:
            await self.say(INITIALIZE)
            await self.say(INITIALIZED)
        else:
            await self.say(DISCOVER)
        assert b'"error"' not in self.lines[-1]
        self.lines.clear()

    async def call(self, era: str, name: str, arguments: bytes = b"{}", identifier: int = 7) -> dict[str, Any]:
        """One `tools/call`; its result decoded."""
        answer = await self.ask(call_line(era, name, arguments, identifier))
        result: dict[str, Any] = answer["result"]
        return result


def call_line(era: str, name: str, arguments: bytes = b"{}", identifier: int | str = 7, meta: bytes = b"") -> bytes:
    """A `tools/call` as a good client of the era writes it; `meta` are more members of `_meta`."""
    members = b",".join(filter(None, (ENVELOPE if era == MODERN else b"", meta)))
    carried = b',"_meta":{%s}' % members if members else b""
    return b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%s,"arguments":%s%s}}' % (
        json.dumps(identifier).encode(),
        json.dumps(name).encode(),
        arguments,
        carried,
    )


def request_line(era: str, method: str, members: bytes = b"", identifier: int | str = 8) -> bytes:
    """Any request; `members` are those of its params beside `_meta`."""
    carried = b'"_meta":{%s}' % ENVELOPE if era == MODERN else b""
    params = b",".join(filter(None, (members, carried)))
    return b'{"jsonrpc":"2.0","id":%s,"method":"%s","params":{%s}}' % (
        json.dumps(identifier).encode(),
        method.encode(),
        params,
    )


@asynccontextmanager
async def served(server: Server[Any] | MCPServer, *, express: bool = True) -> AsyncIterator[RawClient]:
    """Serves a server to a raw client. Without `express` everything goes down the SDK lane."""
    lowlevel = _sdk.lowlevel_of(server)
    exported = exported_on(server)
    async with anyio.create_task_group() as group:
        tasks: anyio.abc.TaskGroup | None = None
        runtime: Runtime
        if on_asyncio():
            runtime = AsyncioRuntime()
        else:
            runtime, tasks = AnyioRuntime(group), group
        ours, theirs = memory_pair(runtime)
        wire = ServerWire(theirs, exported, tasks, express=express)
        exported.wires.add(wire)
        client = RawClient(ours, wire)

        async def run() -> None:
            current_wire.set(wire)
            await theirs.open(wire)
            options = lowlevel.create_initialization_options(NotificationOptions(tools_changed=True))
            await lowlevel.run(*wire.streams, options)
            await wire.aclose()

        group.start_soon(run)
        await ours.open(_Heard(client))
        try:
            yield client
        finally:
            with anyio.CancelScope(shield=True), anyio.fail_after(PATIENCE):
                await ours.aclose()
                await wire.closed.wait()
                await wire.aclose()
            exported.wires.discard(wire)
            runtime.stop()
            group.cancel_scope.cancel()


class _Heard:
    """The client's end as a listener."""

    def __init__(self, client: RawClient) -> None:
        self.received = client.received
        self.writable = client.writable
        self.ended = client.end


def loads(text: bytes) -> Any:
    """JSON with integers of any length: what Python would refuse to read is left as its digits."""
    return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 4300 else digits)


def text_of(result: dict[str, Any]) -> str:
    """The one text of a result that is nothing but it."""
    (block,) = result["content"]
    assert block.keys() == {"type", "text"}
    assert block["type"] == "text"
    text: str = block["text"]
    return text
