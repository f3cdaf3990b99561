"""What the tests of agents over MCP share: a raw server's tools, runs on the scripted model, what is read of them."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel

import toolwire
from toolwire import Agent, RunResult, Toolset
from toolwire.testing import Answer, Call, RawServer, Say, Script, ToolCalls, listing, result

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
ERAS = {HANDSHAKE: "legacy", MODERN: "auto"}
"""Protocol eras, and the mode of the SDK's client that opens each."""
SPREAD = [("asyncio", HANDSHAKE), ("trio", MODERN)]
"""Loops and eras, each once: for `parametrize(("anyio_backend", "era"), SPREAD)` where every test starts a process."""
PATIENCE = 30.0
"""Seconds after which a test gives up; nothing here waits for a clock."""

FS = (
    b'{"type":"object","properties":{"q":{"type":"string","enum":["a","b"]},'
    b'"pick":{"oneOf":[{"type":"string"},{"type":"number"}]}},"required":["q"]}'
)
READ_ONLY = b',"annotations":{"readOnlyHint":true}'


def entry(name: str, *, schema: bytes = b'{"type":"object"}', read_only: bool = True, description: str = "") -> bytes:
    """One entry of a listing."""
    text = b'{"name":"%s","description":"%s","inputSchema":' % (name.encode(), description.encode())
    return text + schema + (READ_ONLY if read_only else b"") + b"}"


def text(said: str, *, is_error: bool = False) -> Answer:
    """A result of one text block."""
    flag = b',"isError":true' if is_error else b""
    return result(b'{"content":[{"type":"text","text":"%s"}]%s,"resultType":"complete"}' % (said.encode(), flag))


def serving(
    entries: Sequence[bytes], calls: Mapping[str, Answer | Sequence[Answer]], era: str = HANDSHAKE
) -> RawServer:
    """A raw server with these tools, whose calls are answered by name."""
    answers = {f"tools/call:{name}": answer for name, answer in calls.items()}
    return RawServer({"tools/list": listing(*entries), **answers}, era=era)


@asynccontextmanager
async def imported(server: RawServer, era: str = HANDSHAKE, **options: Any) -> AsyncIterator[Toolset]:
    """The tools of a raw server, through `connect` and `tools`."""
    with server, anyio.fail_after(PATIENCE):
        async with toolwire.connect(server.argv, mode=ERAS[era]) as connection:
            yield await toolwire.tools(connection, **options)


async def run(tools: Iterable[Any], *calls: Call, **options: Any) -> RunResult:
    """A run of one step of calls and a closing word."""
    return await Agent(Script(ToolCalls(*calls), Say("done")), tools=tools, **options).generate("go")


def results(outcome: RunResult) -> list[tuple[str, bool]]:
    """What the model read of each call, and whether it was an error."""
    return [(part.content, part.is_error) for message in outcome.messages for part in message.results]


async def ticks(count: int = 20) -> None:
    """Let other tasks go on."""
    for _ in range(count):
        await anyio.lowlevel.checkpoint()
