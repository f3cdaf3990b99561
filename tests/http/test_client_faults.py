"""What a server does wrong over HTTP, and that it costs one request: the faults of group J, H3, H8, I2."""

import gzip
import zlib
from typing import Any

import anyio
import brotli  # type: ignore[import-untyped]  # its package has no types
import pytest
from backports import zstd
from mcp import MCPError

import toolwire
from tests.http.clients import DONE, ENGINES, PATIENCE, connected, echo_of, fault, peer
from toolwire.testing import HttpPeer, error, http

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]
ANSWER = b'{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"text","text":"done"}]}}'


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("piece", [None, 1])
@pytest.mark.parametrize("framing", ["length", "chunked", "close"])
async def test_an_answer_is_read_in_every_framing_whole_and_one_byte_at_a_time(
    engine: str, framing: http.Framing, piece: int | None
) -> None:
    async with (
        peer(http.reply(DONE, framing=framing, piece=piece)) as served,
        connected(served.url, engine) as connection,
    ):
        assert await (await echo_of(connection)).invoke("{}") == "done"


@pytest.mark.parametrize("media", ["Application/JSON; Charset=utf-8", "application/json", None, "text/plain"])
async def test_a_content_type_in_any_spelling_and_none_are_read(engine: str, media: str | None) -> None:
    """Fault J10. What is no JSON by its type and a message by its bytes is taken, and counted."""
    async with peer(http.reply(DONE, media=media)) as served, connected(served.url, engine) as connection:
        assert await (await echo_of(connection)).invoke("{}") == "done"
        assert connection.wire is not None
        assert connection.wire.counters["odd_content_types"] == (0 if media and "son" in media.lower() else 1)


@pytest.mark.parametrize("text", [b"\xef\xbb\xbf" + ANSWER, b"[" + ANSWER + b"]", ANSWER.replace(b",", b" ,\r\n\t")])
async def test_a_message_is_mended_as_over_stdio(engine: str, text: bytes) -> None:
    async with peer(http.reply(text)) as served, connected(served.url, engine) as connection:
        assert await (await echo_of(connection)).invoke("{}") == "done"


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        (http.reply(status=202, media=None), 202, "HTTP 202 Accepted and no message"),
        (http.reply(status=204, media=None), 204, "HTTP 204 No Content and no message"),
        (http.reply(b""), 200, "HTTP 200 OK and no message"),
        (http.reply(b"<html>log in</html>", media="text/html"), 200, "no message: <html>log in</html>"),
        (http.reply(b"null"), 200, "no message: null"),
    ],
)
async def test_a_request_answered_without_a_message_fails_at_once_with_what_came(
    engine: str, answer: http.HttpSteps, status: int, said: str
) -> None:
    """Fault J3."""
    async with peer([answer, DONE]) as served:
        async with connected(served.url, engine) as connection:
            echo = await echo_of(connection)
            told = await fault(echo)
            assert (told.status, told.may_have_run) == (status, True)
            assert said in str(told)
            assert await echo.invoke("{}") == "done", "the connection stands"
        assert len(served.requests("tools/call")) == 2, "nothing was sent again"


@pytest.mark.parametrize(
    ("status", "headers", "body", "retry", "may_have_run", "said"),
    [
        (
            429,
            {"Retry-After": "7"},
            b'{"error":"slow down"}',
            7.0,
            False,
            "rate limited (HTTP 429 Too Many Requests), ",
        ),
        (503, {"Retry-After": "120"}, b"", 120.0, True, "unavailable (HTTP 503 Service Unavailable)"),
        (503, {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, b"", 0.0, True, "try again in 0 s"),
        (429, {"Retry-After": "soon"}, b"", None, False, "rate limited"),
        (500, {}, b"x" * 5_000, None, True, "x" * 200 + "…"),
        (502, {}, b"<h1>bad gateway</h1>", None, True, "HTTP 502 Bad Gateway: <h1>bad gateway</h1>"),
        (401, {"WWW-Authenticate": "Bearer"}, b"", None, False, "asks for authorization (HTTP 401 Unauthorized)"),
        (403, {}, b"no", None, False, "refuses access (HTTP 403 Forbidden): no"),
        (413, {}, b"", None, False, "HTTP 413"),
        (599, {}, b"", None, True, "HTTP 599"),
    ],
)
async def test_an_error_status_is_told_with_its_body_and_when_to_come_again(
    engine: str,
    status: int,
    headers: dict[str, str],
    body: bytes,
    retry: float | None,
    may_have_run: bool,
    said: str,
) -> None:
    """Fault J4."""
    async with peer([http.reply(body, status=status, headers=headers, media="text/plain"), DONE]) as served:
        async with connected(served.url, engine) as connection:
            echo = await echo_of(connection)
            told = await fault(echo)
            assert (told.status, told.retry_after, told.may_have_run) == (status, retry, may_have_run)
            assert said in str(told)
            assert len(str(told)) < 400
            assert await echo.invoke("{}") == "done"
        assert len(served.requests("tools/call")) == 2


@pytest.mark.parametrize("status", [200, 400, 404, 500])
async def test_the_json_rpc_error_says_more_than_the_status(engine: str, status: int) -> None:
    """Faults J12 and H8."""
    answer = http.reply(error(-32602, "bad date", b'{"field":"when"}'), status=status)
    async with peer(answer) as served, connected(served.url, engine) as connection:
        told = await fault(await echo_of(connection))
    assert str(told) == 'mcp: bad date (invalid params): {"field":"when"}'
    assert (told.code, told.data) == (-32602, b'{"field":"when"}')


async def test_an_error_of_a_limit_keeps_its_code_and_its_status(engine: str) -> None:
    answer = http.reply(error(-32000, "quota"), status=429, headers={"Retry-After": "3"})
    async with peer(answer) as served, connected(served.url, engine) as connection:
        told = await fault(await echo_of(connection))
    assert (told.code, told.status, told.retry_after) == (-32000, 429, 3.0)
    assert "rate limited" in str(told)
    assert "quota" in str(told)


async def test_an_error_without_an_id_answers_the_request_of_its_post(engine: str) -> None:
    """Fault H3."""
    body = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}'
    async with peer(http.reply(body, status=400)) as served, connected(served.url, engine) as connection:
        told = await fault(await echo_of(connection))
    assert (told.code, told.may_have_run) == (-32700, False)


