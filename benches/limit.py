"""How near toolwire's client comes to two limits: a compiled client that only counts lines, and a bare coroutine.

The bare client is what Python's event loop allows: a future a call, one format string, one search for the id, and none
of the checks, deadlines, bounds and lanes.
"""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Self

import toolwire
from benches.calls import ARGUMENTS, seconds
from benches.peer import echo
from benches.sides import ours
from benches.table import Row, figure


class Bare:
    """The shortest client that still gives each caller its own answer."""

    def __init__(self) -> None:
        self._server = subprocess.Popen([echo()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._stdin, self._stdout = self._server.stdin.fileno(), self._server.stdout.fileno()
        os.set_blocking(self._stdout, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._stdout, self._read)
        self._pending: dict[int, asyncio.Future[bytes]] = {}
        self._unwritten: list[bytes] = []
        self._rest = b""
        self._next = 0

    async def call(self) -> object:
        self._next += 1
        waiter = self._loop.create_future()
        self._pending[self._next] = waiter
        if not self._unwritten:
            self._loop.call_soon(self._flush)
        self._unwritten.append(
            b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":%b}}\n'
            % (self._next, ARGUMENTS)
        )
        return await waiter

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.remove_reader(self._stdout)
        # It closes both pipes, and the server goes at the end of its input.
        self._server.__exit__(None, None, None)

    def _flush(self) -> None:
        os.write(self._stdin, b"".join(self._unwritten))
        self._unwritten.clear()

    def _read(self) -> None:
        *lines, self._rest = (self._rest + os.read(self._stdout, 1 << 18)).split(b"\n")
        for line in lines:
            start = line.index(b'"id":') + 5
            self._pending.pop(int(line[start : line.index(b",", start)])).set_result(line)


def _compiled(in_flight: int, calls: int) -> float:
    """Time one call of the compiled client."""
    run = subprocess.run([echo(), "--client", str(in_flight), str(calls)], capture_output=True, check=True)
    return int(run.stdout) / 1e9 / calls


async def _measure(in_flight: int, *, quick: bool) -> list[Row]:
    async with AsyncExitStack() as stack:
        connection = await stack.enter_async_context(ours([echo()], "2025-11-25"))
        tool = (await toolwire.tools(connection))["echo"]
        bare = stack.enter_context(Bare())

        async def by_us() -> object:
            return await tool.call(ARGUMENTS)

        best = [float("inf")] * 3
        count = (20_000 if in_flight > 1 else 3_000) // (10 if quick else 1)
        for _ in range(2 if quick else 5):
            best[0] = min(best[0], await seconds(by_us, count, in_flight))
            best[1] = min(best[1], await seconds(bare.call, count, in_flight))
            best[2] = min(best[2], await asyncio.to_thread(_compiled, in_flight, count))
    how = f"{in_flight} in flight" if in_flight > 1 else "one at a time"
    limits = (("an event loop's bare coroutine", best[1]), ("compiled client, the pipe's own", best[2]))
    return [
        Row(
            what=f"limit, {how}: {what}",
            toolwire=f"{figure(1 / best[0])} /s",
            peer=f"{figure(1 / limit)} /s",
            ratio=f"{limit / best[0]:.2f} x",
        )
        for what, limit in limits
    ]


def rows(*, quick: bool) -> Iterator[Row]:
    """Tell toolwire's share of both limits."""
    for in_flight in (32, 1):
        yield from asyncio.run(_measure(in_flight, quick=quick))
