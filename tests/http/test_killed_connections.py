"""A connection that is killed at every stage of a call, and a server that is: what the caller is told, and what ran.

A call has an answer or an error that says whether it may have run, and the server gets it once (the design's rules 3
and 4).
"""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest

import toolwire
from toolwire.testing import HttpPeer, HttpRequest, HttpTable, http, listing, result

PATIENCE = 30
TOOL = b'{"name":"echo","inputSchema":{"type":"object"}}'
OTHER = b'{"name":"other","inputSchema":{"type":"object"}}'
DONE = result(b'{"content":[{"type":"text","text":"done"}],"resultType":"complete"}')
FORMS = {
    "json": http.reply(DONE),
    "json in a chunk": http.reply(DONE, framing="chunked"),
    "json until the end": http.reply(DONE, framing="close"),
    "events": http.sse(http.event(DONE)),
    "events behind an id": http.sse(http.event(b"", id="1", retry=0), http.event(DONE)),
    "events until the end": http.sse(http.event(DONE), framing="close"),
}

# The SDK's transport leaves its stream of events to the garbage collector, of which trio complains.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")
both_engines = pytest.mark.parametrize("engine", ["fast", "the caller's"])
both_eras = pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])


@asynccontextmanager
async def connected(peer: HttpPeer, engine: str) -> AsyncIterator[toolwire.Connection]:
    if engine == "fast":
        async with toolwire.connect(peer.url) as connection:
            yield connection
    else:
        async with httpx2.AsyncClient() as client, toolwire.connect(peer.url, http_client=client) as connection:
            yield connection


async def told(tool: toolwire.Tool, arguments: bytes = b"{}") -> str | bool:
    """The text of a call's answer, or whether it may have run."""
    try:
        return await tool.invoke(arguments)
    except toolwire.RemoteCallError as error:
        return error.may_have_run


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("broken", [False, True], ids=["closed", "reset"])
@both_engines
@both_eras
async def test_an_answer_that_is_cut_at_any_byte_is_whole_or_may_have_run(
    form: str, broken: bool, engine: str, era: str
) -> None:
    """Byte 0 is behind the whole request: the server has it, and says nothing."""
    at = 0

    def cut(request: HttpRequest) -> http.HttpSteps:
        return http.cut(FORMS[form], at, broken=broken)

    outcomes: list[str | bool] = []
    with anyio.fail_after(PATIENCE):
        peer = HttpPeer({"tools/list": listing(TOOL), "tools/call": cut}, era=era)
        async with peer, connected(peer, engine) as connection:
            echo = (await toolwire.tools(connection))["echo"]
            # A client may leave a stream behind its answer: then the peer never wrote all of it.
            while outcomes[-3:] != ["done"] * 3 and not (outcomes and peer.requests("tools/call")[-1].answered):
                outcomes.append(await told(echo))
                at += 1 if at < 5 else 7
    assert len(peer.requests("tools/call")) == len(outcomes), "a call was sent twice"
    first = outcomes.index("done")
    assert outcomes == [True] * first + ["done"] * (len(outcomes) - first)


@both_engines
@both_eras
async def test_a_connection_that_dies_while_the_call_is_written_may_have_brought_it(engine: str, era: str) -> None:
    dying = [http.reset(), http.close()]

    def at_head(request: HttpRequest) -> http.HttpSteps | None:
        return dying.pop() if request.header("content-length") == length and dying else None

    async with HttpPeer({"tools/list": listing(TOOL), "tools/call": DONE}, era=era) as first:
        async with connected(first, engine) as connection:
            await (await toolwire.tools(connection))["echo"].invoke(b'{"a":1}')
        length = str(len(first.requests("tools/call")[0].body))
    with anyio.fail_after(PATIENCE):
        async with HttpPeer({"tools/list": listing(TOOL), "tools/call": DONE}, era=era, at_head=at_head) as peer:
            async with connected(peer, engine) as connection:
                echo = (await toolwire.tools(connection))["echo"]
                assert [await told(echo, b'{"a":1}') for _ in range(3)] == [True, True, "done"]
            assert dying == []


@both_engines
@both_eras
async def test_idle_connections_that_the_server_closed_cost_no_call(engine: str, era: str) -> None:
    """Each answer is the last of its connection; nothing in its head says so, and the client has time to see it."""
    answer = http.then(http.reply(DONE), http.close())
    with anyio.fail_after(PATIENCE):
        async with HttpPeer({"tools/list": listing(TOOL), "tools/call": answer}, era=era) as peer:
            async with connected(peer, engine) as connection:
                echo = (await toolwire.tools(connection))["echo"]
                for _ in range(20):
                    assert await told(echo) == "done"
                    await anyio.wait_all_tasks_blocked()
            assert len(peer.requests("tools/call")) == 20


@both_engines
@pytest.mark.parametrize("form", ["json", "events"])
async def test_twenty_callers_outlive_a_server_that_is_restarted_with_other_tools(engine: str, form: str) -> None:
    """Nobody hangs, and nobody's call runs twice: the server counts what it accepts."""
    ran: Counter[bytes] = Counter()
    answer: Any = FORMS[form]

    def call(request: HttpRequest) -> http.HttpSteps:
        ran[request.body[request.body.index(b'"arguments"') :]] += 1
        number = sum(ran.values())
        return http.then(http.hold("busy"), answer) if number % 7 == 0 and not back.is_set() else answer

    back, half = anyio.Event(), anyio.Event()
    outcomes: dict[bytes, str | bool] = {}
    table: HttpTable = {"tools/list": listing(TOOL, OTHER), "tools/call": call, "GET": http.silence()}
    with anyio.fail_after(PATIENCE):
        async with HttpPeer(table, sessions=["one", "two", "three"]) as peer, connected(peer, engine) as connection:
            echo = (await toolwire.tools(connection))["echo"]

            async def caller(name: int) -> None:
                for number in range(10):
                    arguments = b'{"call":"%d-%d"}' % (name, number)
                    outcomes[arguments] = await told(echo, arguments)
                    if number == 3:
                        half.set()
                    if outcomes[arguments] is not True and outcomes[arguments] != "done":
                        await back.wait()

            async with anyio.create_task_group() as group:
                for name in range(20):
                    group.start_soon(caller, name)
                await half.wait()
                await peer.held("busy")
                peer.go_down()
                peer.answers["tools/list"] = listing(OTHER)
                await peer.come_back()
                back.set()
            assert (await toolwire.tools(connection)).names == ("other",)
            assert peer.session == "two", "one new session for all who waited"
    assert len(outcomes) == 200
    assert max(ran.values()) == 1
    for arguments, outcome in outcomes.items():
        runs = sum(count for body, count in ran.items() if arguments in body)
        assert outcome is True or runs == (1 if outcome == "done" else 0), (arguments, outcome, runs)
    assert sum(outcome == "done" for outcome in outcomes.values()) > 100
    assert True in outcomes.values()
