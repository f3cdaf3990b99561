"""`connect(app)`: the app of a server in this process, without a socket, in each era and each form that it has."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import mcp_types
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

import toolwire
from toolwire.wire.http_client.asgi import AsgiTransport

# The SDK's transport leaves its stream of events to the garbage collector, of which trio complains.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")

PATIENCE = 20
FORMS = {
    "stateful, events": {},
    "stateful, json": {"json_response": True},
    "stateless, events": {"stateless_http": True},
    "stateless, json": {"stateless_http": True, "json_response": True},
}
every_form = pytest.mark.parametrize("form", FORMS)
every_era = pytest.mark.parametrize("mode", ["legacy", "auto"])


class Shop:
    """A server with tools that can be watched, and the app of it."""

    def __init__(self) -> None:
        self.begun, self.cancelled, self.go = anyio.Event(), anyio.Event(), anyio.Event()
        self.calls: list[str] = []

        @toolwire.tool
        async def price(item: str, quantity: int = 1) -> dict[str, int]:
            """Tells a price."""
            self.calls.append(item)
            await toolwire.report_progress(1, 2, "half")
            return {"total": 2 * quantity}

        @toolwire.tool
        async def wait() -> str:
            """Waits."""
            self.begun.set()
            try:
                await self.go.wait()
            except BaseException:
                self.cancelled.set()
                raise
            return "done"

        self.server: Server[Any] = Server("shop", version="1")
        toolwire.add_tools(self.server, price, wait)

    @asynccontextmanager
    async def open(self, form: str, mode: Any, **options: Any) -> AsyncIterator[toolwire.Connection]:
        app = toolwire.http_app(self.server, **FORMS[form])
        with anyio.fail_after(PATIENCE):
            async with toolwire.connect(app, mode=mode, **options) as connection:
                yield connection


@every_form
@every_era
async def test_an_app_is_listed_and_called(form: str, mode: str) -> None:
    async with Shop().open(form, mode) as connection:
        assert (connection.session.protocol_version or "").startswith("2026" if mode == "auto" else "2025")
        tools = await toolwire.tools(connection)
        assert tools.names == ("price", "wait")
        assert await tools["price"].invoke(b'{"item":"tea","quantity":3}') == '{"total":6}'
        with pytest.raises(toolwire.ToolFailure, match='field "quantity": expected integer, got string'):
            await tools["price"].invoke(b'{"item":"tea","quantity":"3"}')


@every_form
@every_era
async def test_many_calls_at_once_end_each_with_its_own_answer_and_none_runs_twice(form: str, mode: str) -> None:
    shop = Shop()
    answers: dict[int, str] = {}
    async with shop.open(form, mode) as connection:
        price = (await toolwire.tools(connection))["price"]

        async def ask(number: int) -> None:
            answers[number] = await price.invoke(b'{"item":"%d","quantity":%d}' % (number, number))

        async with anyio.create_task_group() as group:
            for number in range(30):
                group.start_soon(ask, number)
    assert answers == {number: f'{{"total":{2 * number}}}' for number in range(30)}
    assert sorted(shop.calls, key=int) == list(map(str, range(30)))


@pytest.mark.parametrize("form", ["stateful, events", "stateless, events"])
@every_era
async def test_progress_comes_while_the_call_runs(form: str, mode: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with Shop().open(form, mode) as connection:
        await connection.client.call_tool("price", {"item": "tea"}, progress_callback=hear)
    assert heard == [(1, 2, "half")]


@pytest.mark.parametrize(
    ("form", "mode"), [("stateful, events", "legacy"), ("stateful, json", "legacy"), ("stateful, events", "auto")]
)
async def test_a_cancelled_call_is_cancelled_in_the_server(form: str, mode: str) -> None:
    """On 2026-07-28 a request is cancelled by leaving it, for which the SDK does not watch in its JSON form."""
    shop = Shop()
    async with shop.open(form, mode) as connection:
        wait = (await toolwire.tools(connection))["wait"]
        async with anyio.create_task_group() as group:
            group.start_soon(wait.invoke, b"{}")
            await shop.begun.wait()
            group.cancel_scope.cancel()
        await shop.cancelled.wait()


@every_form
@every_era
async def test_closing_ends_a_call_in_flight_on_both_sides(form: str, mode: str) -> None:
    shop = Shop()
    said: list[str] = []
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group, shop.open(form, mode) as connection:
            wait = (await toolwire.tools(connection))["wait"]

            async def call() -> None:
                with pytest.raises(toolwire.RemoteCallError) as caught:
                    await wait.invoke(b"{}")
                said.append(str(caught.value))

            group.start_soon(call)
            await shop.begun.wait()
            await connection.aclose()
        await shop.cancelled.wait()
    assert len(said) == 1


class Answer(BaseModel):
    name: str


@pytest.mark.parametrize("form", ["stateful, events"])
async def test_a_server_asks_its_client_in_the_middle_of_a_call(form: str) -> None:
    server = MCPServer("asking")

    @server.tool()
    async def greet(ctx: Context) -> str:
        answer = await ctx.elicit("Your name?", Answer)
        return f"hello {answer.data.name}" if answer.action == "accept" else "hello"

    async def told(context: Any, params: Any) -> mcp_types.ElicitResult:
        assert params.message == "Your name?"
        return mcp_types.ElicitResult(action="accept", content={"name": "Ada"})

    app = toolwire.http_app(server, **FORMS[form])
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(app, mode="legacy", elicitation_callback=told) as connection:
            assert await (await toolwire.tools(connection))["greet"].invoke(b"{}") == '{"result":"hello Ada"}'


async def test_headers_and_another_address_reach_the_app() -> None:
    seen: list[tuple[str, str | None]] = []
    server: Server[Any] = Server("shop")
    inner = toolwire.http_app(server, streamable_http_path="/tools", transport_security=None, host="shop.example")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = dict(scope["headers"])
            seen.append((headers[b"host"].decode() + scope["path"], headers.get(b"x-caller", b"").decode()))
        await inner(scope, receive, send)

    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(app, app_url="http://shop.example/tools", headers={"x-caller": "ada"}):
            pass
    assert set(seen) == {("shop.example/tools", "ada")}


async def test_an_app_that_does_not_start_is_a_connect_error_with_its_words() -> None:
    app = toolwire.http_app(Server("once"))
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(app):
            pass
        with pytest.raises(toolwire.ConnectError, match=r"the app did not start: .*only be called once per instance"):
            async with toolwire.connect(app):
                pass


async def test_an_app_that_serves_no_mcp_is_a_connect_error() -> None:
    async def hello(request: Request) -> PlainTextResponse:
        return PlainTextResponse("hello")

    app = toolwire.http_app(Server("shop"), custom_starlette_routes=[Route("/hello", hello)])
    with anyio.fail_after(PATIENCE), pytest.raises(toolwire.ConnectError, match="/hello"):
        async with toolwire.connect(app, app_url="http://127.0.0.1:8000/hello"):
            pass


@every_era
async def test_an_app_that_breaks_in_the_middle_of_a_call_ends_that_call_as_one_that_may_have_run(mode: str) -> None:
    shop = Shop()
    inner = toolwire.http_app(shop.server)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        """Lets the head of a call's answer out, and then breaks."""
        body = await receive() if scope["type"] == "http" and scope["method"] == "POST" else None
        if body is not None and b'"tools/call"' in body["body"] and not shop.calls:
            shop.calls.append("broken")
            await send(
                {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]}
            )
            await send({"type": "http.response.body", "body": b'{"jsonrpc":', "more_body": True})
            raise ValueError("oh dear")

        async def again() -> Any:
            nonlocal body
            first, body = body, None
            return first or await receive()

        await inner(scope, again, send)

    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(app, mode=mode) as connection:
            price = (await toolwire.tools(connection))["price"]
            with pytest.raises(toolwire.RemoteCallError) as caught:
                await price.invoke(b'{"item":"tea"}')
            assert caught.value.may_have_run
            assert await price.invoke(b'{"item":"tea"}') == '{"total":2}'
    assert shop.calls == ["broken", "tea"]


