"""Faults I5 to I12 against a real process: cancelling, deadlines, tasks, many calls, a server that does not read."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import anyio
import mcp
import pytest

import toolwire
from tests.wire.lanes import BODIES, ERAS, OK, Lanes, good, lanes, nothing_left, until
from toolwire.testing import RawServer, die, linger, listing, park, raw, release, silence, then, wait_for
from toolwire.wire import exit as wire_exit
from toolwire.wire import sdk_lane
from toolwire.wire.limits import WRITE_HIGH_WATER

pytestmark = pytest.mark.anyio
FIRST = 1_000_000_000


async def gathered(*jobs: Callable[[], Awaitable[str]]) -> list[str]:
    """What each of the jobs, run together, gave; the text of its error where it raised one."""
    texts = [""] * len(jobs)

    async def run(index: int, job: Callable[[], Awaitable[str]]) -> None:
        try:
            texts[index] = await job()
        except (toolwire.RemoteCallError, mcp.MCPError) as error:
            texts[index] = str(error)

    async with anyio.create_task_group() as group:
        for index, job in enumerate(jobs):
            group.start_soon(run, index, job)
    return texts


# Cancelling


LATE = then(wait_for(b"notifications/cancelled"), good(BODIES["tools/call"]))


@pytest.mark.parametrize("era", ERAS)
async def test_i5_a_cancelled_call_tells_the_server_once_and_its_late_answer_is_dropped(era: str) -> None:
    async with lanes({**OK, "tools/call": [LATE, good(BODIES["tools/call"])]}, era=era) as all_four:
        tool = (await toolwire.tools(all_four.connection))["t"]
        async with anyio.create_task_group() as group:
            group.start_soon(tool.invoke, b"{}")
            await all_four.server.arrived("tools/call")
            group.cancel_scope.cancel()
        assert await tool.invoke(b"{}") == "ok"
        assert await all_four.prompted() == "ok"
        [line] = all_four.server.requests("notifications/cancelled")
        assert json.loads(line)["params"]["requestId"] == FIRST + 1
        assert all_four.counters == {"late_answers": 1}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_i5_the_cancelled_error_of_a_task_goes_on() -> None:
    async with lanes({"tools/call": [silence(), good(BODIES["tools/call"])]}) as all_four:
        task = asyncio.create_task(all_four.called())
        await all_four.server.arrived("tools/call")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert await all_four.called() == "ok"
        assert len(all_four.server.requests("notifications/cancelled")) == 1


async def test_i5_a_call_cancelled_before_its_turn_never_reaches_the_server() -> None:
    async with lanes({"tools/call": [silence(), good(BODIES["tools/call"])]}, in_flight=1) as all_four:
        async with anyio.create_task_group() as flying:
            flying.start_soon(all_four.called)
            await all_four.server.arrived("tools/call")
            async with anyio.create_task_group() as queued:
                queued.start_soon(all_four.called, b'{"queued":true}')
                await until(lambda: all_four.wire.express._queue)
                queued.cancel_scope.cancel()
            flying.cancel_scope.cancel()
        assert await all_four.called(b'{"last":true}') == "ok"
        assert [json.loads(line)["params"]["arguments"] for line in all_four.server.requests("tools/call")] == [
            {},
            {"last": True},
        ]
        assert len(all_four.server.requests("notifications/cancelled")) == 1


async def test_i5_a_cancelled_request_of_the_sdk_leaves_nothing_waiting_on_the_wire() -> None:
    async with lanes({**OK, "prompts/get": [silence(), good(BODIES["prompts/get"])]}) as all_four:
        async with anyio.create_task_group() as group:
            group.start_soon(all_four.prompted)
            await all_four.server.arrived("prompts/get")
            group.cancel_scope.cancel()
        assert all_four.wire.sdk.pending == {}
        assert await all_four.prompted() == "ok"
        assert len(all_four.server.requests("notifications/cancelled")) == 1


# Deadlines


async def test_i6_a_call_ends_at_its_deadline_names_tool_server_and_limit_and_the_session_goes_on() -> None:
    async with lanes({**OK, "tools/call": [LATE, good(BODIES["tools/call"])]}) as all_four:
        hurried = await toolwire.tools(all_four.connection, policy=toolwire.timeout(0.1))
        patient = await toolwire.tools(all_four.connection)
        with pytest.raises(toolwire.RemoteCallError) as caught:
            await hurried["t"].invoke(b"{}")
        assert str(caught.value) == 'mcp: "t" at raw timed out after 0.1 s'
        assert caught.value.may_have_run
        assert await patient["t"].invoke(b"{}") == "ok"
        [line] = all_four.server.requests("notifications/cancelled")
        assert json.loads(line)["params"] == {"requestId": FIRST + 2, "reason": "timed out"}


async def test_i6_a_listing_ends_at_its_deadline_over_all_its_pages() -> None:
    endless = [listing(b'{"name":"%d","inputSchema":{"type":"object"}}' % n, cursor=str(n)) for n in range(3)]
    async with lanes({"tools/list": [*endless, silence()]}, list_timeout=1) as all_four:
        with pytest.raises(toolwire.RemoteCallError, match="tools of raw timed out after 1 s") as caught:
            await all_four.listed()
        assert not caught.value.may_have_run
        assert len(all_four.server.requests("tools/list")) == 4


@pytest.mark.parametrize("era", ERAS)
async def test_i6_progress_is_asked_for_only_where_an_idle_limit_wants_it_and_keeps_the_call_alive(era: str) -> None:
    note = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%b,"progress":%d}}\n'
    alive = then(*[note % (b"{id}", step) for step in range(3)], good(BODIES["tools/call"]))
    heard: list[object] = []

    async def hear(message: object) -> None:
        heard.append(message)

    async with lanes(
        {**OK, "tools/call": [alive, then(note % (b"{id}", 9), silence())]},
        era=era,
        idle_timeout=0.8,
        message_handler=hear,
    ) as all_four:
        tool = (await toolwire.tools(all_four.connection))["t"]
        assert await tool.invoke(b"{}") == "ok"
        with pytest.raises(toolwire.RemoteCallError, match=r'"t" at raw timed out after 0\.8 s without progress'):
            await tool.invoke(b"{}")
        metas = [json.loads(line)["params"]["_meta"] for line in all_four.server.requests("tools/call")]
        assert [meta["progressToken"] for meta in metas] == [FIRST + 1, FIRST + 2]
        assert "progressToken" not in all_four.server.requests("tools/list")[0].decode()
        assert heard == []


async def test_progress_that_the_sdk_asked_for_reaches_its_caller() -> None:
    note = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{id},"progress":5}}\n'
    seen: list[float] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        assert (total, message) == (None, None)
        seen.append(progress)

    async with lanes({**OK, "tools/call": then(note, good(BODIES["tools/call"]))}) as all_four:
        await all_four.connection.session.call_tool("t", {}, progress_callback=progressed)
        await until(lambda: seen)
    assert seen == [5]


# Tasks


async def test_i7_a_connection_is_opened_in_one_task_used_in_another_and_closed_in_a_third() -> None:
    opened: list[toolwire.connect] = []
    connections: list[toolwire.Connection] = []

    async def open_it() -> None:
        opened.append(toolwire.connect(server.argv))
        connections.append(await opened[0].__aenter__())

    async def use_it() -> str:
        return await Lanes(connections[0], server).called()

    async def close_it() -> None:
        await opened[0].__aexit__(None, None, None)

    with RawServer(OK) as server, anyio.fail_after(20):
        async with nothing_left(server):
            for job in (open_it, use_it, use_it, close_it):
                async with anyio.create_task_group() as group:
                    group.start_soon(job)
            with pytest.raises(toolwire.RemoteCallError, match="the connection was closed"):
                await use_it()


async def test_i7_a_task_group_that_opened_a_connection_may_end_before_the_connection() -> None:
    """The owner belongs to no group of the caller's, and no scope of the caller's cancels it."""
    with RawServer(OK) as server, anyio.fail_after(20):
        async with nothing_left(server):
            connecting = toolwire.connect(server.argv)
            async with anyio.create_task_group() as group:
                connection = await connecting.__aenter__()
                group.cancel_scope.cancel()
            assert await Lanes(connection, server).called() == "ok"
            await connecting.__aexit__(None, None, None)


async def test_i10_ten_calls_start_one_process() -> None:
    async with lanes(OK) as all_four:
        for _ in range(10):
            assert await all_four.called() == "ok"
        assert all_four.server.starts == 1


async def test_i12_twenty_calls_answered_in_reverse_each_get_their_own_answer() -> None:
    parked = park(b'{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"text","text":"a{id}"}]}}\n')
    async with lanes({"tools/call": [*[parked] * 19, then(parked, release(backwards=True))]}) as all_four:

        async def call() -> str:
            number = all_four.wire.express._next_id
            return f"{await all_four.called()} {number}"

        texts = await gathered(*[call] * 20)
        assert sorted(texts) == [f"a{FIRST + n} {FIRST + n}" for n in range(20)]


async def test_more_than_a_thousand_calls_pass_through_four_places() -> None:
    parked = park(good(BODIES["tools/call"]))
    full = then(parked, release())
    answers = [parked, parked, parked, full] * 10
    async with lanes({"tools/call": [*answers, good(BODIES["tools/call"])]}, in_flight=4, within=15) as all_four:
        assert await gathered(*[all_four.called] * 1_100) == ["ok"] * 1_100
        assert len(all_four.server.requests("tools/call")) == 1_100
        assert all_four.counters == {}


async def test_a_death_tells_the_written_calls_that_they_may_have_run_and_the_queued_ones_not() -> None:
    async with lanes({"tools/call": [silence(), die(3)]}, in_flight=2) as all_four:
        results: list[bool] = []

        async def call() -> None:
            try:
                await all_four.called()
            except toolwire.RemoteCallError as error:
                results.append(error.may_have_run)

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(call)
        assert sorted(results) == [False, False, False, True, True]
        assert len(all_four.server.requests("tools/call")) == 2


# A server that does not read


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_exit, "EXIT_TIMEOUT", 0.05)


@pytest.mark.usefixtures("hurried")
async def test_a_server_that_stops_reading_costs_bounded_memory_and_every_call_ends() -> None:
    large = b'{"x":"' + b"x" * (1 << 20) + b'"}'
    async with lanes({**OK, "tools/call": linger()}, call_timeout=1) as all_four:
        tool = (await toolwire.tools(all_four.connection))["t"]
        raised: list[toolwire.RemoteCallError] = []
        peak = 0

        async def call() -> None:
            nonlocal peak
            try:
                await tool.invoke(large)
            except toolwire.RemoteCallError as error:
                raised.append(error)
            peak = max(peak, all_four.wire._channel._out.unwritten)  # type: ignore[attr-defined]  # a pipe channel

        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(call)
        assert len(raised) == 20
        unsent = [error for error in raised if not error.may_have_run]
        # One was read, four fill the buffer, one goes over the mark.
        assert len(unsent) == 14
        assert all("before it was sent" in str(error) for error in unsent)
        assert WRITE_HIGH_WATER - len(large) < peak < WRITE_HIGH_WATER + 2 * len(large)


@pytest.mark.usefixtures("hurried")
async def test_requests_of_the_sdk_to_a_server_that_does_not_read_end_by_their_own_deadline_and_take_no_memory() -> (
    None
):
    large = {"x": "x" * (1 << 20)}
    async with lanes({**OK, "tools/call": linger()}) as all_four:

        async def request() -> str:
            return str(await all_four.connection.session.call_tool("t", large, read_timeout_seconds=0.3))

        texts = await gathered(*[request] * 20)
        assert texts == ["Request 'tools/call' timed out"] * 20
        lane = all_four.wire.sdk
        assert (lane.pending, lane._parked) == ({}, {})
        assert all_four.wire._channel._out.unwritten < WRITE_HIGH_WATER + 2 * (1 << 20)  # type: ignore[attr-defined]  # a pipe channel


async def test_what_waited_for_a_slow_reader_is_sent_once_it_reads() -> None:
    large = b'{"x":"' + b"x" * (1 << 20) + b'"}'
    slow = then(raw(b"\n"), wait_for(b"released"), good(BODIES["tools/call"]))
    async with lanes({**OK, "tools/call": [slow, good(BODIES["tools/call"])]}) as all_four:
        session = all_four.connection.session

        async def express() -> str:
            return await all_four.called(large)

        async def sdk() -> str:
            result = await session.call_tool("t", json.loads(large))
            assert isinstance(result, mcp.types.CallToolResult)
            return "error" if result.is_error else "ok"

        async def last() -> str:
            await until(lambda: all_four.wire._channel.full)
            return await all_four.called(b'{"released":true}')

        assert await gathered(*[express] * 8, *[sdk] * 8, last) == ["ok"] * 17


@pytest.mark.usefixtures("hurried")
async def test_a_server_that_asks_and_does_not_read_is_refused_at_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk_lane, "SERVER_REQUESTS", 10)
    hold = anyio.Event()

    async def sample(*_: object) -> mcp.types.ErrorData:
        await hold.wait()
        return mcp.types.ErrorData(code=1, message="no")

    asked = b'{"jsonrpc":"2.0","id":%d,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}\n'
    storm = then(*[asked % number for number in range(100)], good(BODIES["tools/call"]))
    async with lanes({"tools/call": storm}, sampling_callback=sample) as all_four:
        assert await all_four.called() == "ok"
        assert all_four.counters == {"refused_messages": 90}
        hold.set()
        answers = [json.loads(line)["error"] for line in await all_four.server.arrived("", 100)]
        assert [answer["code"] for answer in answers].count(1) == 10
        assert sum("too many requests" in answer["message"] for answer in answers) == 90
        assert await all_four.called() == "ok"


async def test_a_request_that_the_server_gives_up_frees_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk_lane, "SERVER_REQUESTS", 1)

    async def sample(*_: object) -> mcp.types.ErrorData:
        await anyio.sleep_forever()
        raise AssertionError

    asked = b'{"jsonrpc":"2.0","id":%b,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}\n'
    given_up = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%b}}\n'
    rounds = [asked % number + given_up % number for number in (b"1", b'"2"', b'"x"')]
    async with lanes(
        {"tools/call": then(*rounds, asked % b"4", good(BODIES["tools/call"]))}, sampling_callback=sample
    ) as all_four:
        assert await all_four.called() == "ok"
        assert all_four.counters == {}
        assert all_four.wire.sdk._serving == {4}
