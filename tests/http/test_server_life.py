"""What befalls a call while it runs: a client that leaves, one that cancels, a session that ends, an app that ends.

Each is shown on both lanes: what the SDK does is what the express lane does.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc
import pytest
from mcp.server.lowlevel import Server
from sse_starlette.sse import AppStatus

import toolwire
from tests.http.server_parity import MODES
from tests.http.server_posts import HANDSHAKE, MODERN, PATIENCE, SESSION, Ask, Reply, Site, call, opened, post
from tests.serving.raw_client import ERAS
from toolwire import _sdk
from toolwire.wire.http_server import call as posted_call
from toolwire.wire.http_server import lane as posted_lane

LANES = pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])


@dataclass
class Desk:
    """A server whose one tool waits until it is let go, and what became of it."""

    seen: list[str] = field(default_factory=list)
    began: anyio.Event = field(default_factory=anyio.Event)
    release: anyio.Event = field(default_factory=anyio.Event)
    ended: anyio.Event = field(default_factory=anyio.Event)

    def make(self) -> Server[Any]:
        @toolwire.tool
        async def wait(told: int = 0) -> str:
            """Wait to be let go."""
            try:
                for number in range(told):
                    await toolwire.report_progress(number + 1)
                self.seen.append("began")
                self.began.set()
                await self.release.wait()
                self.seen.append("finished")
                return "done"
            except BaseException as error:
                self.seen.append(type(error).__name__)
                raise
            finally:
                self.ended.set()

        server: Server[Any] = Server("desk", version="1")
        toolwire.add_tools(server, wait)
        return server


@asynccontextmanager
async def waiting(
    era: str, *, express: bool, told: int = 0, **mode: Any
) -> AsyncIterator[tuple[Desk, Site, Reply, anyio.Event, anyio.abc.TaskGroup]]:
    """A call that has begun; setting the event makes its client leave."""
    desk, gone, reply = Desk(), anyio.Event(), Reply()
    async with opened(desk.make, era, express=express, **mode) as site:
        async with anyio.create_task_group() as tasks:
            ask = call(era, "wait", b'{"told":%d}' % told, meta=b'"progressToken":1')
            tasks.start_soon(site.ask, ask, gone, reply)
            with anyio.fail_after(PATIENCE):
                await desk.began.wait()
                yield desk, site, reply, gone, tasks
                desk.release.set()
        assert (site.lane.express_calls > 0) is express


async def turns(condition: Callable[[], bool] = lambda: False) -> None:
    """Lets everything else have its turn, until something is so, or for as long as anything here takes."""
    for _ in range(200):
        if condition():
            return
        await anyio.lowlevel.checkpoint()


@LANES
@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_leaves_ends_its_call_only_where_the_sdk_ends_it(
    era: str, mode: dict[str, Any], express: bool
) -> None:
    async with waiting(era, express=express, **mode) as (desk, _, _, gone, _):
        gone.set()
        ends = not mode["json_response"] and (era == MODERN or mode["stateless_http"])
        if ends:
            await desk.ended.wait()
            assert desk.seen[1:] in (["CancelledError"], ["Cancelled"])
        else:
            await turns()
            assert desk.seen == ["began"]
            desk.release.set()
            await desk.ended.wait()
            assert desk.seen == ["began", "finished"]


@LANES
@pytest.mark.parametrize("era", ERAS)
async def test_the_headers_of_a_stream_come_before_its_end(era: str, express: bool) -> None:
    async with waiting(era, express=express, told=1, stateless_http=True) as (desk, _, reply, _, _):
        await reply.started.wait()
        await turns(lambda: b"progress" in reply.body)
        assert (reply.status, reply.header("content-type")) == (200, "text/event-stream")
        assert len(reply.messages) == 1
        assert b"result" not in reply.body
        desk.release.set()
    assert reply.finished
    assert reply.answer["result"]["content"][0]["text"] == "done"


@LANES
@pytest.mark.parametrize("as_json", [True, False])
async def test_a_cancelled_call_of_a_session_is_answered_that_it_was_cancelled(as_json: bool, express: bool) -> None:
    async with waiting(HANDSHAKE, express=express, json_response=as_json) as (desk, site, reply, _, _):
        for named in (b"5", b'"x"', b"true", b"null", b"7"):
            assert desk.seen == ["began"]
            body = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}' % named
            assert (await site.ask(post(HANDSHAKE, body))).status == 202
        await desk.ended.wait()
        assert desk.seen[1:] in (["CancelledError"], ["Cancelled"])
    assert reply.finished
    assert reply.status == 200
    assert reply.answer == {"jsonrpc": "2.0", "id": 7, "error": {"code": -32800, "message": "Request cancelled"}}


@LANES
async def test_nobody_cancels_a_call_of_another_session(express: bool) -> None:
    async with waiting(HANDSHAKE, express=express, json_response=True) as (desk, site, reply, _, _):
        first = site.session
        await site.open()
        assert site.session != first
        body = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}'
        assert (await site.ask(post(HANDSHAKE, body))).status == 202
        await turns()
        assert desk.seen == ["began"]
        desk.release.set()
    assert reply.answer["result"]["content"][0]["text"] == "done"


@LANES
@pytest.mark.parametrize("as_json", [True, False])
async def test_a_session_that_its_client_ends_ends_its_calls(as_json: bool, express: bool) -> None:
    async with waiting(HANDSHAKE, express=express, json_response=as_json) as (desk, site, reply, _, _):
        ended = await site.ask(Ask(b"", (("mcp-session-id", SESSION), ("host", "127.0.0.1:1")), method="DELETE"))
        assert ended.status == 200
        await desk.ended.wait()
        assert desk.seen[1:] in (["CancelledError"], ["Cancelled"])
        again = await site.ask(call(HANDSHAKE, "wait"))
        assert again.status == 404
    assert reply.finished
    if as_json:
        assert reply.status == 500
        assert reply.answer["error"] == {"code": -32603, "message": "Session terminated before the request completed"}
    else:
        assert (reply.status, reply.messages) == (200, [])


@LANES
@pytest.mark.parametrize("mode", MODES, ids=str)
async def test_an_app_that_ends_ends_its_calls(mode: dict[str, Any], express: bool) -> None:
    desk, reply = Desk(), Reply()
    async with anyio.create_task_group() as tasks:
        async with opened(desk.make, HANDSHAKE, express=express, **mode) as site:
            tasks.start_soon(site.ask, call(HANDSHAKE, "wait"), None, reply)
            with anyio.fail_after(PATIENCE):
                await desk.began.wait()
        with anyio.fail_after(PATIENCE):
            await desk.ended.wait()
    assert desk.seen[1:] in (["CancelledError"], ["Cancelled"])
    assert reply.finished
    if mode["json_response"]:
        assert reply.status == 500
        assert "Session terminated" in reply.answer["error"]["message"]


async def test_a_handler_of_an_app_that_ends_is_over_before_its_lifespan_is() -> None:
    seen: list[str] = []
    began = anyio.Event()

    @asynccontextmanager
    async def lifespan(server: Any) -> AsyncIterator[str]:
        yield "state"
        seen.append("lifespan over")

    @toolwire.tool
    async def wait() -> str:
        began.set()
        request = toolwire.current_request()
        assert request is not None
        assert request.lifespan == "state"
        try:
            await anyio.sleep_forever()
        finally:
            seen.append("handler over")
        return ""

    def make() -> Server[Any]:
        server: Server[Any] = Server("desk", lifespan=lifespan)
        toolwire.add_tools(server, wait)
        return server

    mode = {"stateless_http": True, "json_response": True}
    async with anyio.create_task_group() as tasks, opened(make, HANDSHAKE, **mode) as site:
        tasks.start_soon(site.ask, call(HANDSHAKE, "wait"))
        await began.wait()
        assert site.lane.express_calls == 1
    assert seen == ["handler over", "lifespan over"]


@LANES
@pytest.mark.parametrize("as_json", [True, False])
async def test_a_session_that_only_calls_keep_alive_lives_past_its_time_of_rest(as_json: bool, express: bool) -> None:
    """The deadline is looked at, and not waited for: no request ends it, each puts it off."""
    desk = Desk()
    desk.release.set()
    async with opened(desk.make, HANDSHAKE, express=express, json_response=as_json, session_idle_timeout=900) as site:
        transport = site.lane.manager._server_instances[site.session or ""]
        assert transport.idle_scope is not None
        for _ in range(3):
            transport.idle_scope.deadline = anyio.current_time() + 60
            await site.ask(call(HANDSHAKE, "wait"))
            assert transport.idle_scope.deadline > anyio.current_time() + 800
            assert transport._requests_in_flight == 0
        assert site.lane.express_calls == (3 if express else 0)
        transport.idle_scope.deadline = anyio.current_time() - 1
        await turns(lambda: transport.is_terminated)
        assert (await site.ask(call(HANDSHAKE, "wait"))).status == 404


@LANES
async def test_a_session_does_not_rest_while_a_call_runs(express: bool) -> None:
    mode = {"json_response": True, "session_idle_timeout": 900}
    async with waiting(HANDSHAKE, express=express, **mode) as (_, site, _, _, _):
        transport = site.lane.manager._server_instances[site.session or ""]
        assert transport.idle_scope is not None
        assert transport.idle_scope.deadline == float("inf")
    assert transport._requests_in_flight == 0


@pytest.mark.parametrize("era", ERAS)
async def test_a_quiet_stream_shows_signs_of_life(era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posted_call, "EVENT_PING", 0.001)
    async with waiting(era, express=True, stateless_http=True) as (desk, _, reply, _, _):
        while reply.body.count(b": ping") < 3:
            await reply.told.wait()
        assert not reply.messages
        desk.release.set()
    assert reply.answer["result"]["content"][0]["text"] == "done"


@pytest.mark.parametrize("stateless", [True, False])
async def test_a_stream_ends_when_its_server_is_to_end(stateless: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the SDK's does: a server waits for its streams. A session's call goes on until the app ends."""
    monkeypatch.setattr(posted_call, "SERVER_POLL", 0.001)
    async with waiting(HANDSHAKE, express=True, stateless_http=stateless) as (desk, site, reply, _, _):
        monkeypatch.setattr(posted_call, "server_ends", lambda: True)
        if stateless:
            await desk.ended.wait()
            assert desk.seen[1:] in (["CancelledError"], ["Cancelled"])
        else:
            transport = site.lane.manager._server_instances[site.session or ""]
            while transport._requests_in_flight:
                await anyio.lowlevel.checkpoint()
            assert desk.seen == ["began"]
    assert reply.started.is_set()
    assert not reply.finished


