"""What the framing and envelope tests share: one raw server that is asked on both lanes, and what a good answer is.

The four requests: the SDK's own handshake (`initialize` or `server/discover`) and `prompts/get`, and toolwire's
`tools/list` and `tools/call` on the express lane.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import mcp_types as types

import toolwire
from toolwire.testing import Answer, RawServer
from toolwire.wire.client import ClientWire

ERAS = ("2025-11-25", "2026-07-28")
TOOL = b'{"name":"t","inputSchema":{"type":"object"}}'
SERVER = b'{"name":"raw","version":"1"}'
OPENINGS = {
    "2025-11-25": (
        "initialize",
        b'{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{}},"serverInfo":%s}' % SERVER,
    ),
    "2026-07-28": (
        "server/discover",
        b'{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"prompts":{}},"resultType":"complete",'
        b'"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":%s}}' % SERVER,
    ),
}
BODIES = {
    "tools/list": b'{"tools":[%s],"resultType":"complete","ttlMs":0,"cacheScope":"private"}' % TOOL,
    "tools/call": b'{"content":[{"type":"text","text":"ok"}],"resultType":"complete"}',
    "prompts/get": b'{"messages":[{"role":"user","content":{"type":"text","text":"ok"}}],"resultType":"complete"}',
}

Spoil = Callable[[bytes], bytes]
"""Makes of one good line, newline included, what a faulty server writes in its place."""


def good(body: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":{id},"result":' + body + b"}\n"


OK: dict[str, Any] = {method: good(body) for method, body in BODIES.items()}
"""Good answers to everything but the handshake."""


def opening(era: str, spoil: Spoil = bytes) -> dict[str, Answer]:
    method, body = OPENINGS[era]
    return {method: spoil(good(body))}


@dataclass(frozen=True)
class Lanes:
    """A live connection to a raw server, and a request for each lane."""

    connection: toolwire.Connection
    server: RawServer

    @property
    def wire(self) -> ClientWire:
        assert isinstance(self.connection.wire, ClientWire)
        return self.connection.wire

    @property
    def counters(self) -> dict[str, int]:
        """The counters that are not zero, but for the count of frames."""
        return {name: count for name, count in self.wire.counters.items() if count and name != "frames"}

    async def listed(self) -> list[str]:
        return [tool.name for tool in await toolwire.tools(self.connection)]

    async def called(self, arguments: bytes = b"{}") -> str:
        frame = await self.wire.express.send(
            lambda number: (
                b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":%s}}\n'
                % (number, arguments)
            ),
            label=("t", self.wire),
            timeout=None,
        )
        result = frame.call_result()
        assert result is not None, frame.fault
        return result.render("default")

    async def prompted(self) -> str:
        result = await self.connection.session.get_prompt("p")
        assert isinstance(result, types.GetPromptResult)
        content = result.messages[0].content
        assert isinstance(content, types.TextContent)
        return content.text


def _descriptors() -> dict[str, str]:
    held = {}
    for link in Path("/proc/self/fd").iterdir():
        # The listing's own descriptor is in the list and gone.
        with suppress(FileNotFoundError):
            held[link.name] = str(link.readlink())
    return held


def _tasks() -> int:
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_run():
        living: int = trio.lowlevel.current_statistics().tasks_living
        return living
    return len(asyncio.all_tasks())


async def until(condition: Callable[[], object]) -> None:
    """Wait until it holds. The caller sets the deadline."""
    while not condition():  # noqa: ASYNC110 - a process or a callback of the loop makes it hold, and neither has an event
        await anyio.sleep(0.002)


@asynccontextmanager
async def nothing_left(server: RawServer) -> AsyncIterator[None]:
    """No process of the server, no descriptor and no task is left of what happens inside."""
    descriptors, tasks = _descriptors(), _tasks()
    yield
    with anyio.fail_after(5):
        # A task that has told its end still has to leave the loop.
        while _tasks() > tasks:
            await anyio.lowlevel.checkpoint()
    assert _descriptors().items() - descriptors.items() == set()
    assert server.alive() == []


@asynccontextmanager
async def lanes(
    answers: Mapping[str, Any],
    *,
    era: str = ERAS[0],
    within: float = 20,
    peer: Mapping[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Lanes]:
    """Connect without any deadline of its own, so that a hang fails the test; the server has ended afterwards."""
    unbounded = {"connect_timeout": None, "list_timeout": None, "call_timeout": None}
    with RawServer({**opening(era), **answers}, era=era, **(peer or {})) as server, anyio.fail_after(within):
        async with nothing_left(server), toolwire.connect(server.argv, **{**unbounded, **options}) as connection:
            yield Lanes(connection, server)
