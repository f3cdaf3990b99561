"""Answers that come as server-sent events, and streams that break: faults J5, J7, J8, J13."""

from typing import Any

import anyio
import pytest
from mcp_types import CreateMessageResult, ElicitResult, TextContent

import toolwire
from tests.http.clients import DONE, ENGINES, ERAS, connected, echo_of, fault, peer
from toolwire.testing import http, listing, result

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]
ANSWER = b'{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"text","text":"done"}]}}'
FIRST = ANSWER.replace(b"{id}", b"1000000001")
"""The answer to a connection's first call, which the listing went before."""
PRIMING = http.event(b"", id="0", retry=1)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[None, 1])
def piece(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.mark.parametrize("framing", ["chunked", "close"])
@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
async def test_an_answer_on_a_stream_is_read_in_every_framing_and_line_end(
    engine: str, piece: Any, framing: http.Framing, newline: str
) -> None:
    """Fault J7."""
    stream = http.sse(http.event(DONE, id="1", newline=newline), framing=framing, piece=piece)
    async with peer(stream) as served, connected(served.url, engine) as connection:
        assert await (await echo_of(connection)).invoke("{}") == "done"


@pytest.mark.parametrize("media", ["text/event-stream;charset=UTF-8", "Text/Event-Stream"])
async def test_comments_empty_data_other_events_and_ids_are_passed_over(engine: str, piece: Any, media: str) -> None:
    """Faults J5, J8, J10."""
    text = (
        b": ping\n\nid: 1\ndata: \n\nevent: done\ndata: [DONE]\n\nevent: message\nretry: 5\n\n"
        b'event: endpoint\ndata: {"jsonrpc":"2.0","id":{id},"result":{"content":[]}}\n\n'
        b"event: message\nid: 2\ndata: " + ANSWER + b"\n\n"
    )
    answer = http.reply(text, media=media, framing="chunked", piece=piece)
    async with peer(answer) as served, connected(served.url, engine) as connection:
        assert await (await echo_of(connection)).invoke("{}") == "done"


async def test_several_data_lines_are_one_message(engine: str, piece: Any) -> None:
    """Fault J7."""
    text = b'data: {"jsonrpc":"2.0",\r\ndata: "id":{id},"result":{"content":\r\ndata: []}}\r\n\r\n'
    answer = http.reply(text, media="text/event-stream", framing="chunked", piece=piece)
    async with peer(answer) as served, connected(served.url, engine) as connection:
        assert await (await echo_of(connection)).invoke("{}") == ""


@pytest.mark.parametrize("tail", [b"", b"\n", b"\r"])
async def test_a_whole_message_in_a_last_event_that_was_cut_off_is_taken(engine: str, tail: bytes) -> None:
    """Fault J7."""
    answer = http.reply(b"data: " + ANSWER + tail, media="text/event-stream", framing="close")
    async with peer(answer) as served, connected(served.url, engine) as connection:
        assert await (await echo_of(connection)).invoke("{}") == "done"


async def test_a_stream_is_left_open_behind_its_answer_and_nobody_waits_for_its_end(engine: str) -> None:
    stream = http.then(http.sse(http.event(DONE), end=False), http.silence())
    async with peer(stream) as served, connected(served.url, engine, in_flight=2) as connection:
        echo = await echo_of(connection)
        assert [await echo.invoke("{}") for _ in range(70)] == ["done"] * 70


async def test_a_stream_that_ends_behind_its_answer_leaves_its_connection_to_the_next_call(engine: str) -> None:
    late = http.then(http.sse(http.event(DONE), end=False), http.hold("end"), http.last_chunk())
    async with peer(late) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        served.release("end")
        before = len(served.connections)
        for _ in range(5):
            assert await echo.invoke("{}") == "done"
        assert len(served.connections) - before < 5


async def test_a_change_told_on_the_stream_of_the_session_is_listed_again(engine: str) -> None:
    note = http.event(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
    stream = http.then(http.sse(end=False), http.hold("changed"), http.chunk(note), http.silence())
    async with peer(sessions=["one"], answers={"GET": stream}) as served, connected(served.url, engine) as connection:
        swapped = anyio.Event()
        async with toolwire.live_tools(connection, on_change=lambda changes: swapped.set()) as source:
            served.answers["tools/list"] = listing(b'{"name":"new","inputSchema":{"type":"object"}}')
            served.release("changed")
            await swapped.wait()
            assert source.current.names == ("new",)


async def test_an_event_over_the_limit_ends_its_own_request_only(engine: str) -> None:
    long = http.then(
        http.sse(end=False), http.chunk(b"data: "), http.chunk(b"x" * 65_536, times=40), http.chunk(b"\n\n")
    )
    async with peer([long, DONE]) as served, connected(served.url, engine, line_limit=1 << 20) as connection:
        echo = await echo_of(connection)
        told = await fault(echo)
        assert told.may_have_run
        assert "limit" in str(told) or "longer" in str(told)
        assert await echo.invoke("{}") == "done"


@pytest.mark.parametrize("era", ERAS)
async def test_progress_on_the_stream_of_a_call_reaches_its_listener(engine: str, era: str) -> None:
    note = (
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{id},"progress":1,"total":2,'
        b'"message":"half"}}'
    )
    other = note.replace(b"{id}", b'"not ours"')
    stream = http.sse(http.event(other), http.event(note), http.event(DONE))
    async with peer(stream, era=era) as served, connected(served.url, engine) as connection:
        heard: list[tuple[float, float | None, str | None]] = []
        echo = await echo_of(connection)
        await echo.call("{}", on_progress=lambda *told: heard.append(told))
        assert heard == [(1.0, 2.0, "half")]


async def test_progress_keeps_a_call_from_its_idle_limit(engine: str) -> None:
    note = http.event(
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{id},"progress":1}}'
    )
    quiet = http.then(http.sse(note, end=False), http.silence())
    lively = http.sse(*[note] * 20, http.event(DONE), piece=64)
    async with (
        peer([lively, quiet]) as served,
        connected(served.url, engine, idle_timeout=1.0) as connection,
    ):
        echo = await echo_of(connection)
        assert await echo.invoke("{}") == "done"
        told = await fault(echo)
        assert "1 s without progress" in str(told)
        assert told.may_have_run


