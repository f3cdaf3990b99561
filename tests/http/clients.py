"""A connection to a peer over each engine, for the tests of the client over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2

import toolwire
from toolwire.testing import HttpPeer, http, listing, result

PATIENCE = 20
TOOL = b'{"name":"echo","inputSchema":{"type":"object"}}'
DONE = result(b'{"content":[{"type":"text","text":"done"}],"resultType":"complete"}')
ENGINES = ["fast", "the caller's client"]
ERAS = ["2025-11-25", "2026-07-28"]


def peer(call: Any = DONE, *, era: str = "2025-11-25", sessions: Any = (), **more: Any) -> HttpPeer:
    """A peer with one tool, whose calls are answered so."""
    answers = {"tools/list": listing(TOOL), "tools/call": call, **more.pop("answers", {})}
    return HttpPeer(answers, era=era, sessions=sessions, **more)


@asynccontextmanager
async def connected(url: str, engine: str = "fast", **options: Any) -> AsyncIterator[toolwire.Connection]:
    """On asyncio `fast` is aiohttp; on trio both are the SDK's client."""
    with anyio.fail_after(PATIENCE):
        if engine == "fast":
            async with toolwire.connect(url, **options) as connection:
                yield connection
        else:
            client = httpx2.AsyncClient(timeout=httpx2.Timeout(PATIENCE))
            async with client, toolwire.connect(url, http_client=client, **options) as connection:
                yield connection


async def echo_of(connection: toolwire.Connection) -> toolwire.Tool:
    return (await toolwire.tools(connection))["echo"]


async def fault(tool: toolwire.Tool, arguments: str = "{}") -> toolwire.RemoteCallError:
    """The error of one call."""
    try:
        output = await tool.call(arguments)
    except toolwire.RemoteCallError as error:
        return error
    raise AssertionError(f"the call gave {output.text!r}")


__all__ = ["DONE", "ENGINES", "ERAS", "PATIENCE", "TOOL", "connected", "echo_of", "fault", "http", "peer", "result"]
