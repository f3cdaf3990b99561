"""Rows C1 to C20 of the spec: what becomes a tool, what is skipped, and where it stood."""

import anyio
import pytest

import toolwire
from tests.bridge.raw import ERAS, OBJ, connected, entry, imported, on_both_loops, report
from toolwire import RemoteCallError, SchemaError, ToolImportError
from toolwire.testing import error, listing, result, silence

EMPTY = "toolwire: ParseSchema: empty schema"
NOTHING = 'toolwire: ParseSchema: top-level type must be "object", got ""'
READ_ONLY = b'"annotations":{"readOnlyHint":true}'
FOREIGN = (
    b'{"type":"object","properties":{"q":{"type":"string","enum":["a","b"]},'
    b'"pick":{"oneOf":[{"type":"string"},{"type":"number"}]}},"required":["q"]}'
)
ZOD = (
    b'{"type":"object","properties":{"path":{"type":["string","null"]}},"required":["path"],'
    b'"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}'
)


@pytest.mark.parametrize("era", ERAS)
async def test_c1_a_server_with_zero_tools_gives_an_empty_set_and_no_error(era: str) -> None:
    async with imported(era=era) as (_, tools):
        assert (len(tools), list(tools), tools.skipped, tools.warnings) == (0, [], (), ())
        tools.raise_for_skipped()


@pytest.mark.parametrize("era", ERAS)
async def test_c2_one_tool_comes_with_its_name_description_and_schema_bytes(era: str) -> None:
    line = entry("search", FOREIGN, b'"description":"finds things",' + READ_ONLY)
    async with imported(line, era=era) as (_, tools):
        (tool,) = tools
        assert (tool.name, tool.description, tool.input_schema.raw) == ("search", "finds things", FOREIGN)
        assert (tools.skipped, tools.warnings) == ((), ())


async def test_c4_a_schema_as_zod_writes_it_is_imported_whole_and_its_tool_answers() -> None:
    answer = result(b'{"content":[{"type":"text","text":"contents"}]}')
    async with imported(entry("read", ZOD), calls=answer) as (_, tools):
        assert tools["read"].input_schema.raw == ZOD
        assert await tools["read"].invoke(b'{"path":null}') == "contents"


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_c5_every_page_is_read_in_order(era: str) -> None:
    pages = [listing(entry("a"), cursor="2"), listing(entry("b"), cursor="3"), listing(entry("c"))]
    async with connected({"tools/list": pages}, era=era) as (server, connection):
        tools = await toolwire.tools(connection)
        assert tools.names == ("a", "b", "c")
        asked = server.requests("tools/list")
        assert [b'"cursor":' in line for line in asked] == [False, True, True]
        assert b'"cursor":"2"' in asked[1]
        assert b'"cursor":"3"' in asked[2]


@pytest.mark.parametrize("era", ERAS)
async def test_c6_an_error_on_the_second_page_gives_no_tools_and_that_error(era: str) -> None:
    pages = [listing(entry("a"), cursor="2"), error(-32603, "disk full", b'{"at":2}')]
    async with connected({"tools/list": pages}, era=era) as (_, connection):
        with pytest.raises(RemoteCallError, match=r"^mcp: disk full") as caught:
            await toolwire.tools(connection)
        assert not isinstance(caught.value, ToolImportError)
        assert (caught.value.code, caught.value.data) == (-32603, b'{"at":2}')
        assert not caught.value.may_have_run


async def test_c6_method_not_found_on_a_later_page_is_an_error_and_not_an_end() -> None:
    pages = [listing(entry("a"), cursor="2"), error(-32601, "Method not found")]
    async with connected({"tools/list": pages}) as (_, connection):
        with pytest.raises(RemoteCallError) as caught:
            await toolwire.tools(connection)
        assert caught.value.code == -32601


@on_both_loops
async def test_c7_a_caller_that_is_already_cancelled_gets_no_tools_and_its_own_cancellation() -> None:
    async with connected({"tools/list": listing(entry("a"))}) as (_, connection):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await toolwire.tools(connection)
        assert scope.cancelled_caught
        assert (await toolwire.tools(connection)).names == ("a",)


@on_both_loops
async def test_c8_a_deadline_of_the_caller_on_the_second_page_is_the_callers_own() -> None:
    pages = [listing(entry("a"), cursor="2"), silence(), listing(entry("b"))]
    async with connected({"tools/list": pages}) as (server, connection):
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(toolwire.tools, connection)
                await server.arrived("tools/list", 2)
                scope.cancel()
        assert scope.cancelled_caught
        assert (await toolwire.tools(connection)).names == ("b",)