async def test_a_question_on_the_stream_of_a_call_is_answered_by_the_sdk(engine: str) -> None:
    """An elicitation and a sampling request: the SDK answers each with a POST of its own, and the call goes on."""
    asked = http.event(
        b'{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"name?","requestedSchema":'
        b'{"type":"object","properties":{}}}}'
    )
    sampled = http.event(
        b'{"jsonrpc":"2.0","id":"q2","method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}'
    )
    stream = http.then(http.sse(asked, sampled, end=False), http.hold("answers"), http.chunk(http.event(DONE)))

    async def elicit(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"name": params.message})

    async def sample(context: Any, params: Any) -> CreateMessageResult:
        return CreateMessageResult(role="assistant", model="m", content=TextContent(type="text", text="hi"))

    async with (
        peer(stream) as served,
        connected(served.url, engine, elicitation_callback=elicit, sampling_callback=sample) as connection,
    ):
        echo = await echo_of(connection)
        async with anyio.create_task_group() as callers:
            callers.start_soon(echo.invoke, "{}")
            answers = await served.arrived("", 2)
            served.release("answers")
        bodies = {bytes(answer.body) for answer in answers if b'"result"' in answer.body}
        assert any(b'"id":"q1"' in body and b'"name?"' in body for body in bodies)
        assert any(b'"id":"q2"' in body and b'"hi"' in body for body in bodies)


