"""Faults A: what servers put into schemas, and what other bridges made of it. Received bytes are exported bytes."""

import pytest

import toolwire
from tests.bridge.raw import ERAS, OBJ, connected, entry, imported, report
from toolwire.testing import listing

NOTHING = 'toolwire: ParseSchema: top-level type must be "object", got ""'

VERBATIM = {
    "A1 defs and refs": (
        b'{"type":"object","properties":{"leg":{"$ref":"#/$defs/Leg"}},"required":["leg"],"$defs":{"Leg":{"type":"object",'
        b'"properties":{"km":{"type":"number"}},"additionalProperties":false}}}'
    ),
    "A2 definitions": (
        b'{"type":"object","properties":{"u":{"$ref":"#/definitions/U"}},"definitions":{"U":{"type":"string"}}}'
    ),
    "A3 recursion": (
        b'{"type":"object","properties":{"root":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":'
        b'{"kids":{"type":"array","items":{"$ref":"#/$defs/N"}}}}}}'
    ),
    "A8 mixed enums": (
        b'{"type":"object","properties":{"gear":{"enum":[0,2,5]},"mode":{"type":["integer","null"],"enum":[1,null]},'
        b'"step":{"type":"number","enum":[0.25,1.50]}}}'
    ),
    "A10 boolean sub-schemas and maps": (
        b'{"type":"object","properties":{"any":true,"none":false,"scores":{"type":"object","additionalProperties":'
        b'{"type":"integer"}}}}'
    ),
    "A11 no properties": b'{"type":"object"}',
    "A13 unknown keywords": (
        b'{"type":"object","properties":{"when":{"type":"string","format":"date-time","default":"","examples":["x"],'
        b'"x-unit":"ms","deprecated":true}},"$schema":"https://json-schema.org/draft/2020-12/schema"}'
    ),
    "A14 key order": (
        b'{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"string"},"10":{"type":"string"},'
        b'"9":{"type":"string"}}}'
    ),
    "white space": b'{ "type" :\t"object" , "properties" : { } }',
    "escapes": rb'{"type":"object","title":"\u00e9\/\ud83d\ude00","\u0061":"' + "é😀".encode() + b'"}',
}


@pytest.mark.parametrize("era", ERAS)
async def test_a1_to_a14_a_schema_is_exported_byte_for_byte(era: str) -> None:
    async with imported(*(entry(name, schema) for name, schema in VERBATIM.items()), era=era) as (_, tools):
        assert {tool.name: tool.input_schema.raw for tool in tools} == VERBATIM
        assert (tools.skipped, tools.warnings) == ((), ())


async def test_a5_a_remote_ref_is_kept_flagged_and_never_fetched() -> None:
    schema = (
        b'{"type":"object","properties":{"p":{"$ref":"http://169.254.1.1/s.json"},"q":{"$ref":"file:///etc/hosts"}}}'
    )
    async with imported(entry("t", schema), entry("u")) as (_, tools):
        assert tools["t"].input_schema.raw == schema
        assert tools["t"].warnings == (
            'schema: remote ref "http://169.254.1.1/s.json" at "properties.p.$ref" is never fetched',
            'schema: remote ref "file:///etc/hosts" at "properties.q.$ref" is never fetched',
        )
        assert tools.warnings == tuple(f"tool 't': {line}" for line in tools["t"].warnings)


ROOTS = {
    "a6 any of": b'{"anyOf":[{"type":"object","properties":{"id":{"type":"string"}}},{"type":"object"}]}',
    "list": b'{"type":["object","null"]}',
    "true": b"true",
    "text": b'"object"',
    "null type": b'{"type":null,"required":"x"}',
    "remote": b'{"$ref":"https://example.org/s"}',
}


async def test_a6_any_root_keeps_a_tool_whose_root_is_no_plain_object_as_it_came_and_says_so() -> None:
    """Design 4.4: skipped by default, kept with `any_root`, `{"type":"object"}` where there were no bytes."""
    lines = [entry(name, root) for name, root in ROOTS.items()] + [entry("none", None), entry("null", b"null")]
    answers = {"tools/list": listing(*lines, entry(""), entry("list"))}
    async with connected(answers) as (_, connection):
        strict = await toolwire.tools(connection)
        tools = await toolwire.tools(connection, any_root=True)
    assert (strict.names, len(strict.skipped)) == (("list",), 9)
    assert {tool.name: tool.input_schema.raw for tool in tools} == ROOTS | {"none": OBJ, "null": OBJ}
    assert report(tools) == [("", 8, "empty name"), ("list", 9, 'duplicate name "list" in the listing')]
    assert tools["a6 any of"].warnings == (NOTHING,)
    assert tools["true"].warnings == ("toolwire: ParseSchema: the document is not a JSON object",)
    assert tools["none"].warnings == tools["null"].warnings == ("toolwire: ParseSchema: empty schema",)
    assert tools["null type"].warnings == (NOTHING, 'schema: "required" is not a list of names')
    assert "never fetched" in tools["remote"].warnings[1]


async def test_a6_a_tool_of_any_root_is_called_like_any_other() -> None:
    async with imported(entry("t", b"true"), any_root=True) as (server, tools):
        assert await tools["t"].invoke(b'{"a":1}') == "ok"
        assert len(server.requests("tools/call")) == 1


