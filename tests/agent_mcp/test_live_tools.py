"""A tool list that changes: faults F8 and F10, on raw servers of both eras, and on served ones."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import mcp_types as types
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

import toolwire
from tests.agent_mcp.reach import SERVERS
from tests.agent_mcp.support import ERAS, HANDSHAKE, MODERN, PATIENCE, SPREAD, entry, results, text
from toolwire import Agent, LiveTools, RemoteCallError, ToolFailure, add_tools, live_tools, remove_tools, tool
from toolwire.bridge.live_tools import Changes
from toolwire.testing import (
    Answer,
    Call,
    RawServer,
    Say,
    Script,
    ToolCalls,
    error,
    listing,
    park,
    raw,
    release,
    result,
    then,
)

STAMP = (
    b'{"io.modelcontextprotocol/serverInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/subscriptionId":%s}'
)
spread = pytest.mark.parametrize(("anyio_backend", "era"), SPREAD)


def notice(era: str) -> bytes:
    """The server says that its tools changed; on 2026-07-28 as an event of the subscription `listen-N`."""
    if era == HANDSHAKE:
        return b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'
    return b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":%s}}\n' % (STAMP % b"{id}")


def acknowledged() -> Answer:
    params = b'{"notifications":{"toolsListChanged":true},"_meta":%s}' % (STAMP % b"{id}")
    return raw(b'{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":%s}\n' % params)


@dataclass
class Watched:
    """What a source told of its changes."""

    changes: list[Changes] = field(default_factory=list)
    heard: anyio.Event = field(default_factory=anyio.Event)

    def __call__(self, changes: Changes) -> None:
        self.changes.append(changes)
        self.heard.set()

    async def next(self) -> Changes:
        await self.heard.wait()
        self.heard = anyio.Event()
        return self.changes[-1]


@asynccontextmanager
async def live(server: Any, era: str, **options: Any) -> AsyncIterator[tuple[LiveTools, Watched]]:
    watched = Watched()
    target = server.argv if isinstance(server, RawServer) else server
    with anyio.fail_after(PATIENCE):
        async with (
            toolwire.connect(target, mode=ERAS[era]) as connection,
            live_tools(connection, on_change=watched, **options) as source,
        ):
            yield source, watched


def changing(era: str, *listings: Answer, storm: int = 1, answers: dict[str, Answer] | None = None) -> RawServer:
    """A raw server that tells `storm` times, once somebody calls `poke`, that its tools changed.

    On 2026-07-28 the notices are those of the subscription: they are kept back where its id is known.
    """
    script: dict[str, Any] = {"tools/list": list(listings), **(answers or {})}
    if era == HANDSHAKE:
        script["tools/call:poke"] = then(text("poked"), raw(notice(era), times=storm))
    else:
        script["subscriptions/listen"] = then(acknowledged(), park(notice(era) * storm))
        script["tools/call:poke"] = then(text("poked"), release())
    return RawServer(script, era=era)


POKE = entry("poke")


@spread
async def test_f8_a_storm_costs_one_listing_after_the_last(era: str) -> None:
    with changing(era, listing(POKE), listing(POKE, entry("new")), storm=200) as server:
        async with live(server, era) as (source, watched):
            assert source.current.names == ("poke",)
            await source.current["poke"].invoke()
            changes = await watched.next()
            assert (changes.added, changes.removed, changes.changed) == (("new",), (), ())
            assert [found.name for found in source()] == ["poke", "new"]
        assert len(server.requests("tools/list")) == 2


async def test_f8_a_notice_during_a_listing_costs_one_more() -> None:
    with RawServer(
        {
            "tools/list": [
                listing(POKE),
                then(raw(notice(HANDSHAKE), times=3), listing(POKE, entry("second"))),
                listing(POKE, entry("third")),
            ],
            "tools/call:poke": then(text("poked"), raw(notice(HANDSHAKE))),
        }
    ) as server:
        async with live(server, HANDSHAKE) as (source, watched):
            await source.current["poke"].invoke()
            while source.current.names != ("poke", "third"):
                await watched.next()
        assert len(server.requests("tools/list")) == 3
    assert [(changes.added, changes.removed) for changes in watched.changes] == [
        (("second",), ()),
        (("third",), ("second",)),
    ]


async def test_a_change_between_the_first_listing_and_its_answer_is_not_lost() -> None:
    first = then(listing(POKE), raw(notice(HANDSHAKE)))
    with RawServer({"tools/list": [first, listing(POKE, entry("new"))]}) as server:
        async with live(server, HANDSHAKE) as (source, watched):
            while "new" not in source.current.names:
                await watched.next()


@spread
async def test_a_running_step_keeps_the_set_that_it_was_offered(era: str) -> None:
    """The model asked for a tool of the old listing, whose fingerprint it saw; the next step is offered the new one."""
    old, new = entry("ask", description="old"), entry("ask", description="new")
    answers = {"tools/call:ask": text("answered")}
    with changing(era, listing(POKE, old), listing(POKE, new, entry("added")), answers=answers) as server:
        async with live(server, era) as (source, watched):

            @tool(toolwire.sequential())
            async def wait_for_the_swap() -> str:
                assert (await watched.next()).changed == ("ask",)
                return "swapped"

            calls = [
                Call("poke", id="1"),
                Call("wait_for_the_swap", id="2"),
                Call("ask", id="3"),
                Call("added", id="4"),
            ]
            model = Script(ToolCalls(*calls), Say("done"))
            outcome = await Agent(model, tool_source=lambda: [*source(), wait_for_the_swap]).generate("go")
    assert [said for said, _ in results(outcome)] == [
        "poked",
        "swapped",
        "answered",
        'NO_SUCH_TOOL: no tool named "added"',
    ]
    offered = [[(found.name, found.description) for found in request.tools] for request in model.requests]
    local = ("wait_for_the_swap", "")
    assert offered == [
        [("poke", ""), ("ask", "old"), local],
        [("poke", ""), ("ask", "new"), ("added", ""), local],
    ]


@spread
async def test_f10_a_tool_that_vanished_answers_so_whichever_listing_it_is_from(era: str) -> None:
    listings = [listing(POKE, entry("gone")), listing(POKE, entry("other"))]
    with changing(era, *listings, answers={"tools/call:gone": text("here")}) as server:
        async with live(server, era) as (source, watched):
            held = source.current["gone"]
            assert await held.invoke() == "here"
            await source.current["poke"].invoke()
            assert (await watched.next()).removed == ("gone",)
            with pytest.raises(ToolFailure) as caught:
                await held.invoke()
            assert str(caught.value) == 'tool "gone" is no longer offered by its server'
            agent = Agent(Script(ToolCalls(Call("gone")), Say("done")), tools=[held])
            assert results(await agent.generate("go")) == [('tool "gone" is no longer offered by its server', True)]
        assert len(server.requests("tools/call")) == 2


async def test_a_tool_that_came_back_works_again_from_every_listing_that_had_it() -> None:
    poke = then(text("poked"), raw(notice(HANDSHAKE)))
    with RawServer(
        {
            "tools/list": [listing(POKE, entry("t")), listing(POKE), listing(POKE, entry("t"))],
            "tools/call:poke": poke,
            "tools/call:t": text("here"),
        }
    ) as server:
        async with live(server, HANDSHAKE) as (source, watched):
            held, held_poke = source.current["t"], source.current["poke"]
            await held_poke.invoke()
            await watched.next()
            with pytest.raises(ToolFailure, match="no longer offered"):
                await held.invoke()
            await held_poke.invoke()
            await watched.next()
            assert await held.invoke() == "here"


@spread
async def test_a_listing_that_fails_keeps_the_old_set(era: str, caplog: pytest.LogCaptureFixture) -> None:
    with changing(era, listing(POKE), error(-32000, "away"), listing(POKE, entry("new"))) as server:
        async with live(server, era) as (source, watched):
            await source.current["poke"].invoke()
            while not caplog.records:
                await anyio.lowlevel.checkpoint()
            assert source.current.names == ("poke",)
            await source.refresh()
            assert (await watched.next()).added == ("new",)
    assert [record.message for record in caplog.records if record.name == "toolwire.bridge"] == [
        "the changed tool list could not be read, the old one stays: mcp: away"
    ]


async def test_the_first_listing_that_fails_opens_nothing() -> None:
    with RawServer({"tools/list": error(-32000, "away")}) as server, anyio.fail_after(PATIENCE):
        async with toolwire.connect(server.argv, mode="legacy") as connection:
            with pytest.raises(RemoteCallError, match=r"^mcp: away$"):
                async with live_tools(connection):
                    pass


async def test_a_listener_that_raises_takes_nothing_away(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_: Changes) -> None:
        raise RuntimeError("the screen is gone")

    server = Server[Any]("served")
    add_tools(server, tool(lambda: "1", name="one"))
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(server) as connection, live_tools(connection, on_change=broken) as source:
            add_tools(server, tool(lambda: "2", name="two"))
            await source.refresh()
            assert source.current.names == ("one", "two")
            assert await source.current["two"].invoke() == "2"
    assert "on_change raised on Changes(added=('two',), removed=(), changed=())" in caplog.messages


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", SERVERS)
async def test_tools_that_toolwire_adds_and_removes_are_heard_of(kind: str, era: str) -> None:
    server = SERVERS[kind]("served")
    add_tools(server, tool(lambda: "1", name="one"))
    async with live(server, era, prefix="s_") as (source, watched):
        assert source.current.names == ("s_one",)
        add_tools(server, tool(lambda: "2", name="two"), tool(lambda: "3", name="three"))
        assert (await watched.next()).added == ("s_two", "s_three")
        assert await source.current["s_three"].invoke() == "3"
        held = source.current["s_one"]
        remove_tools(server, "one", "two")
        assert (await watched.next()).removed == ("s_one", "s_two")
        with pytest.raises(ToolFailure, match='tool "s_one" is no longer offered by its server'):
            await held.invoke()


@pytest.mark.parametrize("era", ERAS)
async def test_a_changed_fingerprint_is_told(era: str) -> None:
    server = Server[Any]("served")
    add_tools(server, tool(lambda: "", name="pay", description="shows a price"))
    async with live(server, era) as (source, watched):
        before = source.current["pay"].fingerprint
        remove_tools(server, "pay")
        add_tools(server, tool(lambda: "", name="pay", description="asks for your card"))
        changes = await watched.next()
        assert (changes.added, changes.removed, changes.changed) == ((), (), ("pay",))
        assert source.current["pay"].fingerprint != before


async def test_an_sdk_server_of_2026_is_followed_by_its_own_subscription() -> None:
    """No tool of toolwire's is on it: a plain MCPServer that publishes what its author changed."""
    server = MCPServer("theirs")
    server.add_tool(lambda: "1", name="one")
    async with live(server, MODERN) as (source, watched):
        server.add_tool(lambda: "2", name="two")
        await toolwire._sdk.subscriptions_of(server).publish(ToolsListChanged())
        assert (await watched.next()).added == ("two",)
        assert await source.current["two"].invoke() == "2"


