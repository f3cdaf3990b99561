"""A tool list that changes while clients are connected over HTTP (design 4.4)."""

import json
from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

import toolwire
from tests.http.server_posts import HANDSHAKE, MODERN, PATIENCE, SESSION, Ask, Reply, opened, post, running
from tests.serving.raw_client import ENVELOPE, INITIALIZE

CHANGED = "notifications/tools/list_changed"
LISTEN = (
    b'{"jsonrpc":"2.0","id":5,"method":"subscriptions/listen","params":'
    b'{"notifications":{"toolsListChanged":true},"_meta":{%s}}}' % ENVELOPE
)
STREAM = Ask(
    headers=(("host", "127.0.0.1:1"), ("accept", "text/event-stream"), ("mcp-session-id", SESSION)), method="GET"
)


def named(name: str) -> toolwire.Tool:
    return toolwire.Tool.raw(name, "", None, lambda arguments: arguments.decode())


async def until(reply: Reply, count: int) -> list[Any]:
    """The messages of a stream, once there are as many."""
    with anyio.fail_after(PATIENCE):
        while len(reply.messages) < count:
            await anyio.lowlevel.checkpoint()
    return [json.loads(message) for message in reply.messages]


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("kind", [Server, MCPServer])
async def test_a_session_hears_of_a_change_on_the_stream_that_it_holds_open(kind: Any, as_json: bool) -> None:
    server = kind("s")
    toolwire.add_tools(server, named("a"))
    gone, reply = anyio.Event(), Reply()
    async with (
        opened(lambda: server, HANDSHAKE, json_response=as_json) as site,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(site.ask, STREAM, gone, reply)
        await reply.started.wait()
        toolwire.add_tools(server, named("b"))
        assert await until(reply, 1) == [{"jsonrpc": "2.0", "method": CHANGED}]
        toolwire.remove_tools(server, "a")
        assert len(await until(reply, 2)) == 2
        gone.set()


@pytest.mark.parametrize(("stateless", "told"), [(False, True), (True, False)])
async def test_a_session_is_advertised_that_it_will_hear_and_no_stateless_app_is(stateless: bool, told: bool) -> None:
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, named("a"))
    async with running(lambda: server, stateless_http=stateless, json_response=True) as site:
        reply = await site.ask(post(HANDSHAKE, INITIALIZE))
        assert reply.answer["result"]["capabilities"]["tools"] == {"listChanged": told}
    options = server.create_initialization_options()
    assert options.capabilities.tools is not None
    assert not options.capabilities.tools.list_changed, "on a transport of the SDK's own nobody tells"


@pytest.mark.parametrize("kind", [Server, MCPServer])
async def test_a_modern_client_hears_of_a_change_on_its_subscription(kind: Any) -> None:
    server = kind("s")
    toolwire.add_tools(server, named("a"))
    gone, reply = anyio.Event(), Reply()
    async with opened(lambda: server, MODERN, json_response=True) as site, anyio.create_task_group() as tasks:
        tasks.start_soon(site.ask, post(MODERN, LISTEN), gone, reply)
        told = await until(reply, 1)
        assert told[0]["method"] == "notifications/subscriptions/acknowledged"
        toolwire.add_tools(server, named("b"))
        assert (await until(reply, 2))[1]["method"] == CHANGED
        gone.set()


async def test_an_app_that_has_ended_is_told_of_nothing() -> None:
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, named("a"))
    async with opened(lambda: server, HANDSHAKE):
        pass
    toolwire.add_tools(server, named("b"))
