"""A session that the server lost, a server that came back as another one, and calls that are given up (J1, I13)."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest

import toolwire
from tests.http.clients import DONE, ENGINES, ERAS, connected, echo_of, fault, peer
from toolwire.testing import error, http, listing, result

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]
HABIT = b'{"jsonrpc":"2.0","error":{"code":-32000,"message":"no such session"},"id":null}'


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_a_lost_session_is_opened_again_and_the_call_is_sent_once_more(engine: str) -> None:
    """Fault J1."""
    async with peer(sessions=["one", "two"]) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        served.session = None
        assert await echo.invoke('{"n":1.50}') == "done"
        first, second = served.requests("tools/call")
        assert (first.header("mcp-session-id"), second.header("mcp-session-id")) == ("one", "two")
        assert first.body == second.body
        opened = served.requests("initialize")
        assert [request.header("mcp-session-id") for request in opened] == [None, None]
        assert opened[0].message.raw("params") == opened[1].message.raw("params")
        noted = served.requests("notifications/initialized")
        assert [request.header("mcp-session-id") for request in noted] == ["one", "two"]
        assert noted[1].header("mcp-protocol-version") == "2025-11-25"
        assert await echo.invoke("{}") == "done"
        assert connection.wire is not None
        assert connection.wire.counters["sessions_renewed"] == 1


async def test_a_400_that_names_the_session_is_a_lost_session_too(engine: str) -> None:
    """Fault J1: off the protocol, and common."""
    answers = [http.reply(HABIT, status=400), DONE]
    async with peer(answers, sessions=["one", "two"]) as served, connected(served.url, engine) as connection:
        assert await (await echo_of(connection)).invoke("{}") == "done"
        assert [request.header("mcp-session-id") for request in served.requests("tools/call")] == ["one", "two"]


@pytest.mark.parametrize(
    "answer",
    [
        http.reply(error(-32000, "no such session"), status=400),
        http.reply(b'{"jsonrpc":"2.0","error":{"code":-32000,"message":"bad"},"id":null}', status=400),
        http.reply(b"no such session", status=400, media="text/plain"),
    ],
)
async def test_any_other_400_is_an_error_of_its_call_and_no_session_is_opened(
    engine: str, answer: http.HttpSteps
) -> None:
    async with peer(answer, sessions=["one", "two"]) as served, connected(served.url, engine) as connection:
        await fault(await echo_of(connection))
        assert len(served.requests("initialize")) == 1
        assert len(served.requests("tools/call")) == 1


async def test_without_a_session_a_404_is_an_error_of_its_call(engine: str) -> None:
    async with peer(http.reply(b"", status=404, media=None)) as served, connected(served.url, engine) as connection:
        told = await fault(await echo_of(connection))
        assert (told.status, told.may_have_run) == (404, False)
        assert len(served.requests("initialize")) == 1


async def test_twenty_callers_of_a_lost_session_open_one_new_one(engine: str) -> None:
    """Fault J1: single flight."""
    async with peer(sessions=["one", "two"]) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        served.session = None
        answers: list[str] = []

        async def one() -> None:
            answers.append(await echo.invoke("{}"))

        async with anyio.create_task_group() as callers:
            for _ in range(20):
                callers.start_soon(one)
        assert answers == ["done"] * 20
        assert len(served.requests("initialize")) == 2
        ran = [request for request in served.requests("tools/call") if request.header("mcp-session-id") == "two"]
        assert len(ran) == 20
        assert len({request.message.raw("id") for request in ran}) == 20


async def test_a_listing_of_a_lost_session_is_repeated_by_itself(engine: str) -> None:
    async with peer(sessions=["one", "two"]) as served, connected(served.url, engine) as connection:
        await echo_of(connection)
        served.session = None
        assert (await toolwire.tools(connection)).names == ("echo",)


async def test_a_session_that_is_lost_again_at_once_ends_the_call_and_not_in_a_circle(engine: str) -> None:
    answers = http.reply(b"", status=404, media=None)
    async with peer(answers, sessions=["one", "two"]) as served, connected(served.url, engine) as connection:
        told = await fault(await echo_of(connection))
        assert (told.status, told.may_have_run) == (404, False)
        assert len(served.requests("tools/call")) == 2


@pytest.mark.parametrize(
    ("opening", "said"),
    [
        (http.reply(error(-32603, "not today")), "not today"),
        (http.reply(status=500, media=None), "HTTP 500"),
        (http.reset(), "connection"),
        (
            http.reply(result(b'{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"x"}}')),
            "protocol '2025-03-26' now",
        ),
    ],
)
async def test_a_new_session_that_does_not_come_about_is_told_to_all_who_wait_and_nothing_runs(
    engine: str, opening: http.HttpSteps, said: str
) -> None:
    async with peer(sessions=["one", "two"]) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        good = served.answers["initialize"]
        served.session, served.answers["initialize"] = None, opening
        faults: list[toolwire.RemoteCallError] = []

        async def one() -> None:
            faults.append(await fault(echo))

        async with anyio.create_task_group() as callers:
            for _ in range(5):
                callers.start_soon(one)
        assert all(said in str(told) and told.may_have_run is False for told in faults)
        served.session, served.answers["initialize"] = None, good
        assert await echo.invoke("{}") == "done", "the next call tries again"


async def test_a_caller_that_gives_up_while_a_session_is_opened_leaves_it_to_the_others(engine: str) -> None:
    async with peer(sessions=["one", "two"]) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        good: Any = served.answers["initialize"]
        served.session = None
        served.answers["initialize"] = http.then(http.hold("opening"), good)
        answers: list[str] = []
        async with anyio.create_task_group() as callers:

            async def first() -> None:
                with anyio.CancelScope() as scope:
                    scopes.append(scope)
                    answers.append(await echo.invoke("{}"))

            scopes: list[anyio.CancelScope] = []
            callers.start_soon(first)
            await served.held("opening")

            async def second() -> None:
                answers.append(await echo.invoke("{}"))

            callers.start_soon(second)
            scopes[0].cancel()
            served.release("opening")
        assert answers == ["done"]


async def test_a_lost_session_that_the_sdk_s_own_lane_finds_is_opened_again_for_its_next_request(engine: str) -> None:
    answers = {"resources/list": result(b'{"resources":[]}')}
    async with (
        peer(sessions=["one", "two"], answers=answers) as served,
        connected(served.url, engine) as connection,
    ):
        served.session = None
        with pytest.raises(Exception, match=r"terminated|not found"):
            await connection.session.list_resources()
        await served.arrived("notifications/initialized", 2)
        assert (await connection.session.list_resources()).resources == []


@pytest.mark.parametrize(
    "answer", [http.reply(status=404, media=None), http.reply(error(-32601, "no such method"), status=404)]
)
async def test_a_404_that_is_not_about_the_session_opens_no_other_one(engine: str, answer: http.HttpSteps) -> None:
    """A server without a stream to GET, or one that says of a method that it is not found: its session lives on."""
    async with peer(sessions=["one", "two"]) as served, connected(served.url, engine) as connection:
        served.answers["GET"] = answer
        served.answers["resources/list"] = http.reply(error(-32601, "no such method"), status=404)
        with pytest.raises(Exception, match="no such method"):
            await connection.session.list_resources()
        assert await (await echo_of(connection)).invoke("{}") == "done"
        assert len(served.requests("initialize")) == 1


async def test_a_server_that_comes_back_with_other_tools_is_listed_again_and_no_call_runs_twice(engine: str) -> None:
    """Fault I13: a restart while 20 callers are busy. The server counts."""
    other = b'{"name":"other","inputSchema":{"type":"object"}}'
    changed = b'{"name":"echo","description":"new","inputSchema":{"type":"object"}}'
    busy = http.then(http.hold("busy"), http.reply(DONE))
    async with peer(busy, sessions=["one", "two"]) as served, connected(served.url, engine) as connection:
        swaps: list[Any] = []
        swapped = anyio.Event()

        def heard(changes: Any) -> None:
            swaps.append(changes)
            swapped.set()

        async with toolwire.live_tools(connection, on_change=heard) as source:
            before = source.current["echo"]
            outcomes: list[str | bool] = []

            async def one(number: int) -> None:
                try:
                    outcomes.append(await before.invoke(f'{{"n":{number}}}'))
                except toolwire.RemoteCallError as told:
                    outcomes.append(told.may_have_run)

            async with anyio.create_task_group() as callers:
                for number in range(20):
                    callers.start_soon(one, number)
                await served.arrived("tools/call", 20)
                served.go_down()
            assert outcomes == [True] * 20, "they were written: each may have run"
            served.answers["tools/list"], served.answers["tools/call"] = listing(changed, other), DONE
            await served.come_back()
            assert await before.invoke("{}") == "done", "a held tool is the newest of its name"
            await swapped.wait()
            assert source.current.names == ("echo", "other")
            assert (swaps[0].added, swaps[0].changed, swaps[0].removed) == (("other",), ("echo",), ())
        numbers = [request.message.raw("params.arguments") for request in served.requests("tools/call")]
        assert len([number for number in numbers if number != "{}"]) == 20, "nobody's call was sent twice"


async def test_a_tool_that_the_server_no_longer_has_after_its_restart_is_retired(engine: str) -> None:
    """Fault I13."""
    other = b'{"name":"other","inputSchema":{"type":"object"}}'
    async with peer(sessions=["one", "two"]) as served, connected(served.url, engine) as connection:
        swapped = anyio.Event()
        async with toolwire.live_tools(connection, on_change=lambda changes: swapped.set()) as source:
            held = source.current["echo"]
            served.session = None
            served.answers["tools/list"] = listing(other)
            assert await held.invoke("{}") == "done", "the server answered it still"
            await swapped.wait()
            with pytest.raises(toolwire.ToolFailure, match="no longer offered"):
                await held.invoke("{}")
            assert await source.current["other"].invoke("{}") == "done"


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_that_is_given_up_is_told_to_the_server_as_the_era_has_it(engine: str, era: str) -> None:
    async with peer([http.silence(), DONE], era=era) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        async with anyio.create_task_group() as callers:
            callers.start_soon(echo.invoke, "{}")
            (call,) = await served.arrived("tools/call")
            callers.cancel_scope.cancel()
        await served.left("tools/call")
        if era == "2025-11-25":
            (note,) = await served.arrived("notifications/cancelled")
            assert note.message.raw("params.requestId") == call.message.raw("id")
        assert await echo.invoke("{}") == "done", "the connection stands"
        assert len(served.requests("notifications/cancelled")) == (1 if era == "2025-11-25" else 0)


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_that_times_out_is_told_to_the_server_as_the_era_has_it(engine: str, era: str) -> None:
    async with (
        peer([http.silence(), DONE], era=era) as served,
        connected(served.url, engine, call_timeout=1.0) as connection,
    ):
        echo = await echo_of(connection)
        told = await fault(echo)
        assert "timed out after 1 s" in str(told)
        assert told.may_have_run
        assert isinstance(told.cause, TimeoutError)
        await served.left("tools/call")
        if era == "2025-11-25":
            await served.arrived("notifications/cancelled")
        assert served.requests("notifications/cancelled") == [] or era == "2025-11-25"


async def test_a_call_that_was_never_written_is_not_cancelled_at_the_server(engine: str) -> None:
    async with (
        peer(http.silence()) as served,
        connected(served.url, engine, in_flight=1) as connection,
    ):
        echo = await echo_of(connection)
        async with anyio.create_task_group() as callers:
            callers.start_soon(echo.invoke, "{}")
            await served.arrived("tools/call")
            async with anyio.create_task_group() as second:
                second.start_soon(echo.invoke, '{"second":true}')
                await anyio.lowlevel.checkpoint()
                second.cancel_scope.cancel()
            assert served.requests("notifications/cancelled") == []
            callers.cancel_scope.cancel()
        assert len(await served.arrived("notifications/cancelled")) == 1
