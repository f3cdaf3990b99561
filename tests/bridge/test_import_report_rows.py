"""Rows C21 to C37 of the spec: the report, prefixes, hints, policies, output schemas."""

import pytest

import toolwire
from tests.bridge.raw import ERAS, OBJ, connected, entry, imported
from toolwire import SchemaError, ToolImportError, Toolset, max_result_bytes, origin, sequential, timeout
from toolwire.testing import listing

NULLABLE = entry("nullable_root", b'{"type":["object","null"]}')


def report_of(tools: Toolset) -> ToolImportError:
    with pytest.raises(ToolImportError) as caught:
        tools.raise_for_skipped()
    return caught.value


async def test_c21_the_report_of_one_skipped_tool_reads_exactly() -> None:
    async with imported(entry("first"), entry("last"), NULLABLE) as (_, tools):
        assert str(report_of(tools)) == (
            'mcp: 1 tool(s) not imported: "nullable_root": '
            'toolwire: ParseSchema: top-level type must be "object", got ""'
        )


async def test_c22_the_report_of_two_skipped_tools_reads_exactly() -> None:
    async with imported(entry(""), entry("search"), entry("search")) as (_, tools):
        assert str(report_of(tools)) == (
            'mcp: 2 tool(s) not imported: entry 0: empty name; "search": duplicate name "search" in the listing'
        )


async def test_c23_the_causes_are_reachable() -> None:
    async with imported(entry(""), NULLABLE) as (_, tools):
        group = report_of(tools)
        assert [type(cause) for cause in group.exceptions][1] is SchemaError
        matched, rest = group.split(SchemaError)
        assert isinstance(matched, ToolImportError)
        assert isinstance(rest, ToolImportError)
        assert [record.name for record in matched.skipped] == ["nullable_root"]
        assert [str(cause) for cause in rest.exceptions] == ["empty name"]


async def test_c24_a_clean_server_has_no_report_at_all() -> None:
    async with imported(entry("only")) as (_, tools):
        assert tools.skipped == ()
        tools.raise_for_skipped()


async def test_c25_nothing_importable_is_an_empty_set_and_a_report() -> None:
    async with imported(NULLABLE) as (_, tools):
        assert len(tools) == 0
        assert len(report_of(tools).skipped) == 1


async def test_c26_a_prefix_is_put_before_the_name_and_never_on_the_wire() -> None:
    async with imported(entry("search"), prefix="gh_") as (server, tools):
        assert tools.names == ("gh_search",)
        await tools["gh_search"].invoke()
        (call,) = server.requests("tools/call")
        assert b'"name":"search"' in call
        assert b"gh_" not in call


async def test_c27_one_import_knows_one_prefix_and_the_last_one_said_wins() -> None:
    """A keyword cannot be given twice; options that are merged keep the last word, and imports do not add up."""
    async with connected({"tools/list": listing(entry("search"))}) as (_, connection):
        await toolwire.tools(connection, prefix="a_")
        options = {"prefix": "a_"} | {"prefix": "b_"}
        assert (await toolwire.tools(connection, prefix=options["prefix"])).names == ("b_search",)


async def test_c28_a_none_among_policies_is_passed_over() -> None:
    async with imported(entry("search"), policy=[None, origin("gh"), None]) as (_, tools):
        assert tools["search"].origin == "gh"


HINTS = {
    "c29 no hint": (b"", True),
    "c29 read only": (b'"annotations":{"readOnlyHint":true}', False),
    "c29 not read only": (b'"annotations":{"readOnlyHint":false}', True),
    "c30 annotations null": (b'"annotations":null', True),
    "c30 annotations empty": (b'"annotations":{}', True),
    "c31 destructive and read only": (b'"annotations":{"destructiveHint":true,"readOnlyHint":true}', False),
    "only other hints": (b'"annotations":{"idempotentHint":true,"openWorldHint":false}', True),
    "a hint that is no boolean": (b'"annotations":{"readOnlyHint":"true"}', True),
    "a hint of another name": (b'"annotations":{"readonlyhint":true}', True),
    "a hint in escapes": (rb'"annotations":{"read\u004fnlyHint":true}', False),
    "annotations that are a list": (b'"annotations":["readOnlyHint"]', True),
}


@pytest.mark.parametrize("era", ERAS)
async def test_c29_c30_c31_a_tool_is_sequential_unless_it_says_that_it_only_reads(era: str) -> None:
    async with imported(*(entry(name, OBJ, more) for name, (more, _) in HINTS.items()), era=era) as (_, tools):
        assert {tool.name: tool.sequential for tool in tools} == {name: alone for name, (_, alone) in HINTS.items()}


async def test_c32_no_policy_takes_the_sequence_away() -> None:
    policies = [timeout(0), max_result_bytes(0), origin("x")]
    read_only = entry("reads", OBJ, b'"annotations":{"readOnlyHint":true}')
    async with imported(entry("writes"), policy=policies) as (_, tools):
        assert tools["writes"].sequential
        assert not tools["writes"].settings.sequential_by_policy
    async with imported(read_only, policy=sequential()) as (_, tools):
        assert tools["reads"].sequential


async def test_c33_the_origin_is_mcp_unless_a_policy_says_otherwise() -> None:
    async with connected({"tools/list": listing(entry("search"))}) as (_, connection):
        assert (await toolwire.tools(connection))[0].origin == "mcp"
        assert (await toolwire.tools(connection, policy=origin("gh")))[0].origin == "gh"


async def test_c34_an_output_schema_with_an_objects_root_is_recorded_byte_for_byte() -> None:
    schema = b'{ "type":"object", "properties":{"n":{"maximum":1.50}} }'
    async with imported(entry("t", OBJ, b'"outputSchema":' + schema)) as (_, tools):
        recorded = tools["t"].output_schema
        assert recorded is not None
        assert recorded.raw == schema


async def test_c35_an_output_schema_without_an_objects_root_is_not_recorded_and_costs_nothing() -> None:
    """Its bytes are still in the definition."""
    schemas = [b'{"type":"integer"}', b"true", b"null", b"{}", b'{"type":["object","null"]}', b"5"]
    lines = [entry(f"t{index}", OBJ, b'"outputSchema":' + schema) for index, schema in enumerate(schemas)]
    async with imported(*lines) as (_, tools):
        assert [tool.output_schema for tool in tools] == [None] * 6
        assert tools.skipped == ()
        assert [tool.definition_json for tool in tools] == lines


@pytest.mark.parametrize("era", ERAS)
async def test_c36_the_session_is_usable_after_the_import(era: str) -> None:
    async with connected({"tools/list": listing(entry("search"))}, era=era) as (_, connection):
        await toolwire.tools(connection)
        assert [tool.name for tool in (await connection.client.list_tools()).tools] == ["search"]
        assert (await toolwire.tools(connection)).names == ("search",)


@pytest.mark.parametrize("era", ERAS)
async def test_c37_a_big_integer_in_a_schema_keeps_its_last_digit(era: str) -> None:
    """The reference rounds it to …992 on its way through a float; here the bytes are the server's own."""
    schema = b'{"type":"object","properties":{"id":{"type":"integer","maximum":9007199254740993}}}'
    async with imported(entry("t", schema), era=era) as (_, tools):
        assert tools["t"].input_schema.raw == schema
        assert tools["t"].input_schema.value["properties"]["id"]["maximum"] == 9007199254740993
