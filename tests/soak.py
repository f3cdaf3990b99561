"""Many calls and many connects leave memory, descriptors, threads and processes where they were.

`python -m tests.soak` makes 100,000 calls, 1,000 connects and as many sessions over HTTP; `SOAK=short` is what CI runs,
in a quarter of a minute.
Each phase warms up first, so that what is made once is not taken for a leak. It prints its figures and exits with 1
when something grew. The calls are of every kind: answered, failed, refused, out of time, cancelled; so are the ends of
the connects.
"""

import asyncio
import gc
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import anyio
from mcp.server.lowlevel import Server

import toolwire
from tests.http.server_posts import HANDSHAKE, SESSION, Ask, call, running
from toolwire.testing import RawServer, die, error, later, listing, raw, result, silence, then

MIB = 1 << 20
TEXT = b'{"content":[{"type":"text","text":"%s"}],"resultType":"complete"}'
LOG = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"said"}}\n'
NAMES = ("echo", "fails", "refuses", "silent", "late", "long", "talks", "dies")
ANSWERS = {
    "tools/list": listing(*(b'{"name":"%b","inputSchema":{"type":"object"}}' % name.encode() for name in NAMES)),
    "tools/call:echo": result(b'{"content":[],"structuredContent":{args},"resultType":"complete"}'),
    "tools/call:fails": result(b'{"content":[{"type":"text","text":"no"}],"isError":true,"resultType":"complete"}'),
    "tools/call:refuses": error(-32602, "not like this"),
    "tools/call:silent": silence(),
    "tools/call:late": later(0.01, result(TEXT % b"too late")),
    "tools/call:long": result(TEXT % (b"x" * MIB)),
    "tools/call:talks": then(raw(LOG), raw(b"a line that is no message\n"), result(TEXT % b"said")),
    "tools/call:dies": die(3, b"last words\n"),
}
ERAS = ("2025-11-25", "2026-07-28")
IN_FLIGHT = 32
END = Ask(headers=(("host", "127.0.0.1:1"), ("mcp-session-id", SESSION)), method="DELETE")


@dataclass(frozen=True)
class Size:
    """What this process holds. `resident` is in bytes; `objects` are what Python's collector follows."""

    resident: int
    descriptors: int
    threads: int
    processes: int
    tasks: int
    objects: int

    @classmethod
    def now(cls) -> "Size":
        """Take the measure, after everything that can go has gone."""
        for _ in range(3):
            gc.collect()
        return cls(
            resident=int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
            descriptors=len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - iterdir would hold one more open
            threads=threading.active_count() + len(list(Path("/proc/self/task").iterdir())),
            processes=sum(_parent(folder) == os.getpid() for folder in Path("/proc").glob("[0-9]*")),
            tasks=len(asyncio.all_tasks()),
            objects=len(gc.get_objects()),
        )


ALLOWED = Size(resident=2 * MIB, descriptors=0, threads=0, processes=0, tasks=0, objects=300)
"""How much a phase may grow. Memory: what an allocator keeps scattered; a leak of 21 bytes a call is more."""


def _parent(folder: Path) -> int:
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


async def one_call(tools: toolwire.Toolset, hasty: toolwire.Toolset, number: int) -> None:
    """Make one call, of the kind that is its number's turn."""
    match number % 100:
        case 0:
            await ends(hasty["silent"].invoke(b"{}"), toolwire.RemoteCallError)
        case 1:
            with anyio.move_on_after(0.001):
                await tools["late"].invoke(b"{}")
        case 2:
            await ends(tools["fails"].invoke(b"{}"), toolwire.ToolFailure)
        case 3:
            await ends(tools["refuses"].invoke(b"{}"), toolwire.RemoteCallError)
        case 4:
            await ends(tools["echo"].invoke(b'{"a":1,"a":2}'), toolwire.ToolFailure)
        case 5:
            assert await tools["talks"].invoke(b"{}") == "said"
        case 6 if number % 1000 == 6:
            assert len(await tools["long"].invoke(b"{}")) == MIB
        case _:
            arguments = b'{"number":%d}' % number
            assert (await tools["echo"].call(arguments)).structured == arguments


async def ends(call: Awaitable[object], kind: type[Exception]) -> None:
    """Wait for a call that has to fail."""
    try:
        await call
    except kind:
        return
    raise AssertionError("the call should have failed")


