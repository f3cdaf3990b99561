"""A session leaves nothing behind: no descriptor, task or thread, however often and however it ends."""

import asyncio
import gc
import os
import sys
import threading
from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server

import toolwire
from tests.serve_process.peer import Peer, argv
from toolwire.bridge.exporting import exported_on

SESSIONS = 1_000
PATIENCE = 300.0


@toolwire.tool
async def echo(text: str) -> str:
    """Give the text back."""
    return text


@toolwire.tool
async def forever() -> str:
    """Wait for nothing."""
    await anyio.sleep_forever()
    return ""


def made() -> Server[Any]:
    server: Server[Any] = Server("leaks")
    toolwire.add_tools(server, echo, forever)
    return server


@pytest.fixture
def anyio_backend() -> str:
    """Tasks are counted, which only asyncio lets one do."""
    return "asyncio"


def held() -> tuple[int, int, int]:
    gc.collect()
    descriptors = len(os.listdir("/proc/self/fd")) if sys.platform.startswith("linux") else 0  # noqa: PTH208 - a count
    return descriptors, threading.active_count(), len(asyncio.all_tasks())


async def session(server: Server[Any], mode: str) -> None:
    async with toolwire.connect(server, mode=mode) as connection:
        tools = await toolwire.tools(connection)
        assert await tools["echo"].invoke({"text": "here"}) == "here"
        async with anyio.create_task_group() as group:
            group.start_soon(tools["forever"].call, {})
            await tools["echo"].invoke({"text": "there"})
            group.cancel_scope.cancel()


async def test_a_thousand_sessions_in_one_process_leave_nothing() -> None:
    server = made()
    with anyio.fail_after(PATIENCE):
        for mode in ("legacy", "auto"):
            await session(server, mode)
        before = held()
        for number in range(SESSIONS):
            await session(server, ("legacy", "auto")[number % 2])
        assert all(now <= then for now, then in zip(held(), before, strict=True)), (before, held())
        assert not list(exported_on(server).wires), "the server knows no wire of a session that is over"


def test_many_calls_of_one_client_leave_nothing() -> None:
    with Peer(argv()) as peer:
        peer.open()
        peer.call("noisy", way="print")
        before = peer.facts()
        for number in range(200):
            peer.send(peer.tool("wait", number, gate="g"))
            peer.told("start g", number + 1)
            peer.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}\n' % number)
            peer.told("finally g", number + 1)
            assert peer.call("noisy", way="print") == "quiet"
        after = peer.facts()
    assert (after["threads"], after["descriptors"]) == (before["threads"], before["descriptors"])