async def test_the_answer_to_another_request_is_not_taken_for_this_one(engine: str) -> None:
    body = b'{"jsonrpc":"2.0","id":7,"result":{"content":[]}}'
    async with peer(http.reply(body)) as served, connected(served.url, engine) as connection:
        told = await fault(await echo_of(connection))
    assert "answered another request" in str(told)
    assert told.may_have_run


async def test_a_broken_answer_with_its_id_fails_with_what_is_wrong(engine: str) -> None:
    async with (
        peer(http.reply(b'{"jsonrpc":"2.0","id":{id},"result":{"content":[],}}')) as served,
        connected(served.url, engine) as connection,
    ):
        told = await fault(await echo_of(connection))
    assert "not JSON" in str(told)
    assert told.may_have_run


async def test_one_500_of_three_calls_fails_one_call(engine: str) -> None:
    """Fault I2."""
    bad = http.then(http.hold("bad"), http.reply(b"", status=500))
    good = http.then(http.hold("good"), http.reply(DONE))
    async with peer([bad, good, good]) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        outcomes: list[str] = []

        async def one() -> None:
            try:
                outcomes.append(await echo.invoke("{}"))
            except toolwire.RemoteCallError as told:
                outcomes.append(str(told.status))

        async with anyio.create_task_group() as callers:
            for _ in range(3):
                callers.start_soon(one)
            await served.arrived("tools/call", 3)
            served.release("bad")
            served.release("good")
        assert sorted(outcomes) == ["500", "done", "done"]


async def test_a_failure_on_the_sdk_s_own_lane_leaves_the_connection_standing(engine: str) -> None:
    """Fault I2. Left alone, the SDK's transport ends with the first request whose connection breaks."""
    async with (
        peer(answers={"resources/list": [http.reset(), http.reply(b"busy", status=503, media=None)]}) as served,
        connected(served.url, engine) as connection,
    ):
        for said in ("the connection broke", "HTTP 503 Service Unavailable"):
            with pytest.raises(Exception, match=said):
                await connection.session.list_resources()
        assert await (await echo_of(connection)).invoke("{}") == "done"


ENCODED = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