async def test_a_changed_list_told_on_the_stream_of_a_call_is_heard(engine: str) -> None:
    note = http.event(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
    async with peer(http.sse(note, http.event(DONE))) as served, connected(served.url, engine) as connection:
        heard: list[bool] = []
        connection.on_tools_changed(lambda: heard.append(True))
        await (await echo_of(connection)).invoke("{}")
        assert heard == [True]


@pytest.mark.parametrize("broken", [http.close(), http.reset(), http.last_chunk()])
async def test_a_stream_that_breaks_behind_an_id_is_taken_up_from_there(engine: str, broken: http.HttpSteps) -> None:
    """Fault J13."""
    first = http.then(http.sse(PRIMING, http.event(b"", id="41"), end=False), broken)
    rest = http.sse(http.event(FIRST, id="42"))
    async with peer(first) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        served.answers["GET"] = rest
        assert await echo.invoke("{}") == "done"
        (resumed,) = [request for request in served.requests("GET") if request.header("last-event-id")]
        assert resumed.header("last-event-id") == "41"
        assert len(served.requests("tools/call")) == 1, "the call itself was not sent again"


async def test_a_stream_that_breaks_again_and_again_is_taken_up_each_time_it_brought_something(engine: str) -> None:
    first = http.then(http.sse(PRIMING, end=False), http.reset())
    rests = [http.then(http.sse(http.event(b"", id=str(number)), end=False), http.reset()) for number in range(1, 9)]
    async with peer(first) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        served.answers["GET"] = [*rests, http.sse(http.event(FIRST, id="9"))]
        assert await echo.invoke("{}") == "done"
        assert len(served.requests("tools/call")) == 1


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        (http.reply(status=405, media=None), "does not resume it (HTTP 405)"),
        (http.reply(status=404, media=None), "does not resume it (HTTP 404)"),
        (http.reply(status=500, media=None), "could not be taken up again"),
        (http.reply(b"{}"), "could not be taken up again"),
        (http.reset(), "could not be taken up again"),
        (http.then(http.sse(end=False), http.reset()), "could not be taken up again"),
    ],
)
async def test_a_stream_that_cannot_be_taken_up_again_ends_the_call_with_may_have_run(
    engine: str, rest: http.HttpSteps, said: str
) -> None:
    first = http.then(http.sse(PRIMING, end=False), http.reset())
    async with peer([first, DONE]) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        served.answers["GET"] = rest
        told = await fault(echo)
        assert said in str(told)
        assert told.may_have_run
        assert len(served.requests("tools/call")) == 1
        assert await echo.invoke("{}") == "done"


async def test_a_stream_without_an_id_that_breaks_ends_the_call_with_may_have_run(engine: str) -> None:
    """Fault J13."""
    broken = http.then(http.sse(http.event(b'{"jsonrpc":"2.0","method":"notifications/x"}'), end=False), http.reset())
    async with peer([broken, DONE]) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        before = len(served.requests("GET"))
        told = await fault(echo)
        assert told.may_have_run
        assert "broke" in str(told) or "ended" in str(told)
        assert [request for request in served.requests("GET")[before:] if request.header("last-event-id")] == []
        assert await echo.invoke("{}") == "done"


async def test_the_deadline_of_a_call_holds_while_its_stream_is_taken_up(engine: str) -> None:
    first = http.then(http.sse(http.event(b"", id="1", retry=60_000), end=False), http.reset())
    async with peer(first) as served, connected(served.url, engine, call_timeout=1.0) as connection:
        told = await fault(await echo_of(connection))
        assert "timed out after 1 s" in str(told)
        assert told.may_have_run


async def test_a_listing_comes_on_a_stream_too(engine: str, piece: Any) -> None:
    page = result(b'{"tools":[{"name":"far","inputSchema":{"type":"object","x":1.50}}]}')
    async with (
        peer(answers={"tools/list": http.sse(http.event(page), piece=piece)}) as served,
        connected(served.url, engine) as connection,
    ):
        assert (await toolwire.tools(connection))["far"].input_schema.raw == b'{"type":"object","x":1.50}'
