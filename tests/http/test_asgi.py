"""An ASGI app under an HTTP client, in this process: what a server does around an app, in its own order."""

import logging
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from contextvars import ContextVar
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

import toolwire
from toolwire.errors import ConnectError
from toolwire.wire.http_client import asgi
from toolwire.wire.http_client.asgi import AsgiTransport, is_app
from toolwire.wire.http_client.lifespan import AsgiApp, Message, Receive, Send

PATIENCE = 20
START = {"type": "http.response.start", "status": 200, "headers": [(b"x-a", b"1"), (b"x-a", b"2")]}


@asynccontextmanager
async def client_of(app: AsgiApp, **options: Any) -> AsyncIterator[httpx2.AsyncClient]:
    with anyio.fail_after(PATIENCE):
        async with httpx2.AsyncClient(transport=AsgiTransport(app), base_url="http://app:81", **options) as client:
            yield client


def part(body: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more}


async def no_lifespan(scope: Message) -> None:
    assert scope["type"] == "http", "no lifespan here"


async def echo(scope: Message, receive: Receive, send: Send) -> None:
    """Answers with what it was asked."""
    await no_lifespan(scope)
    body, more = b"", True
    while more:
        request = await receive()
        body, more = body + request["body"], request["more_body"]
    told = [scope["method"], scope["path"], scope["query_string"].decode(), body.decode()]
    await send({"type": "http.response.start", "status": 201, "headers": [(b"content-type", b"text/plain")]})
    await send(part(" ".join(told).encode()))
    await send({"type": "http.response.body"})


async def test_a_request_and_its_response_are_those_that_httpx2s_own_transport_gives() -> None:
    async with client_of(echo) as ours, httpx2.AsyncClient(transport=httpx2.ASGITransport(echo)) as theirs:
        for method, target, body, said in [
            ("POST", "/a%20b?c=d&e", b"{}", "POST /a b c=d&e {}"),
            ("GET", "/", b"", "GET /  "),
            ("HEAD", "/", b"", ""),
        ]:
            mine = await ours.request(method, target, content=body)
            judge = await theirs.request(method, f"http://app:81{target}", content=body)
            assert (mine.status_code, mine.content, mine.headers) == (201, judge.content, judge.headers)
            assert mine.content.decode() == said


async def test_the_scope_is_that_of_a_server() -> None:
    scopes: list[Message] = []

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await no_lifespan(scope)
        scopes.append(scope)
        await send(START)
        await send(part(b"", more=False))

    async with client_of(app) as client:
        response = await client.get("/p?q", headers=[("X-Two", "1"), ("X-Two", "2")])
    (scope,) = scopes
    assert [value for name, value in scope["headers"] if name == b"x-two"] == [b"1", b"2"]
    assert dict(scope["headers"])[b"host"] == b"app:81"
    assert (scope["scheme"], scope["server"], scope["raw_path"]) == ("http", ("app", 81), b"/p")
    assert response.headers.get_list("x-a") == ["1", "2"]


async def test_each_part_is_read_before_the_next_is_sent() -> None:
    read = anyio.Event()

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await no_lifespan(scope)
        await send(START)
        await send(part(b"first"))
        await read.wait()
        await send(part(b"second", more=False))

    async with client_of(app) as client, client.stream("GET", "/") as response, aclosing(response.aiter_raw()) as parts:
        assert await anext(parts) == b"first"
        read.set()
        assert await anext(parts) == b"second"
        with pytest.raises(StopAsyncIteration):
            await anext(parts)


async def test_a_response_has_begun_before_it_has_a_body() -> None:
    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await no_lifespan(scope)
        await receive()
        await send(START)
        await receive()

    async with client_of(app) as client, client.stream("GET", "/") as response:
        assert response.status_code == 200


async def test_an_app_waits_for_a_slow_reader() -> None:
    sent: list[int] = []

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await no_lifespan(scope)
        await send(START)
        for number in range(100):
            await send(part(b"x"))
            sent.append(number)
        await send(part(b"", more=False))

    async with client_of(app) as client, client.stream("GET", "/") as response, aclosing(response.aiter_raw()) as parts:
        for count in range(1, 101):
            assert await anext(parts) == b"x"
            assert len(sent) <= count


async def test_a_reader_that_leaves_is_a_disconnect_and_stops_no_app_that_goes_on_sending() -> None:
    heard = anyio.Event()
    kinds: list[str] = []

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await no_lifespan(scope)
        await receive()
        await send(START)
        await send(part(b"first"))
        kinds.append((await receive())["type"])
        for _ in range(5):
            await send(part(b"more"))
        await send(part(b"", more=False))
        kinds.append((await receive())["type"])
        heard.set()

    async with client_of(app) as client:
        async with client.stream("GET", "/") as response, aclosing(response.aiter_raw()) as parts:
            assert await anext(parts) == b"first"
        await heard.wait()
    assert kinds == ["http.disconnect"] * 2


async def test_a_request_that_is_given_up_before_its_response_began_is_a_disconnect() -> None:
    heard, begun = anyio.Event(), anyio.Event()

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await no_lifespan(scope)
        await receive()
        begun.set()
        assert (await receive())["type"] == "http.disconnect"
        heard.set()

    async with client_of(app) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.get, "/")
            await begun.wait()
            group.cancel_scope.cancel()
        await heard.wait()


async def test_silence_is_bounded_as_the_client_asks() -> None:
    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await no_lifespan(scope)
        await receive()
        if scope["path"] == "/body":
            await send(START)
        await receive()

    async with client_of(app, timeout=httpx2.Timeout(5, read=0.01)) as client:
        for path in ("/", "/body"):
            with pytest.raises(httpx2.ReadTimeout, match=r"the app said nothing for 0\.01 s"):
                await client.get(path)


