"""The express lane over HTTP: what goes out in a POST, and what comes back of it unchanged."""

import gc
import importlib.util
import json
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp
import pytest

import toolwire
from tests.http.clients import DONE, ENGINES, ERAS, PATIENCE, connected, echo_of, fault, peer
from toolwire.bridge.source import Source
from toolwire.testing import HttpPeer, http, listing, result

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]
EXPRESS = 1_000_000_000
SCHEMA = b'{"type":"object","properties":{"n":{"type":"number","maximum":1.50}}}'
EXACT = listing(b'{"name":"echo","description":"d","inputSchema":%s}' % SCHEMA)


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def went_express(request: Any) -> bool:
    """The request's id is one of the express lane."""
    return int(request.message.raw("id")) >= EXPRESS


async def test_the_first_listing_and_every_call_go_express_with_their_bytes_unchanged(engine: str, era: str) -> None:
    arguments = '{"n":1.50,"big":123456789012345678901234567890,"e":1E400,"é":"\\u00e9","neg":-0}'
    answer = result(b'{"content":[],"structuredContent":{"b":1.50,"a":1e3},"resultType":"complete"}')
    async with (
        peer(answer, era=era, answers={"tools/list": EXACT}) as served,
        connected(served.url, engine) as connection,
    ):
        tools = await toolwire.tools(connection)
        output = await tools["echo"].call(arguments)
        assert tools["echo"].input_schema.raw == SCHEMA
        assert output.structured == b'{"b":1.50,"a":1e3}'
        (listed,), (called,) = served.requests("tools/list"), served.requests("tools/call")
        assert went_express(listed)
        assert went_express(called)
        assert b'"arguments":' + arguments.encode() in called.body


async def test_a_post_carries_what_the_sdk_s_own_requests_carry(engine: str, era: str) -> None:
    async with peer(era=era) as served, connected(served.url, engine) as connection:
        await (await echo_of(connection)).invoke("{}")
        await connection.session.list_tools()
        await connection.session.call_tool("echo", {})
        for method in ("tools/list", "tools/call"):
            express, sdk = served.requests(method)
            assert (went_express(express), went_express(sdk)) == (True, False)
            left, right = (
                {
                    name.lower(): value
                    for name, value in request.headers
                    if name.lower() not in ("connection", "content-length")
                }
                for request in (express, sdk)
            )
            assert left == right


async def test_a_client_that_adopts_a_version_lists_verbatim_with_its_first_request(engine: str) -> None:
    async with (
        peer(era="2026-07-28", answers={"tools/list": EXACT}) as served,
        connected(served.url, engine, mode="2026-07-28") as connection,
    ):
        echo = await echo_of(connection)
        await echo.invoke("{}")
        assert echo.input_schema.raw == SCHEMA
        assert [request.method for request in served.received] == ["tools/list", "tools/call"]
        assert went_express(served.received[1])


async def test_what_fails_before_express_is_open_is_told_as_well_as_later(engine: str) -> None:
    """A client that adopts a version: its first request goes out with what the SDK has stamped on it."""
    busy = http.reply(b"busy", status=503, headers={"Retry-After": "4"}, media="text/plain")
    async with (
        peer(era="2026-07-28", answers={"tools/list": [busy, http.close(), http.close(), EXACT]}) as served,
        connected(served.url, engine, mode="2026-07-28") as connection,
    ):
        with pytest.raises(toolwire.RemoteCallError) as caught:
            await toolwire.tools(connection)
        assert (caught.value.status, caught.value.retry_after, caught.value.may_have_run) == (503, 4.0, False)
        with pytest.raises(toolwire.RemoteCallError, match="tools/list"):
            await toolwire.tools(connection)
        assert (await toolwire.tools(connection)).names == ("echo",)


async def test_a_first_call_of_a_client_that_adopts_a_version_keeps_its_bytes_and_its_error(engine: str) -> None:
    """Without a listing before it: the SDK stamps the request, and what is posted are the caller's bytes."""
    answers = [http.reply(status=429, media=None), DONE]
    async with (
        peer(answers, era="2026-07-28") as served,
        connected(served.url, engine, mode="2026-07-28") as connection,
    ):
        source = Source(connection)
        with pytest.raises(toolwire.RemoteCallError, match="rate limited"):
            await source.call("echo", b'{"n":1.50}', None)
        assert (await source.call("echo", b'{"n":1.50}', None)).render("auto") == "done"
        assert all(b'"arguments":{"n":1.50}' in call.body for call in served.requests("tools/call"))