A7 = (
    b'{"name":"ok","inputSchema":{"type":"object"}}',
    b'{"name":"b1"}',
    b'{"name":"b2","inputSchema":true}',
    b'{"name":"b3","inputSchema":null}',
    b'{"name":"b4","inputSchema":{"type":"object","required":null}}',
    b'{"name":7,"inputSchema":{"type":"object"}}',
    b'{"name":"b6","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}}',
    b'"b7"',
)


@pytest.mark.parametrize("era", ERAS)
async def test_a7_each_malformed_entry_costs_itself_and_is_reported_with_its_reason_and_index(era: str) -> None:
    """An odd `required` and an odd annotation are imported with a warning (design 4.4)."""
    more = (b"[]", b"5", b'{"inputSchema":{"type":"object"}}', b'{"name":null,"inputSchema":{"type":"object"}}')
    async with imported(*A7, *more, entry("last"), era=era) as (_, tools):
        assert tools.names == ("ok", "b4", "b6", "last")
        assert report(tools) == [
            ("b1", 1, "toolwire: ParseSchema: empty schema"),
            ("b2", 2, "toolwire: ParseSchema: the document is not a JSON object"),
            ("b3", 3, "toolwire: ParseSchema: empty schema"),
            ("", 5, "the name is a number, not a string"),
            ("", 7, "the entry is a string, not an object"),
            ("", 8, "the entry is an array, not an object"),
            ("", 9, "the entry is a number, not an object"),
            ("", 10, "empty name"),
            ("", 11, "the name is null, not a string"),
        ]
        assert tools.warnings == (
            "tool 'b4': schema: \"required\" is not a list of names",
            "tool 'b6': the annotation readOnlyHint is a string, not a boolean",
        )
        assert [await tool.invoke() for tool in tools] == ["ok"] * 4


async def test_a7_odd_facts_around_a_schema_are_warnings_and_cost_nothing() -> None:
    odd = entry("odd", OBJ, b'"description":5,"title":[],"annotations":"x","_meta":7,"outputSchema":"y","icons":null')
    async with imported(odd) as (_, tools):
        assert (tools["odd"].description, tools["odd"].title) == ("", None)
        assert tools["odd"].warnings == (
            "the description is a number, not a string",
            "the annotations are a string, not an object",
        )
        assert tools["odd"].definition_json == odd


async def test_a7_nan_in_one_schema_costs_that_tool_alone() -> None:
    """The page is no JSON then; each entry is judged by itself."""
    nan = entry("nan", b'{"type":"object","default":NaN}')
    async with imported(entry("first"), nan, entry("last")) as (_, tools):
        assert tools.names == ("first", "last")
        ((name, index, cause),) = report(tools)
        assert (name, index) == ("nan", 1)
        assert cause.startswith("the entry is not JSON: NaN and Infinity are not JSON at byte ")


def nested(pairs: int) -> bytes:
    return b'{"type":"object","properties":{"a":' * pairs + b'{"type":"string"}' + b"}}" * pairs


@pytest.mark.parametrize("era", ERAS)
async def test_a16_deep_nesting_is_kept_up_to_256_levels_and_costs_its_own_tool_beyond(era: str) -> None:
    deep = [nested(120), nested(127), nested(128), nested(5_000)]
    lines = [entry(f"deep{index}", schema) for index, schema in enumerate(deep)]
    async with imported(*lines, entry("last"), era=era) as (_, tools):
        assert tools.names == ("deep0", "deep1", "last")
        assert [tool.input_schema.raw for tool in tools][:2] == deep[:2]
        assert report(tools) == [
            ("deep2", 2, "toolwire: ParseSchema: nested 257 levels deep, over the limit of 256"),
            ("deep3", 3, "toolwire: ParseSchema: nested 10001 levels deep, over the limit of 256"),
        ]


@pytest.mark.parametrize("era", ERAS)
async def test_a18_half_a_surrogate_pair_in_a_description_flags_the_tool_and_nothing_else(era: str) -> None:
    line = entry("t", rb'{"type":"object","title":"\udc00"}', rb'"description":"bad \ud800 half","title":"\uD83D"')
    async with imported(line, entry("u"), era=era) as (_, tools):
        tool = tools["t"]
        assert (tool.description, tool.title) == ("bad � half", "�")
        assert tool.input_schema.raw == rb'{"type":"object","title":"\udc00"}'
        assert tool.warnings == (
            "the title holds half of a surrogate pair",
            "the description holds half of a surrogate pair",
            'schema: half of a surrogate pair at "title"',
        )
        assert await tool.invoke() == "ok"


async def test_a18_half_a_surrogate_pair_in_a_name_is_skipped_since_nobody_could_call_it() -> None:
    async with imported(entry(rb'"t\ud800"'), entry("u")) as (_, tools):
        assert tools.names == ("u",)
        assert report(tools) == [("t�", 0, "the name holds half of a surrogate pair")]


async def test_a20_looking_at_a_schema_in_every_way_leaves_it_as_it_came() -> None:
    schema = b'{"type":"object","properties":{"q":{"type":"string","x":[1.50]}},"required":["q"],"required":["q"]}'
    async with imported(entry("t", schema)) as (_, tools):
        seen, print_before = tools["t"].input_schema, tools.fingerprint
        seen.value["properties"]["q"]["type"] = "integer"
        seen.value.clear()
        assert len(dict(seen.properties)) == 1
        assert seen.raw == tools["t"].input_schema.raw == schema
        assert tools.fingerprint == print_before