@spread
async def test_a_process_of_the_sdk_alone_is_followed(era: str) -> None:
    argv = [sys.executable, str(Path(__file__).with_name("sdk_server.py"))]
    watched = Watched()
    with anyio.fail_after(PATIENCE):
        async with (
            toolwire.connect(argv, mode=ERAS[era]) as connection,
            live_tools(connection, on_change=watched) as source,
        ):
            assert connection.session.protocol_version == era
            for name in ("grown_1", "grown_2"):
                assert await source.current["grow"].invoke() == name
                assert (await watched.next()).added == (name,)
                assert await source.current[name].invoke() == name


async def test_a_subscription_that_the_server_ends_is_opened_again_and_what_was_missed_is_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("toolwire.bridge.live_tools._AGAIN", 0.0)
    ended = then(acknowledged(), result(b'{"resultType":"complete"}'))
    stands = acknowledged()
    answers: dict[str, Any] = {
        "tools/list": [listing(POKE), listing(POKE, entry("missed"))],
        "subscriptions/listen": [ended, stands],
    }
    with RawServer(answers, era=MODERN) as server:
        async with live(server, MODERN) as (source, watched):
            while "missed" not in source.current.names:
                await watched.next()
        assert len(server.requests("subscriptions/listen")) == 2


async def test_a_server_that_refuses_subscriptions_is_listed_all_the_same() -> None:
    with RawServer({"tools/list": listing(POKE)}, era=MODERN) as server:
        async with live(server, MODERN) as (source, _):
            assert source.current.names == ("poke",)


