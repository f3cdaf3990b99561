"""Listings of served tools: exact entries, each era's limits charged to one entry, pages, names that clash, changes."""

import gc
import json
import logging
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import mcp_types as types
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

import toolwire
from tests.serving.parity import AnyServer
from tests.serving.raw_client import ENVELOPE, ERAS, HANDSHAKE, MODERN, RawClient, call_line, request_line, served
from toolwire import Tool, _core
from toolwire.contract.arguments import Arguments
from toolwire.contract.policies import Settings


def named(name: str, schema: bytes | None = None, *policies: Any, **options: Any) -> Tool:
    return Tool.raw(name, "", schema, lambda _: name, *policies, **options)


class Nobody:
    """Carries no call."""

    async def call(self, tool: Tool, arguments: Arguments) -> Any:
        raise NotImplementedError


def imported(entry: bytes) -> Tool:
    """A tool as an import makes it of a listing's entry."""
    listed = _core.read_page(b'{"tools":[' + entry + b"]}").entries[0]
    return Tool(listed.name, listed, Settings(origin="mcp"), Nobody())


@asynccontextmanager
async def opened(server: AnyServer, era: str) -> AsyncIterator[RawClient]:
    async with served(server) as client:
        await client.open(era)
        yield client


async def page(client: RawClient, era: str, cursor: str | None = None) -> tuple[list[str], str | None]:
    members = b"" if cursor is None else b'"cursor":' + json.dumps(cursor).encode()
    result = (await client.ask(request_line(era, "tools/list", members)))["result"]
    return [tool["name"] for tool in result["tools"]], result.get("nextCursor")


async def pages(client: RawClient, era: str) -> list[list[str]]:
    names, cursor = await page(client, era)
    found = [names]
    while cursor is not None:
        assert len(found) < 20
        names, cursor = await page(client, era, cursor)
        found.append(names)
    return found


async def entries(server: AnyServer, era: str) -> dict[str, bytes]:
    """The entries' own bytes."""
    async with opened(server, era) as client:
        await client.ask(request_line(era, "tools/list"))
        page = _core.read_page(_core.members(client.lines[-1])["result"])
        return {entry.name: entry.text for entry in page.entries}


@pytest.mark.parametrize("era", ERAS)
async def test_schemas_leave_as_they_were_given_and_annotations_only_if_given(era: str) -> None:
    odd = b'{"type":"object","properties":{"n":{"maximum":9007199254740993,"x":1.50,"a":{"z":1,"b":2}}},"q":"\\u00e9"}'
    server: Server[Any] = Server("s")
    toolwire.add_tools(
        server,
        named("odd", odd),
        named("hinted", None, toolwire.annotations(read_only=True, title="Hinted")),
        toolwire.tool(name="titled", title="Titled", description="d")(lambda: "x"),
    )
    assert await entries(server, era) == {
        "odd": b'{"name":"odd","description":"","inputSchema":%s}' % odd,
        "hinted": b'{"name":"hinted","description":"","inputSchema":{"type":"object"},'
        b'"annotations":{"title":"Hinted","readOnlyHint":true}}',
        "titled": b'{"name":"titled","title":"Titled","description":"d","inputSchema":{"type":"object"}}',
    }


async def test_an_output_schema_that_is_no_object_is_for_2026_on() -> None:
    """Left as it is it would fail the whole listing on every era before (design 2)."""

    @toolwire.tool
    async def scalar() -> int:
        return 1

    server: Server[Any] = Server("s")
    toolwire.add_tools(server, scalar, named("either", output_schema=b'{"anyOf":[{"type":"object"}]}'), named("plain"))
    before, after = await entries(server, HANDSHAKE), await entries(server, MODERN)
    assert [*before] == [*after] == ["scalar", "either", "plain"]
    assert b"outputSchema" not in before["scalar"] + before["either"]
    assert b'"outputSchema":{"type":"integer"}' in after["scalar"]
    assert b'"outputSchema":{"anyOf":[{"type":"object"}]}' in after["either"]