async def broken(scope: Message, receive: Receive, send: Send) -> None:
    await no_lifespan(scope)
    if scope["path"] != "/at-once":
        await send(START)
        await send(part(b"half"))
    if scope["path"] == "/whole":
        await send(part(b"", more=False))
    if scope["path"] == "/out-of-order":
        await send(START)
    if scope["path"] != "/returns":
        raise ValueError("oh dear")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/midway", "the app raised before its response was whole: ValueError('oh dear')"),
        ("/returns", "the app returned before its response was whole"),
        ("/out-of-order", "the app raised before its response was whole: RuntimeError(\"'http.response.start' has no"),
    ],
)
async def test_a_response_that_is_not_whole_is_an_error_of_the_protocol(path: str, said: str) -> None:
    async with client_of(broken) as client:
        async with client.stream("GET", path) as response, aclosing(response.aiter_raw()) as parts:
            assert await anext(parts) == b"half"
            with pytest.raises(httpx2.RemoteProtocolError) as caught:
                await anext(parts)
        assert str(caught.value).startswith(said)
        assert (await client.get("/whole")).content == b"half", "one request's fault is no other's"


async def test_an_app_that_raises_at_once_is_a_500_and_the_log_says_why(caplog: pytest.LogCaptureFixture) -> None:
    async with client_of(broken) as client:
        assert (await client.get("/at-once")).status_code == 500
    (record,) = [record for record in caplog.records if record.name == "toolwire.wire"]
    assert record.getMessage() == "the app raised while it served GET /at-once"
    assert record.exc_info is not None


class Living:
    """An app with a lifespan, which says what it hears."""

    def __init__(self, start: str = "complete", stop: str = "complete") -> None:
        self.start, self.stop = start, stop
        self.heard: list[str] = []

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.heard.append(f"request {scope['state']['place']}")
            scope["state"]["place"] = "elsewhere"
            await send(START)
            return await send(part(b"", more=False))
        self.heard.append((await receive())["type"])
        if self.start == "raises":
            await send({"type": "lifespan.startup.odd"})
            raise ValueError("no room")
        scope["state"]["place"] = "here"
        await send({"type": f"lifespan.startup.{self.start}", "message": "Traceback\n  File\nValueError: no room\n"})
        self.heard.append((await receive())["type"])
        if self.stop == "raises":
            raise ValueError("no way out")
        await send({"type": f"lifespan.shutdown.{self.stop}", "message": "no way out"})
        return None


async def test_the_lifespan_begins_before_the_first_request_and_ends_after_the_last() -> None:
    app = Living()
    async with client_of(app) as client:
        await client.get("/")
        await client.get("/")
    assert app.heard == ["lifespan.startup", "request here", "request here", "lifespan.shutdown"]


@pytest.mark.parametrize("start", ["failed", "raises"])
async def test_an_app_that_does_not_start_says_why(start: str) -> None:
    app = Living(start)
    with pytest.raises(ConnectError, match=r"^the app did not start: ValueError: no room$"):
        async with client_of(app):
            pass


@pytest.mark.parametrize("stop", ["failed", "raises"])
async def test_what_goes_wrong_at_the_end_is_logged(stop: str, caplog: pytest.LogCaptureFixture) -> None:
    async with client_of(Living(stop=stop)) as client:
        await client.get("/")
    (record,) = [record for record in caplog.records if record.name == "toolwire.wire"]
    assert record.levelno == logging.WARNING
    assert "no way out" in (record.getMessage() if stop == "failed" else str(record.exc_info))


async def test_an_exception_inside_the_client_comes_out_as_it_is() -> None:
    with pytest.raises(LookupError, match="mine"):
        async with client_of(Living()):
            raise LookupError("mine")


async def test_apps_that_never_end_are_left_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asgi, "PATIENCE", 0.01)
    ended: list[str] = []

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        try:
            if scope["type"] == "lifespan":
                await send({"type": "lifespan.startup.complete"})
            else:
                await send(START)
            await anyio.sleep_forever()
        finally:
            ended.append(scope["type"])

    async with client_of(app) as client:
        request = client.build_request("GET", "/")
        response = await client.send(request, stream=True)
        assert response.status_code == 200
    assert sorted(ended) == ["http", "lifespan"]
    await response.aclose()


async def test_an_app_does_not_see_the_context_of_whoever_asks() -> None:
    here: ContextVar[str] = ContextVar("here", default="the server's")
    seen: list[str] = []

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await no_lifespan(scope)
        seen.append(here.get())
        here.set("the app's")
        await send(START)
        await send(part(b"", more=False))

    async with client_of(app) as client:
        here.set("the client's")
        await client.get("/")
        await client.get("/")
    assert (seen, here.get()) == (["the server's"] * 2, "the client's")


async def test_a_hundred_requests_at_once_get_their_own_answers() -> None:
    answers: dict[int, str] = {}
    async with client_of(echo) as client:

        async def ask(number: int) -> None:
            answers[number] = (await client.post("/", content=str(number))).text

        async with anyio.create_task_group() as group:
            for number in range(100):
                group.start_soon(ask, number)
    assert answers == {number: f"POST /  {number}" for number in range(100)}


def test_an_app_is_told_from_everything_else_that_a_connection_takes() -> None:
    server: Server[Any] = Server("s")
    assert all(map(is_app, [echo, Living(), toolwire.http_app(server), toolwire.http_app(MCPServer("m"))]))
    transport = streamable_http_client("http://x")
    none = [server, MCPServer("m"), transport, ["a", "b"], "http://x", None, Living, len, lambda scope: None, object()]
    assert not any(map(is_app, none))