async def test_the_flag_by_which_the_sdks_streams_end_is_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _sdk.server_ends()
    monkeypatch.setattr(AppStatus, "should_exit", True)
    assert _sdk.server_ends()


@pytest.mark.parametrize("bound", ["POSTED_AT_ONCE", "POSTED_BYTES"])
@pytest.mark.parametrize("era", ERAS)
async def test_at_the_bound_a_call_is_refused_and_may_come_again(
    era: str, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with waiting(era, express=True, stateless_http=True, json_response=True) as (desk, site, _, _, _):
        monkeypatch.setattr(posted_lane, bound, 1)
        refused = await site.ask(call(era, "wait", identifier=8))
        assert (refused.status, refused.header("retry-after")) == (503, "1")
        assert refused.answer["id"] == 8
        assert "too many requests" in refused.answer["error"]["message"]
        desk.release.set()
        await desk.ended.wait()
        await turns(lambda: not site.lane._running)
        assert (await site.ask(call(era, "wait"))).status == 200


@pytest.mark.parametrize("mode", MODES, ids=str)
async def test_a_call_that_the_server_itself_cancels_does_not_run_on(mode: dict[str, Any]) -> None:
    """Some ASGI servers cancel a request whose client has left. A session's call is the session's, and goes on."""
    desk = Desk()
    async with opened(desk.make, HANDSHAKE, **mode) as site:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(site.ask, call(HANDSHAKE, "wait"))
            await desk.began.wait()
            tasks.cancel_scope.cancel()
        if mode["stateless_http"]:
            await desk.ended.wait()
        else:
            await turns()
            assert desk.seen == ["began"]
            desk.release.set()
            await desk.ended.wait()
            assert desk.seen == ["began", "finished"]
        await turns(lambda: not site.lane._running)
        assert not site.lane._running
        assert site.lane._running_bytes == 0