ODD_ENTRIES = [
    (b'"annotations":{"readOnlyHint":[]}', "annotations"),
    (b'"annotations":5', "annotations"),
    (b'"icons":[{"src":5}]', "icons"),
    (b'"title":5', "title"),
    (b'"_meta":[]', "_meta"),
    (b'"outputSchema":true', "outputSchema"),
]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("member", "name"), ODD_ENTRIES)
async def test_an_odd_member_of_one_entry_costs_that_member_alone(
    member: bytes, name: str, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The SDK would refuse the whole listing, and so would its client."""
    server: Server[Any] = Server("s")
    odd = imported(b'{"name":"odd","description":"d","inputSchema":{"type":"object","x":1.50},%s}' % member)
    toolwire.add_tools(server, named("first"), odd, named("last"))
    with caplog.at_level(logging.WARNING, "toolwire.bridge"):
        found = await entries(server, era)
    assert [*found] == ["first", "odd", "last"]
    assert found["odd"] == b'{"name":"odd","description":"d","inputSchema":{"type":"object","x":1.50}}'
    if (name, era) != ("outputSchema", HANDSHAKE):
        assert caplog.messages == [f"tool 'odd' is listed without its {name}, which is none at {era}"]


async def test_a_schema_that_an_era_cannot_say_costs_its_tool_the_listing_of_that_era(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server: Server[Any] = Server("s")
    strange = b'{"type":"object","required":"x"}'
    toolwire.add_tools(
        server, named("first"), named("strange", strange), imported(b'{"name":"any","inputSchema":{"oneOf":[]}}')
    )
    with caplog.at_level(logging.WARNING, "toolwire.bridge"):
        assert [*await entries(server, HANDSHAKE)] == ["first"]
        found = await entries(server, MODERN)
    assert [*found] == ["first", "strange"]
    assert b'"inputSchema":' + strange in found["strange"]
    assert len(caplog.messages) == 3
    async with opened(server, HANDSHAKE) as client:
        assert not (await client.call(HANDSHAKE, "strange"))["isError"]


@pytest.mark.parametrize("era", ERAS)
async def test_an_imported_entry_is_listed_with_all_that_it_said_but_its_tasks(era: str) -> None:
    entry = (
        b'{"name":"find","title":"Find","icons":[{"src":"https://x/i.png"}],"inputSchema":{"type":"object","x":1e3},'
        b'"execution":{"taskSupport":"required"},"outputSchema":{"type":"object","y":-0},"annotations":{"readOnlyHint":true,"z":1},'
        b'"_meta":{"k":1.50},"x-unheard":[1E400],"description":null}'
    )
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, imported(entry))
    assert await entries(server, era) == {
        "find": b'{"name":"find","title":"Find","icons":[{"src":"https://x/i.png"}],"inputSchema":{"type":"object","x":1e3},'
        b'"outputSchema":{"type":"object","y":-0},"annotations":{"readOnlyHint":true,"z":1},'
        b'"_meta":{"k":1.50},"x-unheard":[1E400]}'
    }


@pytest.mark.parametrize("era", ERAS)
async def test_half_of_a_surrogate_pair_is_not_passed_on(era: str) -> None:
    """Kept in what is read, never written: most readers refuse the whole message (design 4.1)."""
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, imported(b'{"name":"h","description":"cut \\ud83d","inputSchema":{"type":"object"}}'))
    assert (await entries(server, era))["h"] == (
        b'{"name":"h","description":"cut \\ufffd","inputSchema":{"type":"object"}}'
    )


# Pages


def own_pages(*names_of_pages: list[str]) -> Any:
    async def listing(context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        del context
        at = int(params.cursor) if params is not None and params.cursor is not None else 0
        tools = [types.Tool(name=name, input_schema={"type": "object"}) for name in names_of_pages[at]]
        return types.ListToolsResult(tools=tools, next_cursor=str(at + 1) if at + 1 < len(names_of_pages) else None)

    return listing


@pytest.mark.parametrize("era", ERAS)
async def test_the_listing_is_paged_by_an_option_in_the_order_of_adding(era: str) -> None:
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, *(named(name) for name in "edcba"), page_size=2)
    async with opened(server, era) as client:
        assert await pages(client, era) == [["e", "d"], ["c", "b"], ["a"]]
        toolwire.remove_tools(server, "d", "c")
        assert await pages(client, era) == [["e", "b"], ["a"]]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("size", "expected"), [(None, [["a", "b", "c", "x"], ["y"], []]), (2, [["a", "b"], ["c", "x"], ["y"], []])]
)
async def test_the_users_own_listing_begins_where_ours_ends_and_pages_on(
    size: int | None, expected: list[list[str]], era: str
) -> None:
    """A clash costs the other entry alone, on any page."""
    server: Server[Any] = Server("s", on_list_tools=own_pages(["x", "a"], ["y", "b"], ["c"]))
    toolwire.add_tools(server, *map(named, "abc"), page_size=size)
    async with opened(server, era) as client:
        assert await pages(client, era) == expected


@pytest.mark.parametrize("cursor", ["nope", "toolwire:", "toolwire:-1", "toolwire:x", "toolwire:" + "9" * 5000])
async def test_a_cursor_that_nobody_gave_is_refused(cursor: str) -> None:
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, named("a"))
    async with opened(server, HANDSHAKE) as client:
        line = request_line(HANDSHAKE, "tools/list", b'"cursor":' + json.dumps(cursor).encode())
        assert (await client.ask(line))["error"]["code"] == -32602


async def test_an_error_of_the_users_own_listing_stays_an_error() -> None:
    async def failing(context: Any, params: Any) -> types.ErrorData:
        del context, params
        return types.ErrorData(code=-32001, message="not you")

    server: Server[Any] = Server("s", on_list_tools=failing)  # type: ignore[arg-type]  # the runner takes it
    toolwire.add_tools(server, named("a"))
    async with opened(server, HANDSHAKE) as client:
        assert (await client.ask(request_line(HANDSHAKE, "tools/list")))["error"]["message"] == "not you"


# Changes

LISTEN = b'"notifications":{"toolsListChanged":true}'
CHANGED = "notifications/tools/list_changed"
CANCEL_LISTEN = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"_meta":{%s}}}' % ENVELOPE


@pytest.mark.parametrize("kind", [Server, MCPServer])
async def test_a_handshake_client_is_told_of_every_change_and_advertised_that_it_will_be(kind: Any) -> None:
    server = kind("s")
    toolwire.add_tools(server, named("a"))
    async with served(server) as client:
        await client.open(HANDSHAKE)
        toolwire.add_tools(server, named("b"), named("c"))
        toolwire.remove_tools(server, "a", "b")
        await client.settle()
        assert [json.loads(line) for line in client.lines] == [{"jsonrpc": "2.0", "method": CHANGED}] * 2
        assert await pages(client, HANDSHAKE) == [["c"]]
    async with toolwire.connect(server, mode="legacy") as connection:
        capabilities = connection.session.server_capabilities
        assert capabilities is not None
        assert capabilities.tools is not None
        assert capabilities.tools.list_changed is True


@pytest.mark.parametrize("kind", [Server, MCPServer])
async def test_a_modern_client_hears_of_a_change_on_its_subscription_and_nowhere_else(kind: Any) -> None:
    server = kind("s")
    toolwire.add_tools(server, named("a"))
    async with served(server) as client:
        await client.open(MODERN)
        toolwire.add_tools(server, named("b"))
        await client.settle()
        assert client.lines == []
        client.write(request_line(MODERN, "subscriptions/listen", LISTEN, 5))
        with anyio.fail_after(10):
            while not client.lines:
                await anyio.lowlevel.checkpoint()
        toolwire.remove_tools(server, "b")
        with anyio.fail_after(10):
            while len(client.lines) < 2:
                await anyio.lowlevel.checkpoint()
        told = [json.loads(line) for line in client.lines]
        assert told[0]["method"] == "notifications/subscriptions/acknowledged"
        assert (told[1]["method"], told[1]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]) == (CHANGED, 5)
        client.write(CANCEL_LISTEN)
        await client.settle()


@pytest.mark.parametrize("kind", [Server, MCPServer])
@pytest.mark.parametrize("era", ERAS)
async def test_a_tool_that_runs_in_a_thread_may_add_and_remove_others_and_the_client_hears_of_it(
    kind: Any, era: str
) -> None:
    server = kind("s")

    @toolwire.tool
    def change(add: bool) -> str:
        if add:
            toolwire.add_tools(server, named("b"))
        else:
            toolwire.remove_tools(server, "b")
        return "changed"

    toolwire.add_tools(server, change)
    async with served(server) as client:
        await client.open(era)
        if era == MODERN:
            client.write(request_line(MODERN, "subscriptions/listen", LISTEN, 5))
            with anyio.fail_after(10):
                while not client.lines:
                    await anyio.lowlevel.checkpoint()
            client.lines.clear()
        for number, add in enumerate((b"true", b"false"), 1):
            client.write(call_line(era, "change", b'{"add":%s}' % add))
            with anyio.fail_after(10):
                while len(client.lines) < 2 * number:
                    await anyio.lowlevel.checkpoint()
        told = [json.loads(line) for line in client.lines]
        assert sum(line.get("method") == CHANGED for line in told) == 2
        assert [line["result"]["content"][0]["text"] for line in told if "result" in line] == ["changed"] * 2
        if era == MODERN:
            client.write(CANCEL_LISTEN)
            await client.settle()
        assert await pages(client, era) == [["change"]]


async def test_a_server_that_changes_in_another_thread_tells_the_loops_that_it_is_served_in() -> None:
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, named("a"))
    async with served(server) as client:
        await client.open(HANDSHAKE)
        await anyio.to_thread.run_sync(toolwire.add_tools, server, named("b"))
        await anyio.to_thread.run_sync(toolwire.remove_tools, server, "a")
        with anyio.fail_after(10):
            while len(client.lines) < 2:
                await anyio.lowlevel.checkpoint()
        assert [json.loads(line)["method"] for line in client.lines] == [CHANGED] * 2
        assert await pages(client, HANDSHAKE) == [["b"]]


async def test_a_subscription_handler_of_the_users_own_is_left_alone() -> None:
    bus = InMemorySubscriptionBus()
    server: Server[Any] = Server("s", on_subscriptions_listen=ListenHandler(bus))
    before = server.get_request_handler("subscriptions/listen")
    toolwire.add_tools(server, named("a"))
    assert server.get_request_handler("subscriptions/listen") is before


async def test_a_removed_tool_is_unknown_and_an_unknown_one_cannot_be_removed() -> None:
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, named("a"), named("b"))
    with pytest.raises(KeyError, match="no tool named 'x' is served here by toolwire"):
        toolwire.remove_tools(server, "a", "x")
    toolwire.remove_tools(server, "a")
    async with opened(server, HANDSHAKE) as client:
        answer = await client.ask(request_line(HANDSHAKE, "tools/call", b'"name":"a"'))
        assert answer["error"]["message"] == 'unknown tool "a"'
        toolwire.add_tools(server, named("a"))
        assert not (await client.call(HANDSHAKE, "a"))["isError"]


@pytest.mark.parametrize("kind", [Server, MCPServer])
def test_a_server_that_nobody_holds_is_gone(kind: Any) -> None:
    server = kind("s")
    toolwire.add_tools(server, named("a"))
    gone = weakref.ref(server)
    del server
    gc.collect()
    assert gone() is None
