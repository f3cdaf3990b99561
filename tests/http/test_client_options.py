"""Headers and `_meta` of one call, over the connection that is there (K1)."""

import json
import sys
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import mcp
import pytest
from mcp.server.lowlevel import Server

import toolwire
from tests.http.clients import ENGINES, ERAS, connected, echo_of, peer
from toolwire.testing import RawServer, http, listing, result

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def meta_of(request: Any) -> dict[str, Any]:
    """The caller's own members of `_meta`."""
    meta = json.loads(request.body).get("params", {}).get("_meta", {})
    return {name: value for name, value in meta.items() if "/" not in name}


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_carries_the_headers_and_the_meta_that_stand_around_it(engine: str, era: str) -> None:
    async with peer(era=era) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)
        with toolwire.call_options(headers={"X-Tenant": "acme"}, meta={"trace": 1}):
            await echo.invoke("{}")
            with toolwire.call_options(headers={"x-tenant": "other", "x-more": "1"}, meta={"more": [1.5]}):
                await echo.invoke("{}")
        await echo.invoke("{}")
        first, second, third = served.requests("tools/call")
        assert [call.header("x-tenant") for call in (first, second, third)] == ["acme", "other", None]
        assert [call.header("x-more") for call in (first, second, third)] == [None, "1", None]
        assert [meta_of(call) for call in (first, second, third)] == [{"trace": 1}, {"trace": 1, "more": [1.5]}, {}]
        assert len(served.requests("initialize")) <= 1, "no other connection was opened"


async def test_two_callers_side_by_side_have_each_their_own(engine: str) -> None:
    held = http.then(http.hold("both"), http.reply(result(b'{"content":[]}')))
    async with peer(held) as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)

        async def one(tenant: str) -> None:
            with toolwire.call_options(headers={"x-tenant": tenant}, meta={"tenant": tenant}):
                await echo.invoke(json.dumps({"tenant": tenant}))

        async with anyio.create_task_group() as callers:
            for tenant in ("a", "b", "c"):
                callers.start_soon(one, tenant)
            calls = await served.arrived("tools/call", 3)
            served.release("both")
        for call in calls:
            tenant = json.loads(call.body)["params"]["arguments"]["tenant"]
            assert (call.header("x-tenant"), meta_of(call)) == (tenant, {"tenant": tenant})


async def test_a_listing_and_the_sdk_s_own_requests_carry_the_headers_too(engine: str) -> None:
    answers = {"resources/list": result(b'{"resources":[]}')}
    async with peer(answers=answers) as served, connected(served.url, engine) as connection:
        with toolwire.call_options(headers={"x-tenant": "acme"}):
            await toolwire.tools(connection)
            await connection.session.list_resources()
        await connection.session.list_resources()
        sent = [request.header("x-tenant") for request in served.requests("resources/list")]
        assert sent == ["acme", None]
        assert served.requests("tools/list")[0].header("x-tenant") == "acme"


async def test_a_discovered_tool_carries_them_too_under_the_host_s_own_meta(engine: str) -> None:
    async with peer() as served, connected(served.url, engine) as connection:
        (tool,) = await toolwire.discover(
            [toolwire.Source("far", connection)], request_meta=lambda invocation: {"host": 1, "both": "host"}
        )
        with toolwire.call_options(headers={"x-tenant": "acme"}, meta={"caller": 2, "both": "caller"}):
            await tool.call("{}")
        (call,) = served.requests("tools/call")
        assert call.header("x-tenant") == "acme"
        assert meta_of(call) == {"host": 1, "caller": 2, "both": "host"}


async def test_a_call_from_another_thread_carries_what_stands_around_it_there(engine: str) -> None:
    async with peer() as served, connected(served.url, engine) as connection:
        echo = await echo_of(connection)

        def elsewhere() -> None:
            with toolwire.call_options(headers={"x-tenant": "acme"}, meta={"trace": 1}):
                echo.invoke_sync("{}")

        await anyio.to_thread.run_sync(elsewhere)
        await echo.invoke("{}")
        first, second = served.requests("tools/call")
        assert (first.header("x-tenant"), meta_of(first)) == ("acme", {"trace": 1})
        assert (second.header("x-tenant"), meta_of(second)) == (None, {})