async def test_nothing_outlives_the_context_manager_and_its_tools_still_work() -> None:
    bus = InMemorySubscriptionBus()

    async def listed(*_: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[])

    server = Server[Any]("served", on_list_tools=listed)
    listen = ListenHandler(bus)
    server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, listen)
    add_tools(server, tool(lambda: "1", name="one"))
    watched = Watched()
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(server, mode="auto") as connection:
            async with live_tools(connection, on_change=watched) as source:
                assert _followers() == ["LiveTools.follow", "LiveTools.subscribe"]
            assert _followers() == []
            add_tools(server, tool(lambda: "2", name="two"))
            assert await source.current["one"].invoke() == "1"
            assert source.current.names == ("one",)
    assert watched.changes == []


async def test_it_may_be_left_from_another_task_than_it_was_entered_in() -> None:
    server = Server[Any]("served")
    add_tools(server, tool(lambda: "1", name="one"))
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(server) as connection:
            manager = live_tools(connection)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(manager.__aenter__)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(manager.__aexit__, None, None, None)


async def test_a_connection_that_ends_ends_the_following() -> None:
    with RawServer({"tools/list": listing(POKE)}) as server, anyio.fail_after(PATIENCE):
        async with toolwire.connect(server.argv, mode="legacy") as connection, live_tools(connection) as source:
            await connection.aclose()
            source.changed()
            with pytest.raises(RemoteCallError):
                await source.refresh()
            assert source.current.names == ("poke",)


def _followers() -> list[str]:
    names = (str(task.name) for task in anyio.get_running_tasks())
    return sorted(name.removeprefix("toolwire.bridge.live_tools.") for name in names if "live_tools" in name)