async def test_the_sdk_s_own_client_on_the_wire_works_unchanged(era: str) -> None:
    async with peer(era=era) as served, connected(served.url) as connection:
        listed = await connection.client.list_tools()
        called = await connection.client.call_tool("echo", {"n": 1})
        assert [tool.name for tool in listed.tools] == ["echo"]
        assert called.content == [mcp.types.TextContent(type="text", text="done")]


async def test_thirty_two_in_flight_are_answered_each_with_its_own(engine: str, era: str) -> None:
    own = result(b'{"content":[],"structuredContent":{args},"resultType":"complete"}')
    async with peer(own, era=era) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        answers: dict[int, str] = {}

        async def one(number: int) -> None:
            answers[number] = await echo.invoke(f'{{"n":{number}}}')

        async with anyio.create_task_group() as callers:
            for number in range(32):
                callers.start_soon(one, number)
        assert answers == {number: f'{{"n":{number}}}' for number in range(32)}


async def test_arguments_of_many_megabytes_go_out_in_one_piece(engine: str) -> None:
    """Fault C12."""
    async with peer() as served, connected(served.url, engine) as connection:
        assert await (await echo_of(connection)).invoke('{"n":"' + "x" * 20_000_000 + '"}') == "done"
        assert len(served.requests("tools/call")[0].body) > 20_000_000


async def test_no_more_connections_are_opened_than_calls_may_be_in_flight(engine: str) -> None:
    async with peer() as served, connected(served.url, engine, in_flight=2) as connection:
        echo = await echo_of(connection)
        before = len(served.connections)
        async with anyio.create_task_group() as callers:
            for _ in range(20):
                callers.start_soon(echo.invoke, "{}")
        assert len(served.requests("tools/call")) == 20
        assert len(served.connections) - before <= 2


HEADED = (
    b'{"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},'
    b'"limit":{"type":"integer","x-mcp-header":"Limit"},"dry":{"type":"boolean","x-mcp-header":"Dry"}}}}'
)
BAD = b'{"name":"bad","inputSchema":{"type":"object","properties":{"x":{"type":"object","x-mcp-header":"X"}}}}'


def of_the_protocol(request: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers if name.lower().startswith("mcp-")}


async def test_arguments_are_mirrored_in_headers_as_the_sdk_mirrors_them(engine: str) -> None:
    """Fault C15."""
    async with (
        peer(era="2026-07-28", answers={"tools/list": listing(HEADED, BAD)}) as served,
        connected(served.url, engine) as connection,
    ):
        tools = await toolwire.tools(connection)
        await connection.session.list_tools()
        for arguments in (
            {"region": "eu-1", "limit": 5, "dry": True},
            {"region": "Zürich\n", "limit": -1, "dry": False},
            {"region": " padded ", "limit": None},
            {},
        ):
            served.received.clear()
            await tools["query"].invoke(json.dumps(arguments))
            await connection.session.call_tool("query", arguments)
            ours, theirs = map(of_the_protocol, served.requests("tools/call"))
            assert ours == theirs
        long = b'{"region":"eu","limit":%s}' % (b"1" * 5_000)
        served.received.clear()
        await tools["query"].invoke(long)
        (request,) = served.requests("tools/call")
        assert b'"arguments":' + long in request.body
        assert of_the_protocol(request)["mcp-param-region"] == "eu"
        assert "mcp-param-limit" not in of_the_protocol(request), "the SDK's server takes no such number from a header"
        assert tools.names == ("query",)
        assert [record.name for record in tools.skipped] == ["bad"], "the protocol drops it, and it is told"


async def test_on_a_handshake_session_nothing_is_mirrored_and_nothing_dropped(engine: str) -> None:
    async with (
        peer(sessions=["one"], answers={"tools/list": listing(HEADED, BAD)}) as served,
        connected(served.url, engine) as connection,
    ):
        tools = await toolwire.tools(connection)
        await tools["query"].invoke('{"region":"eu"}')
        assert tools.names == ("query", "bad")
        assert of_the_protocol(served.requests("tools/call")[0]) == {
            "mcp-session-id": "one",
            "mcp-protocol-version": "2025-11-25",
        }


class Signing(httpx2.Auth):
    """Signs each request by itself: what it added to one is wrong for the next."""

    def __init__(self) -> None:
        self.count = 0

    async def async_auth_flow(self, request: httpx2.Request) -> Any:
        self.count += 1
        request.headers["authorization"] = f"signed {self.count}"
        yield request


