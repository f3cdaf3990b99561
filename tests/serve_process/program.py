"""The server program that these tests start: `python program.py SERVER BACKEND [WAY]`.

SERVER is `lowlevel` or `mcpserver`, BACKEND `asyncio` or `trio`, WAY how it is served: `run` (run_stdio), `streams`
(`stdio` and `server.run`), `twice` (two sessions, one after the other), `failing` (its lifespan
fails), `plain` (run_stdio, and not a byte more on stdout), `sdk` (the SDK's own transport).
What it says of itself goes to stderr, a line each, behind `>>`.
"""

import gc
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.abc
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server

import toolwire

KIND, BACKEND, WAY = (*sys.argv[1:], "run")[:3]

gates: dict[str, anyio.Event] = {}
started = 0


def tell(text: str) -> None:
    os.write(2, f">> {text}\n".encode())


def resident() -> int:
    """Read the bytes of this process that are in memory."""
    with open("/proc/self/statm") as file:  # noqa: PTH123 - a word of one file
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@toolwire.tool
async def echo(text: str) -> str:
    """Give the text back."""
    return text


@toolwire.tool
async def size(text: str) -> int:
    """Count the characters."""
    return len(text)


@toolwire.tool
async def repeat(text: str, times: int) -> str:
    """Give a long text."""
    return text * times


@toolwire.tool
def noisy(way: str) -> str:
    """Print in one of the ways that handlers have."""
    match way:
        case "print":
            print("noise: print")  # noqa: T201 - what this program is for
            print('{"jsonrpc":"2.0","id":1,"result":{}}')  # noqa: T201 - what this program is for
        case "flushed":
            print("noise: flushed", flush=True)  # noqa: T201 - what this program is for
        case "write":
            os.write(1, b"noise: write\n")
        case "child":
            subprocess.run(["sh", "-c", "echo 'noise: child'; cat"], check=True)  # noqa: S607 - any shell does
        case "logging":
            logging.basicConfig(stream=sys.stdout, force=True)
            logging.getLogger("noisy").error("noise: logging")
        case "unbuffered":
            sys.__stdout__.buffer.write(b"noise: unbuffered\n")  # type: ignore[union-attr] # there is one here
        case "input":
            return repr(sys.stdin.read())
    return "quiet"


@toolwire.tool
async def wait(gate: str) -> str:
    """Answer when the gate is opened. It says when it starts and when it ends, however that is."""
    global started  # noqa: PLW0603 - the program is its own state
    started += 1
    tell(f"start {gate}")
    try:
        await gates.setdefault(gate, anyio.Event()).wait()
    except anyio.get_cancelled_exc_class():
        tell(f"cancelled {gate}")
        raise
    finally:
        tell(f"finally {gate}")
    return gate


@toolwire.tool
async def open_gate(gate: str) -> str:
    """Open a gate."""
    gates.setdefault(gate, anyio.Event()).set()
    return "open"


@toolwire.tool
async def stubborn(times: int) -> str:
    """Swallow as many cancellations, then answer."""
    for _ in range(times):
        try:
            tell("holding on")
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            tell("swallowed")
    return "still here"


@toolwire.tool
def block() -> str:
    """Block a thread for longer than any test waits."""
    tell("blocking")
    time.sleep(600)
    return "never"


@toolwire.tool
async def block_the_loop() -> str:
    """Block the event loop itself, as a call that should have been awaited does."""
    tell("blocking the loop")
    time.sleep(600)  # noqa: ASYNC251 - the mistake that is tried here
    return "never"


@toolwire.tool
async def slow_goodbye() -> str:
    """Clean up with an await when cancelled, and tell whether the lifespan's state was still there."""
    request = toolwire.current_request()
    assert request is not None
    tell("start goodbye")
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.01)
        tell(f"goodbye with {request.lifespan}")
    return "never"


@toolwire.tool
async def facts() -> dict[str, int]:
    """Tell what this process holds."""
    gc.collect()
    return {
        "resident": resident(),
        "started": started,
        "threads": threading.active_count(),
        "descriptors": len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - names are all that is wanted
    }


@asynccontextmanager
async def lifespan(_: object) -> AsyncIterator[list[str]]:
    if WAY == "failing":
        raise ConnectionError("no database")
    state = ["open"]
    try:
        yield state
    finally:
        state[0] = "closed"
        tell("lifespan closed")


def make() -> Server[list[str]] | MCPServer:
    server = Server("program", lifespan=lifespan) if KIND == "lowlevel" else MCPServer("program", lifespan=lifespan)
    toolwire.add_tools(
        server, echo, size, repeat, noisy, wait, open_gate, stubborn, block, block_the_loop, slow_goodbye, facts
    )
    return server


async def streams(server: Server[list[str]]) -> None:
    options = server.create_initialization_options(NotificationOptions())
    opened = toolwire.stdio(server) if WAY != "sdk" else stdio_server()
    async with opened as (read, write):
        await server.run(read, write, options)


async def main() -> None:
    server = make()
    print("printed before")  # noqa: T201 - what this program is for
    if WAY in ("streams", "sdk"):
        assert isinstance(server, Server)
        await streams(server)
    else:
        try:
            await toolwire.run_stdio(server)
        except ConnectionError as error:
            tell(f"failed: {error}")
    if WAY == "twice":
        tell("between")
        ours, theirs = os.pipe()
        os.dup2(ours, 0)
        os.write(theirs, sys.argv[4].encode())
        os.close(theirs)
        await toolwire.run_stdio(make())
    if WAY != "plain":
        os.write(1, b"stdout is back\n")
    tell(f"stdin blocks: {os.get_blocking(0)}, stdout blocks: {os.get_blocking(1)}")


if __name__ == "__main__":
    anyio.run(main, backend=BACKEND)
    tell("done")