async def calls(servers: list[RawServer], numbers: "count[int]", share: int) -> None:
    """Make `share` calls over connections that are there already: 32 at a time, both eras."""
    for server in servers:
        async with toolwire.connect(server.argv, idle_timeout=30) as connection:
            tools = await toolwire.tools(connection)
            hasty = await toolwire.tools(connection, policy=toolwire.timeout(0.001))

            async def caller(tools: toolwire.Toolset, hasty: toolwire.Toolset) -> None:
                for _ in range(share // len(servers) // IN_FLIGHT):
                    await one_call(tools, hasty, next(numbers))

            async with anyio.create_task_group() as group:
                for _ in range(IN_FLIGHT):
                    group.start_soon(caller, tools, hasty)


async def one_connect(server: RawServer, number: int) -> None:
    """Open a connection and end it, in the way that is its number's turn."""
    match number % 8:
        case 0:
            await ends(open_and_close(["/nowhere/at/all"]), toolwire.ConnectError)
        case 1:
            await ends(open_and_close([sys.executable, "-I", "-S", "-c", "print('no server')"]), toolwire.ConnectError)
        case 2:
            with anyio.move_on_after(0.005):
                await open_and_close(server.argv)
        case 3:
            async with toolwire.connect(server.argv) as connection:
                tools = await toolwire.tools(connection)
                await ends(tools["dies"].invoke(b"{}"), toolwire.RemoteCallError)
        case 4:
            async with toolwire.connect(server.argv) as connection, anyio.create_task_group() as group:
                tools = await toolwire.tools(connection)
                # Closed while a call is in flight.
                group.start_soon(ends, tools["silent"].invoke(b"{}"), toolwire.RemoteCallError)
                await server.arrived("tools/call")
                await connection.aclose()
        case 5:
            async with toolwire.connect(server.argv) as connection:
                await connection.client.list_tools()
        case _:
            async with toolwire.connect(server.argv) as connection:
                tools = await toolwire.tools(connection)
                assert await tools["echo"].invoke(b"{}") == "{}"


async def open_and_close(argv: list[str]) -> None:
    """Open a connection and close it."""
    async with toolwire.connect(argv):
        pass


async def connects(numbers: "count[int]", share: int) -> None:
    """Make `share` connections, one after the other, in both eras."""
    for _ in range(share):
        number = next(numbers)
        with RawServer(ANSWERS, era=ERAS[number // 8 % 2]) as server:
            await one_connect(server, number)
            assert server.alive() == [], "a server outlived its connection"


async def sessions(share: int) -> None:
    """Open `share` sessions of an app over HTTP, and call in each: half are ended by their client, half with it."""

    @toolwire.tool
    async def echo(text: str) -> str:
        return text

    server: Server[Any] = Server("soak")
    toolwire.add_tools(server, echo)
    async with running(lambda: server, json_response=True) as site:
        for number in range(share):
            await site.open()
            reply = await site.ask(call(HANDSHAKE, "echo", b'{"text":"a"}'))
            assert reply.answer["result"]["content"][0]["text"] == "a"
            if number % 2:
                await site.ask(END)
        assert site.lane.express_calls == share


async def phase(what: str, work: Callable[[int], Awaitable[None]], warm_up: int, share: int) -> bool:
    """Do a share of the work twice, the first one to warm up; whether the second left nothing behind."""
    await work(warm_up)
    before = Size.now()
    began = time.perf_counter()
    await work(share)
    taken = time.perf_counter() - began
    after = Size.now()
    print(f"{what}: {share:,} in {taken:.1f} s")
    clean = True
    for name, allowed in vars(ALLOWED).items():
        was, is_now = getattr(before, name), getattr(after, name)
        grown = is_now - was > allowed
        clean = clean and not grown
        print(f"  {name:12} {was:>12,} -> {is_now:>12,}{'  GREW' if grown else ''}")
    return clean


async def main(*, short: bool) -> int:
    """Soak every phase."""
    numbers = count()
    servers = [RawServer(ANSWERS, era=era) for era in ERAS]
    try:
        called, connected = (10_000, 64) if short else (100_000, 1_000)
        clean = await phase("calls", lambda share: calls(servers, numbers, share), called // 5, called)
        # As many to warm up: half of them stand open at once, and an allocator keeps what a peak took.
        clean &= await phase("sessions over HTTP", sessions, connected, connected)
        clean &= await phase("connects", lambda share: connects(numbers, share), max(32, connected // 10), connected)
    finally:
        for server in servers:
            server.close()
    return 0 if clean else 1


if __name__ == "__main__":
    if not Path("/proc/self/statm").exists():
        print("soak: not run, there is no /proc here")
        sys.exit(0)
    sys.exit(asyncio.run(main(short=os.environ.get("SOAK") == "short")))
