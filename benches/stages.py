"""Where one call's microseconds go: each stage of the way alone, in a loop, and what is left for the Python between.

Processor time, not time that passed. The whole is measured over a channel in this process, which answers without a
pipe; the pipe's own system calls are a stage of their own.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterator

import toolwire
from benches.calls import ARGUMENTS, seconds
from benches.table import Row
from toolwire import _core
from toolwire.wire.channel import Listener

IN_FLIGHT = 32
ENVELOPE = (
    b'"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":'
    b'{"name":"mcp","version":"0.1.0"},"io.modelcontextprotocol/clientCapabilities":{}'
)
RESULT = b'"result":{"content":[{"type":"text","text":"hello"}],"resultType":"complete"}}\n'
TOOLS = b'"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}],"resultType":"complete"}}\n'
OPENED = (
    b'"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}\n'
)


class Here:
    """A channel whose peer is this object: every request of a turn is answered in one chunk, in the next turn."""

    full = False
    exit_code = None
    stderr_tail = b""

    async def open(self, listener: Listener, /) -> None:
        self._loop = asyncio.get_running_loop()
        self._received: Callable[[bytes], object] = listener.received
        self._chunk: list[bytes] = []

    def write(self, line: bytes, /, *, now: bool = False) -> None:
        del now
        # Both lanes write `{"jsonrpc":"2.0","id":1000000000,"method":…`.
        start = line.find(b'"id":', 0, 30) + 5
        if start < 5:
            return
        answer = RESULT if b'"tools/call"' in line else TOOLS if b'"tools/list"' in line else OPENED
        if not self._chunk:
            self._loop.call_soon(self._answer)
        self._chunk.append(b'{"jsonrpc":"2.0","id":%b,%b' % (line[start : line.index(b",", start)], answer))

    def _answer(self) -> None:
        chunk = b"".join(self._chunk)
        self._chunk.clear()
        self._received(chunk)

    async def aclose(self) -> None:
        pass


async def _whole(*, quick: bool) -> float:
    async with toolwire.connect(toolwire.ClientWire(Here()), mode="legacy") as connection:
        tool = (await toolwire.tools(connection))["echo"]

        async def call() -> object:
            return (await tool.call(ARGUMENTS)).text

        return min([await seconds(call, 3_200, IN_FLIGHT, time.process_time) for _ in range(3 if quick else 30)])


async def _switches(*, quick: bool) -> float:
    """Time a future made, set and awaited by a task: what asyncio asks for each call, whoever makes it."""
    loop = asyncio.get_running_loop()
    waiting: list[asyncio.Future[None]] = []

    def wake() -> None:
        for waiter in waiting:
            waiter.set_result(None)
        waiting.clear()

    async def call() -> object:
        waiter = loop.create_future()
        if not waiting:
            loop.call_soon(wake)
        waiting.append(waiter)
        return await waiter

    return min([await seconds(call, 3_200, IN_FLIGHT, time.process_time) for _ in range(3 if quick else 30)])


def _peer(*, quick: bool) -> float:
    """Time `Here` itself, a call."""
    here = Here()
    here._received = len  # noqa: SLF001 - its own part is measured alone
    here._chunk = [b""]  # noqa: SLF001 - the same
    line = _core.tools_call(1_000_000_000, b'"echo"', ARGUMENTS, b"")

    def batch() -> None:
        for _ in range(IN_FLIGHT):
            here.write(line)
        here._answer()  # noqa: SLF001 - the same
        here._chunk.append(b"")  # noqa: SLF001 - so that no loop is asked for a turn

    return _loop(batch, quick=quick) / IN_FLIGHT


def _pipe(*, quick: bool) -> float:
    """One batch written to a pipe and read from it, with nobody at its other end to be woken."""
    source, sink = os.pipe()
    batch = _core.tools_call(1_000_000_000, b'"echo"', ARGUMENTS, b"") * IN_FLIGHT

    def once() -> None:
        os.write(sink, batch)
        os.read(source, 1 << 18)

    taken = _loop(once, quick=quick) / IN_FLIGHT
    os.close(source)
    os.close(sink)
    return taken


def _loop(call: Callable[[], object], *, quick: bool) -> float:
    """Time one call of a function: the best of several loops, the loop itself taken off."""
    turns = range(2_000)
    best = empty = float("inf")
    for _ in range(3 if quick else 20):
        began = time.process_time()
        for _ in turns:
            call()
        middle = time.process_time()
        for _ in turns:
            pass
        ended = time.process_time()
        best, empty = min(best, middle - began), min(empty, ended - middle)
    return (best - empty) / len(turns)


def rows(*, quick: bool) -> Iterator[Row]:
    """Tell each stage in microseconds a call, with 32 in flight."""
    chunk = b"".join(b'{"jsonrpc":"2.0","id":%d,%b' % (1_000_000_000 + index, RESULT) for index in range(IN_FLIGHT))
    frame = _core.Inbound().feed(chunk)[0]
    result = frame.call_result()
    assert result is not None
    inbound = _core.Inbound()
    whole = asyncio.run(_whole(quick=quick)) - _peer(quick=quick)
    stages = {
        "asyncio: a future, a wake-up, a switch": asyncio.run(_switches(quick=quick)),
        "core: arguments checked, line made": _loop(
            lambda: _core.tools_call(1_000_000_000, b'"echo"', ARGUMENTS, b""), quick=quick
        ),
        "core: chunk to frames": _loop(lambda: inbound.feed(chunk), quick=quick) / IN_FLIGHT,
        "core: frame to result": _loop(frame.call_result, quick=quick),
        "core: result to text": _loop(lambda: result.render("default"), quick=quick),
    }
    for what, taken in stages.items():
        yield _row(what, taken, whole)
    yield _row("Python between them", whole - sum(stages.values()), whole)
    yield _row("one call without the pipe", whole, whole)
    yield _row("beside it, a pipe's write and read", _pipe(quick=quick), whole)
    more = _loop(lambda: _core.tools_call(1_000_000_000, b'"echo"', ARGUMENTS, ENVELOPE), quick=quick)
    yield _row("beside it, the line with an envelope", more, whole)


def _row(what: str, taken: float, whole: float) -> Row:
    return Row(what=f"stage: {what}", toolwire=f"{taken * 1e6:.2f} us", ratio=f"{taken / whole:.0%}")
