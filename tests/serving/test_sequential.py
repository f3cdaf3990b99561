"""An explicit `sequential()` serialises one tool's calls, and nothing else does; inside its own call it is refused."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp.server.lowlevel import Server

import toolwire
from tests.serving.raw_client import HANDSHAKE, call_line, served, text_of
from toolwire import Tool, ToolFailure

LANES = pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])


class Crowd:
    """Counts how many are inside at once."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0

    async def __call__(self) -> str:
        self.inside += 1
        self.most = max(self.most, self.inside)
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        self.inside -= 1
        return "done"


@LANES
@pytest.mark.parametrize("policies", [(toolwire.sequential(),), ()])
async def test_only_an_explicit_policy_serialises(policies: Any, express: bool) -> None:
    crowd = Crowd()
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, toolwire.tool(crowd, *policies, name="crowd"))
    async with served(server, express=express) as client:
        await client.open(HANDSHAKE)
        lines = await client.say(*(call_line(HANDSHAKE, "crowd", identifier=number) for number in range(6)))
        assert len(lines) == 6
    assert (crowd.most == 1) == bool(policies)


@LANES
async def test_the_turns_of_two_tools_and_of_two_sessions(express: bool) -> None:
    """Each tool for itself, and over all clients of the server."""
    one, two = Crowd(), Crowd()
    server: Server[Any] = Server("s")
    for name, crowd in (("one", one), ("two", two)):
        toolwire.add_tools(server, toolwire.tool(crowd, toolwire.sequential(), name=name))
    async with served(server, express=express) as first, served(server, express=express) as second:
        for client in (first, second):
            await client.open(HANDSHAKE)
        for client in (first, second):
            client.write(*(call_line(HANDSHAKE, name, identifier=name) for name in ("one", "two")))
        for client in (first, second):
            await client.settle()
            assert len(client.lines) == 2
    assert (one.most, two.most) == (1, 1)


@LANES
async def test_a_cancelled_call_gives_its_turn_on_whether_it_ran_or_waited(express: bool) -> None:
    running = anyio.Event()
    runs: list[int] = []

    @toolwire.tool(toolwire.sequential())
    async def turn(number: int) -> str:
        runs.append(number)
        if number < 3:
            running.set()
            await anyio.Event().wait()
        return str(number)

    server: Server[Any] = Server("s")
    toolwire.add_tools(server, turn)
    cancelled = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}'
    async with served(server, express=express) as client:
        await client.open(HANDSHAKE)
        for number in (1, 2, 3):
            client.write(call_line(HANDSHAKE, "turn", b'{"number":%d}' % number, identifier=number))
            with anyio.fail_after(10):
                await running.wait()
            for _ in range(30):
                await anyio.lowlevel.checkpoint()
        lines = await client.say(cancelled % 2, cancelled % 1)
        assert [line for line in lines if b'"text":"3"' in line] == lines
    assert runs == [1, 3]


NESTED = 'tool "again" is sequential and was called from inside its own call'


def recursive(handler_of: Callable[[Callable[[], Tool]], Callable[..., Awaitable[str]]]) -> Tool:
    made: list[Tool] = []
    made.append(toolwire.tool(handler_of(lambda: made[0]), toolwire.sequential(), name="again"))
    return made[0]


def directly(itself: Callable[[], Tool]) -> Callable[..., Awaitable[str]]:
    async def again() -> str:
        return await itself().invoke()

    return again


def in_a_task(itself: Callable[[], Tool]) -> Callable[..., Awaitable[str]]:
    async def again() -> str:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(itself().invoke)
        return "never"

    return again


def by_another_tool(itself: Callable[[], Tool]) -> Callable[..., Awaitable[str]]:
    @toolwire.tool
    async def between() -> str:
        return await itself().invoke()

    async def again() -> str:
        return await between.invoke()

    return again


@LANES
@pytest.mark.parametrize("way", [directly, in_a_task, by_another_tool])
async def test_a_sequential_tool_called_from_inside_its_own_call_is_refused(way: Any, express: bool) -> None:
    tool = recursive(way)
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, tool)
    async with served(server, express=express) as client:
        await client.open(HANDSHAKE)
        for _ in range(2):
            result = await client.call(HANDSHAKE, "again")
            assert (text_of(result), result["isError"]) == (NESTED, True)
    with pytest.raises(ToolFailure, match=NESTED):
        await tool.invoke()


async def test_over_a_connection_of_its_own_the_deadline_of_the_inner_call_ends_the_wait() -> None:
    """Nothing tells the server that the two calls are one chain: the wait is bounded by the deadline (design 4.4)."""
    server: Server[Any] = Server("s")
    async with toolwire.connect(server, call_timeout=0.05) as inner:

        @toolwire.tool(toolwire.sequential())
        async def again() -> str:
            return await (await toolwire.tools(inner))["again"].invoke()

        toolwire.add_tools(server, again)
        async with toolwire.connect(server) as outer:
            with anyio.fail_after(10), pytest.raises(ToolFailure, match="timed out after"):
                await (await toolwire.tools(outer))["again"].invoke()


async def test_a_tool_that_is_not_sequential_may_call_itself() -> None:
    made: list[Tool] = []

    async def countdown(n: int) -> str:
        return str(n) if n == 0 else await made[0].invoke({"n": n - 1})

    made.append(toolwire.tool(countdown))
    assert await made[0].invoke({"n": 5}) == "0"


async def test_one_tool_is_served_in_one_loop_after_another() -> None:
    """A lock belongs to a loop; the tool and the server do not. The other loop is the other parameter of this test."""
    async with served(SERVER) as client:
        await client.open(HANDSHAKE)
        lines = await client.say(*(call_line(HANDSHAKE, "crowd", identifier=number) for number in range(3)))
        assert len(lines) == 3


SERVER: Server[Any] = Server("s")
toolwire.add_tools(SERVER, toolwire.tool(Crowd(), toolwire.sequential(), name="crowd"))