async def test_an_auth_that_signs_signs_every_express_request_and_none_is_replayed() -> None:
    async with peer() as served, connected(served.url, auth=Signing()) as connection:
        echo = await echo_of(connection)
        await echo.invoke("{}")
        await echo.invoke("{}")
        signatures = [request.header("authorization") for request in served.received]
        assert len(set(signatures)) == len(signatures)
        assert went_express(served.requests("tools/call")[0])


class Failing(Signing):
    """Signs until it is told not to."""

    broken = False

    async def async_auth_flow(self, request: httpx2.Request) -> Any:
        if self.broken:
            raise RuntimeError("the key is gone")
        yield request


async def test_an_auth_that_raises_fails_its_own_call_which_has_not_run() -> None:
    auth = Failing()
    async with peer() as served, connected(served.url, auth=auth) as connection:
        echo = await echo_of(connection)
        auth.broken = True
        told = await fault(echo)
        assert "the key is gone" in str(told)
        assert told.may_have_run is False
        auth.broken = False
        assert await echo.invoke("{}") == "done"


async def test_a_password_in_the_url_is_sent_as_the_sdk_sends_it() -> None:
    async with peer() as served, connected(served.url.replace("http://", "http://ada:secret@")) as connection:
        await (await echo_of(connection)).invoke("{}")
        assert {request.header("authorization") for request in served.received} == {"Basic YWRhOnNlY3JldA=="}


async def test_without_aiohttp_the_sdk_s_client_carries_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "toolwire.wire.http_client.engines.find_spec", lambda name: None if name == "aiohttp" else found(name)
    )
    async with peer() as served, connected(served.url) as connection:
        assert await (await echo_of(connection)).invoke("{}") == "done"
        assert served.requests("tools/call")[0].header("connection") == "keep-alive"


async def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with peer() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/mcp"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        async with connected("http://far.example/mcp") as connection:
            assert await (await echo_of(connection)).invoke("{}") == "done"
        assert {request.target for request in proxy.received} == {"http://far.example/mcp"}


async def test_the_sdk_s_transport_asks_no_more_of_a_client_than_it_is_given() -> None:
    """`WatchedClient` stands in for a client: what the transport asks of it beside `send` goes to the real one."""
    asked: set[str] = set()

    class Asked(httpx2.AsyncClient):
        def __getattribute__(self, name: str) -> Any:
            asked.add(name)
            return super().__getattribute__(name)

    async with HttpPeer({"tools/list": EXACT}) as served:
        with anyio.fail_after(PATIENCE):
            async with Asked() as client, toolwire.connect(served.url, http_client=client) as connection:
                await connection.session.list_tools()
    assert {"build_request", "send"} <= asked
    assert not asked & {"post", "get", "stream", "request", "sse"}, "a way around the watch"


@pytest.mark.parametrize(
    "answer",
    [
        http.reply(status=204, media=None),
        http.reply(media=None),
        http.reply(b"null"),
        http.reply(b"ok", media="text/plain"),
        http.reply(status=500, media=None),
    ],
)
async def test_a_notification_may_be_answered_with_anything(engine: str, answer: http.HttpSteps) -> None:
    """Fault J2."""
    async with (
        peer(answers={"notifications/initialized": answer}) as served,
        connected(served.url, engine) as connection,
    ):
        assert await (await echo_of(connection)).invoke("{}") == "done"


def descriptors() -> int:
    """Open in this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_many_connections_leave_no_descriptor_behind(engine: str) -> None:
    async with peer() as served:
        async with connected(served.url, engine) as connection:
            await echo_of(connection)
        gc.collect()
        before = descriptors()
        for _ in range(20):
            async with connected(served.url, engine) as connection:
                await (await echo_of(connection)).invoke("{}")
        gc.collect()
        # The peer, in this process too, may not have closed its ends of the last ones yet.
        assert descriptors() <= before + 6


@pytest.mark.parametrize(
    "address",
    ["/mcp?sig=%2f%2F%7E%41&k=a+b", "/mcp?k=a b|{c}[d]", "/mcp?k=100%", "/t%41x/%7Eme/a%2Fb", "/[a]/é", "/a/../b?é"],
)
async def test_every_request_goes_to_the_address_that_was_given_escapes_and_all(engine: str, address: str) -> None:
    """What is signed, or a key, is compared by its bytes; the SDK's client says how the address is written."""
    async with peer() as served:
        root = served.url.removesuffix("/mcp")
        async with connected(root + address, engine) as connection:
            await (await echo_of(connection)).invoke("{}")
        targets = {request.target for request in served.received}
        assert targets == {httpx2.URL(root + address).raw_path.decode()}