async def test_several_connections_share_an_app_over_one_client() -> None:
    app = toolwire.http_app(Shop().server)
    with anyio.fail_after(PATIENCE):
        async with httpx2.AsyncClient(transport=AsgiTransport(app)) as client:
            url = "http://127.0.0.1:8000/mcp"
            async with (
                toolwire.connect(url, http_client=client) as one,
                toolwire.connect(url, http_client=client) as other,
            ):
                for connection in (one, other):
                    tools = await toolwire.tools(connection)
                    assert await tools["price"].invoke(b'{"item":"tea"}') == '{"total":2}'


async def test_settings_that_an_app_cannot_have_are_refused() -> None:
    app = toolwire.http_app(Server("shop"))
    async with httpx2.AsyncClient() as client:
        with pytest.raises(TypeError, match="http_client is for a target that is a URL"):
            toolwire.connect(app, http_client=client)
    with pytest.raises(TypeError, match="app_url is for a target that is an ASGI app"):
        toolwire.connect("http://127.0.0.1:8000/mcp", app_url="http://127.0.0.1:8000/other")
    with pytest.raises(TypeError, match="app_url is an http:// or https:// URL"):
        toolwire.connect(app, app_url="/mcp")
    with pytest.raises(TypeError, match="env, cwd and errlog are for a target that is a command"):
        toolwire.connect(app, env={})
