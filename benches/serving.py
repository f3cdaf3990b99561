"""Serving one echo tool: the server alone under a raw client, and both ends, beside the SDK's and those of other SDKs.

Every server answers the same content; the other SDKs stand here when `make bench-peers` has built them.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from importlib.util import find_spec

import toolwire
from benches.calls import ARGUMENTS, TEXT, seconds
from benches.peer import awake_echo, other, press, python
from benches.pressed import Pressed
from benches.sides import ERAS, ours, sdk
from benches.table import Row, faster, figure

Call = Callable[[], Awaitable[object]]

SERVER_BARS = {"the SDK's low-level server": 50.0, "rmcp, the Rust SDK": 2.5, "the Go SDK": 5.0}
BOTH_BARS = {32: 40.0, 1: 9.0}
BOTH_RMCP, CLIENT_RMCP = 3.0, 1.5
WINDOWS = (32, 256, 1)
SLOW = 100e-6
"""Seconds a call from which on fewer calls are made, and first of all: nothing is known before."""
CONTENT = [{"type": "text", "text": TEXT}]


def _servers() -> dict[str, list[str]]:
    found = {"toolwire": python("ours"), "the SDK's low-level server": python("lowlevel")}
    found["the SDK's MCPServer"] = python("mcpserver")
    if find_spec("fastmcp") is not None:
        found["FastMCP"] = python("fast")
    for what, name in (("rmcp, the Rust SDK", "rmcp-server"), ("the Go SDK", "go-server")):
        program = other(name)
        if program is not None:
            found[what] = [program]
    return found


def _server_rows(era: str, *, quick: bool) -> Iterator[Row]:
    with ExitStack() as stack:
        sessions = {what: stack.enter_context(Pressed(press(), era, argv)) for what, argv in _servers().items()}
        for what, session in sessions.items():
            assert session.content == CONTENT, what
        for in_flight in WINDOWS:
            best = dict.fromkeys(sessions, float("inf"))
            for _ in range(2 if quick else 9):
                for what, session in sessions.items():
                    calls = (
                        (600 if best[what] > 100e-6 else 12_000) // (5 if quick else 1) // (1 if in_flight > 1 else 4)
                    )
                    best[what] = min(best[what], session.seconds(calls, in_flight))
            us = 1 / best.pop("toolwire")
            for what, theirs in best.items():
                row = f"server, {era}, {_how(in_flight)}: {what}"
                bar = SERVER_BARS.get(what) if in_flight == WINDOWS[0] else None
                yield _told(row, us, 1 / theirs) if bar is None else faster(row, us, 1 / theirs, "/s", bar)


def _how(in_flight: int) -> str:
    return "one at a time" if in_flight == 1 else f"{in_flight} in flight"


def _told(what: str, us: float, theirs: float) -> Row:
    return Row(what=what, toolwire=f"{figure(us)} /s", peer=f"{figure(theirs)} /s", ratio=f"{us / theirs:.1f} x")


@asynccontextmanager
async def _our_call(argv: list[str], era: str) -> AsyncIterator[Call]:
    async with ours(argv, era) as connection:
        tool = (await toolwire.tools(connection))["echo"]

        async def call() -> object:
            return await tool.call(ARGUMENTS)

        assert (await tool.call(ARGUMENTS)).text == TEXT
        yield call


@asynccontextmanager
async def _sdk_call(argv: list[str], era: str) -> AsyncIterator[Call]:
    async with sdk(argv, era) as session:

        async def call() -> object:
            return await session.call_tool("echo", {"text": TEXT})

        answer = await session.call_tool("echo", {"text": TEXT})
        assert [block.model_dump(exclude_none=True) for block in answer.content] == CONTENT
        yield call


async def _best(call: Call, rmcp: Pressed | None, in_flight: int, *, quick: bool, sdk_call: Call | None) -> list[float]:
    """Time a call: ours, the SDK's, rmcp's; the sides in turn."""
    best = [float("inf")] * 3
    few, many = (128, 6_400) if in_flight > 1 else (128, 1_600)
    for _ in range(2 if quick else 9):
        best[0] = min(best[0], await seconds(call, many // (5 if quick else 1), in_flight))
        if sdk_call is not None:
            best[1] = min(best[1], await seconds(sdk_call, few if quick else 4 * few, in_flight))
        if rmcp is not None:
            taken = await asyncio.to_thread(rmcp.seconds, many // (5 if quick else 1), in_flight)
            best[2] = min(best[2], taken)
    return best


async def _both_rows(era: str, *, quick: bool) -> list[Row]:
    rows = []
    async with AsyncExitStack() as stack:
        call = await stack.enter_async_context(_our_call(python("ours"), era))
        sdk_call = await stack.enter_async_context(_sdk_call(python("lowlevel"), era))
        built = other("rmcp-server")
        rmcp = _rmcp(stack, era, None if built is None else [built])
        for in_flight, bar in BOTH_BARS.items():
            us, theirs, rust = await _best(call, rmcp, in_flight, quick=quick, sdk_call=sdk_call)
            what = f"both ends, {era}, {_how(in_flight)}"
            rows.append(faster(f"{what}: the SDK", 1 / us, 1 / theirs, "/s", bar))
            if rmcp is not None and in_flight > 1:
                rows.append(faster(f"{what}: rmcp", 1 / us, 1 / rust, "/s", BOTH_RMCP))
            elif rmcp is not None:
                rows.append(_told(f"{what}: rmcp", 1 / us, 1 / rust))
    return rows


async def _client_rows(era: str, *, quick: bool) -> list[Row]:
    async with AsyncExitStack() as stack:
        call = await stack.enter_async_context(_our_call(awake_echo(), era))
        rmcp = _rmcp(stack, era, awake_echo())
        if rmcp is None:
            return []
        us, _, rust = await _best(call, rmcp, 32, quick=quick, sdk_call=None)
    return [faster(f"client only, {era}, 32 in flight: rmcp", 1 / us, 1 / rust, "/s", CLIENT_RMCP)]


def _rmcp(stack: AsyncExitStack, era: str, server: list[str] | None) -> Pressed | None:
    client = other("rmcp-client")
    if client is None or server is None:
        return None
    session = stack.enter_context(Pressed(client, era, server))
    assert session.first == TEXT
    return session


def rows(*, quick: bool) -> Iterator[Row]:
    """Compare both eras."""
    for era in ERAS:
        yield from _server_rows(era, quick=quick)
        yield from asyncio.run(_both_rows(era, quick=quick))
        yield from asyncio.run(_client_rows(era, quick=quick))
    if other("rmcp-server") is None:
        yield Row(what="the SDKs in Rust and Go: not built, `make bench-peers` does", toolwire="")