def bare(data: bytes) -> bytes:
    """Deflate without zlib's frame, as some servers have it."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize("piece", [None, 1])
@pytest.mark.parametrize("encoding", [*ENCODED, "bare"])
async def test_a_compressed_answer_is_read(engine: str, encoding: str, piece: int | None) -> None:
    """Fault J14."""

    def packed(request: Any) -> http.HttpSteps:
        text = ANSWER.replace(b"{id}", str(request.message.raw("id")).encode())
        pack = bare if encoding == "bare" else ENCODED[encoding]
        coding = "deflate" if encoding == "bare" else encoding
        return http.reply(pack(text), headers={"Content-Encoding": coding}, verbatim=True, piece=piece)

    async with peer(packed) as served:
        async with connected(served.url, engine) as connection:
            assert await (await echo_of(connection)).invoke("{}") == "done"
        offered = served.requests("tools/call")[0].header("accept-encoding")
        assert offered is not None
        assert set(offered.replace(" ", "").split(",")) == set(ENCODED)


@pytest.mark.parametrize("encoding", ENCODED)
async def test_a_bomb_ends_its_own_request_only(engine: str, encoding: str) -> None:
    """Fault J14: a few bytes that stand for 64 MiB."""
    bomb = ENCODED[encoding](b" " * (64 << 20))
    answers = [http.reply(bomb, headers={"Content-Encoding": encoding}, verbatim=True), DONE]
    async with peer(answers) as served, connected(served.url, engine, line_limit=1 << 20) as connection:
        echo = await echo_of(connection)
        told = await fault(echo)
        assert "longer than 1,048,576 bytes" in str(told)
        assert told.may_have_run
        assert await echo.invoke("{}") == "done"


async def test_an_answer_over_the_limit_ends_its_own_request_only(engine: str) -> None:
    long = http.then(http.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n"), http.send(b" " * 2_000_000))
    async with peer([long, DONE]) as served, connected(served.url, engine, line_limit=1 << 20) as connection:
        echo = await echo_of(connection)
        assert "longer than 1,048,576 bytes" in str(await fault(echo))
        assert await echo.invoke("{}") == "done"


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
async def test_what_is_not_compressed_as_it_says_fails_alone(engine: str, coding: str) -> None:
    async with (
        peer([http.reply(DONE, headers={"Content-Encoding": coding}), DONE]) as served,
        connected(served.url, engine) as connection,
    ):
        echo = await echo_of(connection)
        assert f"no {coding}" in str(await fault(echo))
        assert await echo.invoke("{}") == "done"


async def test_an_encoding_that_was_not_asked_for_is_named(engine: str) -> None:
    async with (
        peer(http.reply(DONE, headers={"Content-Encoding": "compress"})) as served,
        connected(served.url, engine) as connection,
    ):
        assert "'compress', which was not asked for" in str(await fault(await echo_of(connection)))


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_on_the_same_origin_is_followed_with_the_same_bytes(engine: str, status: int) -> None:
    """Fault J14."""
    moved = http.reply(status=status, headers={"Location": "/mcp/"}, media=None)

    async with peer([moved, DONE]) as served:
        async with connected(served.url, engine) as connection:
            assert await (await echo_of(connection)).invoke('{"n":1.50}') == "done"
        first, second = served.requests("tools/call")
        assert (first.target, second.target) == ("/mcp", "/mcp/")
        assert first.body == second.body


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_elsewhere_is_not_followed_and_no_credential_goes_there(engine: str, status: int) -> None:
    """Fault J14."""
    async with HttpPeer() as other:
        location = other.url + "?secret=1"
        async with peer([http.reply(status=status, headers={"Location": location}, media=None), DONE]) as served:
            options = {"headers": {"Authorization": "Bearer secret"}} if engine == "fast" else {}
            async with connected(served.url, engine, **options) as connection:
                echo = await echo_of(connection)
                told = await fault(echo)
                assert (told.status, told.may_have_run) == (status, False)
                assert f"the redirect to {other.url} is not followed" in str(told)
                assert await echo.invoke("{}") == "done"
        assert other.received == []


async def test_a_redirect_that_turns_in_a_circle_ends(engine: str) -> None:
    async with peer(http.reply(status=307, headers={"Location": "/mcp"}, media=None)) as served:
        async with connected(served.url, engine) as connection:
            assert (await fault(await echo_of(connection))).status == 307
        assert len(served.requests("tools/call")) == 6


async def test_a_long_silence_and_then_everything_at_once_is_an_answer(engine: str) -> None:
    """Fault J14: a proxy that buffers."""
    async with (
        peer(http.then(http.hold("proxy"), http.reply(DONE))) as served,
        connected(served.url, engine) as connection,
    ):
        echo = await echo_of(connection)
        async with anyio.create_task_group() as callers:
            callers.start_soon(echo.invoke, "{}")
            await served.held("proxy")
            served.release("proxy")


@pytest.mark.parametrize(
    ("answer", "may_have_run"),
    [
        (http.close(), True),
        (http.reset(), True),
        (http.then(http.send(b"HTTP/1.1 200 OK\r\nContent-Ty"), http.reset()), True),
        (http.then(http.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"), http.reset()), True),
        (http.then(http.send(b'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"jsonrpc'), http.close()), True),
        (http.then(http.send(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"jso'), http.reset()), True),
        (http.then(http.sse(end=False), http.chunk(b'data: {"jsonrpc"'), http.reset()), True),
        (http.send(b"no HTTP at all\r\n\r\n"), True),
    ],
)
async def test_a_connection_that_breaks_after_the_call_was_written_says_may_have_run(
    engine: str, answer: http.HttpSteps, may_have_run: bool
) -> None:
    """Fault I3, at each stage of the answer."""
    async with peer([answer, DONE]) as served:
        async with connected(served.url, engine) as connection:
            echo = await echo_of(connection)
            told = await fault(echo)
            assert told.may_have_run is may_have_run
            assert "may have run" in str(told)
            assert await echo.invoke("{}") == "done", "the connection stands"
        assert len(served.requests("tools/call")) == 2, "the call was not sent again"


async def test_a_server_that_is_down_has_not_run_the_call_and_is_called_again_when_it_is_up(engine: str) -> None:
    async with peer() as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        served.go_down()
        while (told := await fault(echo)).may_have_run:
            """A connection that was kept may still have looked alive when the call was written."""
        assert "may have run" not in str(told)
        await served.come_back()
        assert await echo.invoke("{}") == "done"


async def test_a_listing_whose_connection_breaks_is_asked_for_once_more(engine: str) -> None:
    """A listing has no effect; a keep-alive connection may always die under it."""
    async with peer() as served:
        good: Any = served.answers["tools/list"]
        served.answers["tools/list"] = [http.reset(), good]
        async with connected(served.url, engine) as connection:
            assert (await toolwire.tools(connection)).names == ("echo",)
            served.answers["tools/list"] = http.reset()
            with pytest.raises(toolwire.RemoteCallError) as caught:
                await toolwire.tools(connection)
            assert caught.value.may_have_run is False
        assert len(served.requests("tools/list")) == 4


async def test_a_call_that_waits_for_a_place_times_out_without_having_run(engine: str) -> None:
    async with peer(http.silence()) as served, connected(served.url, engine, in_flight=1) as connection:
        patient = await echo_of(connection)
        hasty = (await toolwire.tools(connection, policy=toolwire.timeout(0.1)))["echo"]
        async with anyio.create_task_group() as callers:
            callers.start_soon(patient.invoke, "{}")
            await served.arrived("tools/call")
            told = await fault(hasty)
            assert "timed out after 0.1 s, before it was sent" in str(told)
            assert told.may_have_run is False
            callers.cancel_scope.cancel()
        assert len(served.requests("tools/call")) == 1


async def test_closing_ends_the_calls_in_flight_with_what_is_known_of_them(engine: str) -> None:
    async with peer(http.silence()) as served:
        with anyio.fail_after(PATIENCE):
            async with connected(served.url, engine) as connection:
                echo = await echo_of(connection)
                async with anyio.create_task_group() as callers:

                    async def one() -> None:
                        told = await fault(echo)
                        assert told.may_have_run
                        assert "closed" in str(told)

                    callers.start_soon(one)
                    await served.arrived("tools/call")
                    await connection.aclose()
                told = await fault(echo)
                assert told.may_have_run is False


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (401, {"WWW-Authenticate": "Bearer"}, "the server asks for authorization (HTTP 401 Unauthorized)"),
        (403, {}, "the server refuses access (HTTP 403 Forbidden)"),
        (405, {}, "the server answered with HTTP 405 Method Not Allowed"),
        (429, {"Retry-After": "7"}, "rate limited (HTTP 429 Too Many Requests), try again in 7 s"),
        (503, {"Retry-After": "3"}, "the server is unavailable (HTTP 503 Service Unavailable), try again in 3 s"),
    ],
)
@pytest.mark.parametrize("encoded", [False, True])
async def test_a_handshake_that_is_refused_says_why_whatever_its_body_is(
    engine: str, status: int, headers: dict[str, str], said: str, encoded: bool
) -> None:
    """Fault J4: its body is JSON, and no JSON-RPC."""
    body = b'{"error":"slow down"}'
    coding = {"Content-Encoding": "gzip"} if encoded else {}
    answer = http.reply(
        gzip.compress(body) if encoded else body, status=status, headers={**headers, **coding}, verbatim=True
    )
    async with HttpPeer({"server/discover": answer, "initialize": answer}) as served:
        with pytest.raises(toolwire.ConnectError) as caught:
            async with connected(served.url, engine):
                raise AssertionError("there is no session")
    assert f"failed: {said}: {body.decode()}" in str(caught.value)


async def test_a_json_rpc_error_of_a_refused_request_of_the_sdk_is_passed_on(engine: str) -> None:
    answer = http.reply(error(-32000, "quota"), status=429)
    async with (
        peer(answers={"resources/list": answer}) as served,
        connected(served.url, engine) as connection,
    ):
        with pytest.raises(MCPError, match=r"^quota$") as caught:
            await connection.session.list_resources()
    assert caught.value.code == -32000


async def test_a_secret_in_the_url_is_in_no_error_text(engine: str) -> None:
    garbage = http.then(http.send(b"no HTTP at all\r\n\r\n"), http.close())
    async with (
        peer([garbage, http.reset(), http.reply(b"no", status=500)]) as served,
        connected(f"{served.url}?key=hush", engine) as connection,
    ):
        echo = await echo_of(connection)
        for _ in range(3):
            assert "hush" not in str(await fault(echo))
