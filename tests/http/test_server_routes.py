"""Whatever the user puts around the SDK's route stands around the express lane too; nothing else is gone through."""

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

import toolwire
from tests.http.server_posts import HANDSHAKE, Ask, Site, call
from tests.serving.shop import shop

OPTIONS = {"stateless_http": True, "json_response": True}
ECHO = call(HANDSHAKE, "echo", b'{"text":"a"}')


async def elsewhere(request: Any) -> PlainTextResponse:
    return PlainTextResponse("elsewhere")


async def test_a_middleware_of_the_users_sees_every_call() -> None:
    seen: list[str] = []

    class Watching:
        def __init__(self, app: Any) -> None:
            self._app = app

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            seen.append(scope["type"])
            await self._app(scope, receive, send)

    app = toolwire.http_app(shop(), **OPTIONS)
    app.add_middleware(Watching)
    async with app.router.lifespan_context(app):
        site = Site(app)
        assert (await site.ask(ECHO)).status == 200
        assert site.lane.express_calls == 1
        assert seen == ["http"]


async def test_a_route_that_the_user_puts_first_is_first() -> None:
    app = toolwire.http_app(shop(), **OPTIONS)
    async with app.router.lifespan_context(app):
        site = Site(app)
        assert (await site.ask(ECHO)).status == 200
        app.router.routes.insert(0, Route("/mcp", elsewhere, methods=["POST"]))
        assert (await site.ask(ECHO)).body == b"elsewhere"
        del app.router.routes[:]
        assert (await site.ask(ECHO)).status == 404
        assert site.lane.express_calls == 1


async def test_a_mounted_app_answers_on_the_express_lane() -> None:
    inner = toolwire.http_app(shop(), **OPTIONS)
    app = Starlette(routes=[Mount("/tools", app=inner), Route("/", elsewhere)])
    async with inner.router.lifespan_context(inner):
        site = Site(app)
        for path, status in (("/tools/mcp", 200), ("/tools/nothing", 404), ("/mcp", 404)):
            assert (await site.ask(Ask(ECHO.body, ECHO.headers, path=path))).status == status
        assert inner.state.toolwire.counters == {"express_calls": 1, "sdk_requests": 0}


@pytest.mark.parametrize("path", ["/here", "/a/b"])
async def test_the_route_is_where_the_user_wants_it(path: str) -> None:
    app = toolwire.http_app(shop(), streamable_http_path=path, **OPTIONS)
    async with app.router.lifespan_context(app):
        site = Site(app)
        assert (await site.ask(Ask(ECHO.body, ECHO.headers, path=path))).status == 200
        assert (await site.ask(ECHO)).status == 404
        assert site.lane.counters == {"express_calls": 1, "sdk_requests": 0}


async def test_a_declined_request_keeps_its_body_and_is_counted_once() -> None:
    app = toolwire.http_app(shop(), **OPTIONS)
    async with app.router.lifespan_context(app):
        site = Site(app)
        reply = await site.ask(call(HANDSHAKE, "with_context"))
        assert reply.answer["result"]["content"][0]["text"] == "request 7"
        assert site.lane.counters == {"express_calls": 0, "sdk_requests": 1}


async def test_the_context_of_whoever_asks_in_process_is_left_as_it_was() -> None:
    app = toolwire.http_app(shop(), **OPTIONS)
    async with app.router.lifespan_context(app):
        await Site(app).ask(ECHO)
        assert toolwire.current_request() is None