@on_both_loops
async def test_c8_the_listings_own_deadline_names_the_server_and_the_limit() -> None:
    pages = [listing(entry("a"), cursor="2"), silence()]
    async with connected({"tools/list": pages}, list_timeout=0.3) as (_, connection):
        with pytest.raises(RemoteCallError) as caught:
            await toolwire.tools(connection)
        assert str(caught.value) == "mcp: listing the tools of raw timed out after 0.3 s"
        assert isinstance(caught.value.cause, TimeoutError)
        assert not caught.value.may_have_run


async def test_c9_an_empty_name_is_skipped_and_reported() -> None:
    async with imported(entry(""), entry("good")) as (_, tools):
        assert tools.names == ("good",)
        assert report(tools) == [("", 0, "empty name")]
        with pytest.raises(ToolImportError, match="empty name"):
            tools.raise_for_skipped()


async def test_c10_under_a_prefix_an_empty_name_is_still_empty() -> None:
    async with imported(entry(""), entry("search"), prefix="gh_") as (_, tools):
        assert tools.names == ("gh_search",)
        assert report(tools) == [("", 0, "empty name")]


@on_both_loops
async def test_c11_a_type_array_root_is_skipped_and_reported() -> None:
    nullable = entry("nullable_root", b'{"type":["object","null"]}')
    async with imported(entry("first"), entry("last"), nullable) as (_, tools):
        assert tools.names == ("first", "last")
        assert [await tool.invoke() for tool in tools] == ["ok", "ok"]
        assert report(tools) == [("nullable_root", 2, NOTHING)]
        with pytest.raises(ToolImportError) as caught:
            tools.raise_for_skipped()
        assert '"nullable_root"' in str(caught.value)
        assert "ParseSchema" in str(caught.value)


NO_OBJECT = "toolwire: ParseSchema: the document is not a JSON object"
ODD_SCHEMAS = {
    "c12 missing": (None, EMPTY),
    "c13 null": (b"null", EMPTY),
    "c14 true": (b"true", NO_OBJECT),
    "false": (b"false", NO_OBJECT),
    "array": (b"[]", NO_OBJECT),
    "text": (b'"object"', NO_OBJECT),
    "empty object": (b"{}", NOTHING),
    "ref": (b'{"$ref":"#/$defs/x"}', NOTHING),
}


@pytest.mark.parametrize("era", ERAS)
async def test_c12_c13_c14_a_schema_that_is_missing_null_or_no_object_costs_its_own_tool(era: str) -> None:
    lines = [entry(name, schema) for name, (schema, _) in ODD_SCHEMAS.items()]
    async with imported(*lines, entry("good"), era=era) as (_, tools):
        assert tools.names == ("good",)
        assert report(tools) == [(name, index, cause) for index, (name, (_, cause)) in enumerate(ODD_SCHEMAS.items())]
        assert {type(record.error) for record in tools.skipped} == {SchemaError}
        assert await tools["good"].invoke() == "ok"


async def test_c15_a_null_entry_is_skipped_with_its_index() -> None:
    async with imported(b"null", entry("good")) as (_, tools):
        assert tools.names == ("good",)
        assert report(tools) == [("", 0, "nil entry in the tool list")]


async def test_c16_of_two_tools_of_one_name_the_first_is_kept() -> None:
    second = entry("search", FOREIGN)
    async with imported(entry("search"), second) as (_, tools):
        assert [tool.input_schema.raw for tool in tools] == [OBJ]
        assert report(tools) == [("search", 1, 'duplicate name "search" in the listing')]


async def test_c17_a_skipped_first_entry_does_not_block_a_later_one_of_its_name() -> None:
    answer = result(b'{"content":[{"type":"text","text":"called"}]}')
    async with imported(entry("search", b"{}"), entry("search"), calls=answer) as (_, tools):
        assert await tools["search"].invoke() == "called"
        assert report(tools) == [("search", 0, NOTHING)]


async def test_c18_a_repeat_with_a_bad_schema_is_a_duplicate() -> None:
    async with imported(entry("search"), entry("search", b"{}")) as (_, tools):
        assert report(tools) == [("search", 1, 'duplicate name "search" in the listing')]


async def test_c19_under_a_prefix_a_duplicate_is_named_as_the_server_names_it() -> None:
    async with imported(entry("a"), entry("a"), prefix="p_") as (_, tools):
        assert tools.names == ("p_a",)
        assert report(tools) == [("a", 1, 'duplicate name "a" in the listing')]


async def test_c20_the_index_counts_skipped_entries_and_runs_over_the_pages() -> None:
    pages = [listing(entry(""), entry("a"), cursor="2"), listing(entry("bad", b"{}"), entry("b"))]
    async with connected({"tools/list": pages}) as (_, connection):
        tools = await toolwire.tools(connection)
        assert tools.names == ("a", "b")
        assert [(record.name, record.index) for record in tools.skipped] == [("", 0), ("bad", 2)]
