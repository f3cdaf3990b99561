"""Faults F: pages, cursors and deadlines of a listing."""

import anyio
import pytest

import toolwire
from tests.bridge.raw import ERAS, connected, entry, imported, on_both_loops, report
from toolwire import ClientWire, RemoteCallError
from toolwire.testing import RawServer, error, later, listing, result
from toolwire.wire.limits import Limits


def cursors(server: RawServer) -> list[bytes | None]:
    """Cut out the JSON of the cursor that each `tools/list` has sent."""
    found = []
    for line in server.requests("tools/list"):
        start = line.find(b'"cursor":') + len(b'"cursor":')
        found.append(line[start : line.index(b'"', start + 1) + 1] if b'"cursor":' in line else None)
    return found


@pytest.mark.parametrize("era", ERAS)
async def test_f1_all_pages_are_read_in_order(era: str) -> None:
    pages = [listing(entry("a"), cursor="p2"), listing(cursor="p3"), listing(entry("b"), entry("c"))]
    async with connected({"tools/list": pages}, era=era) as (server, connection):
        tools = await toolwire.tools(connection)
        assert (tools.names, tools.warnings) == (("a", "b", "c"), ())
        assert cursors(server) == [None, b'"p2"', b'"p3"']


@pytest.mark.parametrize("era", ERAS)
async def test_f2_an_empty_cursor_is_a_cursor_and_is_sent_back(era: str) -> None:
    pages = [listing(entry("a"), cursor=""), listing(entry("b"))]
    async with connected({"tools/list": pages}, era=era) as (server, connection):
        tools = await toolwire.tools(connection)
        assert (tools.names, tools.warnings) == (("a", "b"), ())
        assert cursors(server) == [None, b'""']


async def test_f2_absent_and_null_end_a_listing_and_another_kind_does_so_with_a_warning() -> None:
    odd = ("the server's nextCursor is a number, not a string",)
    bodies: dict[bytes, tuple[str, ...]] = {
        b'{"tools":[]}': (),
        b'{"tools":[],"nextCursor":null}': (),
        b'{"tools":[],"nextCursor":"x","nextCursor":null}': (),
        b'{"tools":[],"nextCursor":5}': odd,
        b'{"tools":[],"nextCursor":"x","nextCursor":5}': odd,
    }
    async with connected({"tools/list": [result(body) for body in bodies]}) as (server, connection):
        assert {body: (await toolwire.tools(connection)).warnings for body in bodies} == bodies
        assert len(server.requests("tools/list")) == 5


async def test_f2_a_cursor_is_sent_back_as_the_server_spells_it() -> None:
    page = result(rb'{"nextCursor":"\u00e9\/=","tools":[]}', verbatim=True)
    async with connected({"tools/list": [page, listing(entry("b"))]}) as (server, connection):
        assert (await toolwire.tools(connection)).names == ("b",)
        assert rb'"cursor":"\u00e9\/="' in server.requests("tools/list")[1]


@on_both_loops
@pytest.mark.parametrize("cursor", ["", "x"])
async def test_f3_a_constant_cursor_ends_the_listing_with_what_is_there_and_one_warning(cursor: str) -> None:
    async with connected({"tools/list": listing(entry("a"), entry(""), cursor=cursor)}) as (server, connection):
        tools = await toolwire.tools(connection)
        assert tools.names == ("a",)
        assert report(tools) == [("", 1, "empty name")]
        assert tools.warnings == (f'the listing gave the cursor "{cursor}" twice: it was ended there',)
        assert len(server.requests("tools/list")) == 2


async def test_f3_cursors_in_a_circle_end_the_listing() -> None:
    pages = [listing(entry(name), cursor=following) for name, following in (("a", "1"), ("b", "2"), ("c", "1"))]
    async with connected({"tools/list": [*pages, listing(entry("never"))]}) as (server, connection):
        tools = await toolwire.tools(connection)
        assert tools.names == ("a", "b", "c")
        assert tools.warnings == ('the listing gave the cursor "1" twice: it was ended there',)
        assert cursors(server) == [None, b'"1"', b'"2"']


async def test_f3_a_page_that_comes_again_under_new_cursors_adds_nothing_and_its_cursors_go_on() -> None:
    twice = [listing(entry("a"), entry("", None), cursor=cursor) for cursor in ("1", "2", "3")]
    async with connected({"tools/list": [*twice, listing(entry("b"))]}) as (_, connection):
        tools = await toolwire.tools(connection)
        assert tools.names == ("a", "b")
        assert report(tools) == [("", 1, "empty name")]


async def test_f3_pages_without_end_stop_at_the_cap_with_a_warning() -> None:
    with RawServer({"tools/list": [listing(entry(f"t{page}"), cursor=f"c{page}") for page in range(12)]}) as server:
        wire = ClientWire(server.argv, limits=Limits(pages=10))
        with anyio.fail_after(20):
            async with toolwire.connect(wire) as connection:
                tools = await toolwire.tools(connection)
        assert len(tools) == 10
        assert tools.warnings == ("the listing has over 10 pages: it was ended there",)
        assert len(server.requests("tools/list")) == 10