async def test_a_discovered_tool_tells_the_status_of_a_refusal(engine: str) -> None:
    answer = http.reply(b"slow down", status=429, headers={"Retry-After": "7"}, media="text/plain")
    async with peer(answer) as served, connected(served.url, engine) as connection:
        (tool,) = await toolwire.discover([toolwire.Source("far", connection)])
        with pytest.raises(toolwire.RemoteCallError, match="rate limited") as caught:
            await tool.call("{}")
        assert (caught.value.status, caught.value.retry_after) == (429, 7.0)


async def test_over_stdio_the_meta_goes_with_the_call_and_there_is_no_header_to_send() -> None:
    answers = {"tools/list": listing(b'{"name":"echo","inputSchema":{"type":"object"}}')}
    answers["tools/call"] = result(b'{"content":[]}')
    with RawServer(answers) as server:
        async with toolwire.connect(server.argv) as connection:
            echo = (await toolwire.tools(connection))["echo"]
            with toolwire.call_options(headers={"x-tenant": "acme"}, meta={"trace": "ü", "n": 2}):
                await echo.invoke("{}")
            await echo.invoke("{}")
        first, second = (json.loads(line) for line in server.requests("tools/call"))
        assert first["params"]["_meta"] == {"trace": "ü", "n": 2}
        assert "_meta" not in second["params"]


async def test_a_session_without_a_wire_carries_the_meta_too() -> None:
    seen: list[Any] = []
    server = Server("shop")

    @toolwire.tool
    async def look() -> str:
        """Looks."""
        request = toolwire.current_request()
        seen.append(dict(request.meta) if request else None)
        return "seen"

    toolwire.add_tools(server, look)
    async with mcp.Client(server) as client:
        tool = (await toolwire.tools(client))["look"]
        with toolwire.call_options(meta={"trace": 1}):
            await tool.invoke("{}")
    assert seen[0]["trace"] == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Mcp-Session-Id": "x"},
        {"mcp-name": "x"},
        {"Content-Type": "text/plain"},
        {"content-length": "0"},
        {"Host": "elsewhere"},
        {"Transfer-Encoding": "chunked"},
        {"Last-Event-ID": "1"},
        {"x-split": "a\r\nx-other: b"},
        {"x split": "a"},
        {"x-split": "ü"},
    ],
)
async def test_a_header_that_is_the_protocol_s_or_none_at_all_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="header"), toolwire.call_options(headers=headers):
        raise AssertionError("not reached")


@pytest.mark.parametrize("value", ["Bearer hush\n", "hush ü", "hush\0", 5, None])
def test_a_header_of_a_connection_that_cannot_be_sent_is_named_without_its_value(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^the header 'Authorization' is no name with a text of visible ASCII$"):
        toolwire.connect("http://127.0.0.1:1/mcp", headers={"Authorization": value})


@pytest.mark.parametrize("meta", [{"progressToken": 1}, {"io.modelcontextprotocol/protocolVersion": "1"}])
async def test_a_member_of_meta_that_is_the_protocol_s_is_refused(meta: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="protocol"), toolwire.call_options(meta=meta):
        raise AssertionError("not reached")


async def test_what_is_no_json_is_refused_as_meta() -> None:
    with pytest.raises(TypeError), toolwire.call_options(meta={"x": sys}):
        raise AssertionError("not reached")


GIVEN = {
    "Mcp-Tenant": "acme",
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "baggage": "a=b",
    "Accept-Encoding": "identity",
    "User-Agent": "me",
}


@pytest.mark.parametrize("era", ERAS)
async def test_what_the_connection_was_given_stands_on_every_request(engine: str, era: str) -> None:
    """Also under names that one request would carry by itself; what is the protocol's stays the protocol's."""
    mine = {**GIVEN, "Mcp-Method": "mine", "Mcp-Protocol-Version": "1999-01-01"}
    async with peer(era=era) as served:
        client = httpx2.AsyncClient(headers=mine)
        options: dict[str, Any] = {"headers": mine} if engine == "fast" else {"http_client": client}
        async with client, toolwire.connect(served.url, **options) as connection:
            tool = await echo_of(connection)
            await tool.invoke("{}")
            with toolwire.call_options(headers={"baggage": "c=d"}):
                await tool.invoke("{}")
        first, second = served.requests("tools/call")
        assert {name: first.header(name) for name in GIVEN} == GIVEN
        assert first.header("mcp-protocol-version") == era
        assert second.header("baggage") == "c=d"