async def test_f3_tools_over_the_cap_are_quarantined_and_end_the_listing() -> None:
    pages = [listing(*(entry(f"t{index}") for index in range(8)), cursor="2"), listing(entry("never"))]
    with RawServer({"tools/list": pages}) as server:
        wire = ClientWire(server.argv, limits=Limits(tools=5))
        with anyio.fail_after(20):
            async with toolwire.connect(wire) as connection:
                tools = await toolwire.tools(connection)
        assert tools.names == ("t0", "t1", "t2", "t3", "t4")
        assert report(tools) == [(f"t{index}", index, "over the limit of 5 tools a listing") for index in (5, 6, 7)]
        assert tools.warnings == ("the listing goes on after 8 tools: it was ended there",)
        assert len(server.requests("tools/list")) == 1


@on_both_loops
async def test_f5_one_deadline_covers_the_whole_walk() -> None:
    pages = [later(0.15, listing(entry(f"t{page}"), cursor=f"c{page}")) for page in range(50)]
    async with connected({"tools/list": pages}, list_timeout=0.5) as (server, connection):
        with pytest.raises(RemoteCallError, match=r"listing the tools of raw timed out after 0\.5 s") as caught:
            await toolwire.tools(connection)
        assert not caught.value.may_have_run
        assert len(server.requests("tools/list")) <= 4


@pytest.mark.parametrize("era", ERAS)
async def test_f7_a_server_without_the_method_has_no_tools(era: str) -> None:
    async with connected({"tools/list": error(-32601, "Method not found")}, era=era) as (_, connection):
        tools = await toolwire.tools(connection)
        assert (len(tools), tools.skipped, tools.warnings) == (0, (), ())


@pytest.mark.parametrize("era", ERAS)
async def test_f9_calls_of_any_page_cost_no_further_listing(era: str) -> None:
    promise = b'"outputSchema":{"type":"object"}'
    pages = [listing(entry("a"), cursor="2"), listing(entry("b", more=promise))]
    calls = result(b'{"content":[],"structuredContent":{}}')
    async with connected({"tools/list": pages, "tools/call": calls}, era=era) as (server, connection):
        tools = await toolwire.tools(connection)
        for tool in (*tools, *tools):
            await tool.invoke()
        assert len(server.requests("tools/list")) == 2
        assert len(server.requests("tools/call")) == 4


ODD_PAGES = {
    b"{}": "mcp: the server's answer has no list of tools",
    b'{"tools":{}}': "mcp: the server's tools are not a list",
    b'{"tools":"x"}': "mcp: the server's tools are not a list",
    b"[]": "mcp: the server's result is an array, not an object",
    b'"x"': "mcp: the server's result is a string, not an object",
}


async def test_an_answer_without_a_list_is_an_error_and_the_session_lives() -> None:
    pages = [result(body) for body in ODD_PAGES]
    async with connected({"tools/list": [*pages, listing(entry("a"))]}) as (_, connection):
        for said in ODD_PAGES.values():
            with pytest.raises(RemoteCallError) as caught:
                await toolwire.tools(connection)
            assert (str(caught.value), caught.value.may_have_run) == (said, False)
        assert (await toolwire.tools(connection)).names == ("a",)


async def test_a_list_that_is_null_is_an_empty_one_with_a_warning() -> None:
    async with connected({"tools/list": result(b'{"tools":null}')}) as (_, connection):
        tools = await toolwire.tools(connection)
        assert (len(tools), tools.warnings) == (0, ("the server's list of tools is null",))


async def test_members_of_a_page_are_found_in_any_order_and_spelling() -> None:
    tools = rb'[{"inputSchema":{"type":"object"},"n\u0061me":"a"}]'
    body = rb'{"next\u0043ursor":null,"t\u006fols":' + tools + b',"_meta":{"tools":[]}}'
    async with connected({"tools/list": result(body, verbatim=True)}) as (_, connection):
        assert (await toolwire.tools(connection)).names == ("a",)


HEADERS = {
    "good": b'{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}',
    "bad": b'{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"no header"}}}',
    "none": b'{"type":"object"}',
    "long": b'{"type":"object","x-mcp-header-less":' + b"7" * 5_000 + b"}",
}


async def test_an_invalid_header_annotation_costs_its_tool_on_2026_07_28_and_nothing_before() -> None:
    """Design 4.4: a skipped entry on a 2026-07-28 session of any transport, as the SDK drops it."""
    lines = [entry(name, schema) for name, schema in HEADERS.items()]
    async with imported(*lines, era=ERAS[1]) as (_, tools):
        assert tools.names == ("good", "none", "long")
        assert [(record.name, record.index) for record in tools.skipped] == [("bad", 1)]
    async with imported(*lines, era=ERAS[0]) as (_, tools):
        assert tools.names == ("good", "bad", "none", "long")
