"""Faults C: what models write where arguments should stand. What is checked is what is sent, and nothing is guessed."""

import pytest

from tests.bridge.raw import ERAS, arguments_of, entry, imported, on_both_loops, refused
from toolwire.contract.arguments import Arguments

TYPED = (
    b'{"type":"object","properties":{"body":{"type":"string"},"note":{"type":["string","null"]},"code":{"type":"string"},'
    b'"filter":{"type":"object"},"ids":{"type":"array"}},"required":["body"]}'
)
FORWARDED = {
    "c2 json-looking strings stay strings": rb'{"body":"{\"x\":1}","note":"null","code":"[1]"}',
    "c1 a stringified object is the server's business": rb'{"filter":"{\"since\":1}","ids":"[1,2]"}',
    "c6 nulls are kept": b'{"q":"a","limit":null,"tag":null}',
    "c7 numbers as strings are kept": b'{"n":"5","zip":"00501","flag":"true"}',
    "c11 empty placeholders are kept": b'{"target":"F","locale":"","extra":{}}',
    "what the schema does not know": b'{"unknown":[]}',
}


@pytest.mark.parametrize("era", ERAS)
async def test_c2_c11_arguments_are_forwarded_as_they_are_whatever_the_schema_says(era: str) -> None:
    """At this door the schema is the server's business (design 4.3)."""
    async with imported(entry("t", TYPED), era=era) as (server, tools):
        for arguments in FORWARDED.values():
            assert await tools["t"].invoke(arguments) == "ok"
        assert [arguments_of(line) for line in server.requests("tools/call")] == list(FORWARDED.values())


REFUSED: dict[bytes, str] = {
    # C3: the whole is encoded twice
    rb'"{\"a\":1}"': "expected object at the top level, got string",
    # C4: no object
    b"[1]": "expected object at the top level, got array",
    b"3": "expected object at the top level, got number",
    b'"x"': "expected object at the top level, got string",
    b"true": "expected object at the top level, got bool",
    b"-0.5e1": "expected object at the top level, got number",
    # C9: half a surrogate pair
    rb'{"msg":"cut \ud83d"}': 'field "msg": half of a surrogate pair at offset 13',
    rb'{"a":[{"b\udc00":1}]}': 'field "a.0.b�": half of a surrogate pair at offset 10',
    rb'{"msg":"\ude00\ud83d"}': 'field "msg": half of a surrogate pair at offset 9',
    # C10: fences, trailing text, what is nearly JSON
    b'```json\n{"a":1}\n```': "invalid JSON at offset 1: unexpected character",
    b'{"a":1}{"a":2}': "trailing data after the JSON arguments",
    b'{"a":1} thanks': "trailing data after the JSON arguments",
    b'{"a":1}}': "trailing data after the JSON arguments",
    b"null null": "trailing data after the JSON arguments",
    b'{"a":1,}': "invalid JSON at offset 8: unexpected character",
    b"{'a':1}": "invalid JSON at offset 2: unexpected character",
    b'{"a":1': "invalid JSON: unexpected end of input",
    b'{"city":': "invalid JSON: unexpected end of input",
    b'{"city":}': "invalid JSON at offset 9: unexpected character",
    b"{": "invalid JSON: unexpected end of input",
    b'{"a":01}': "invalid JSON at offset 7: invalid number",
    b'{"a":"\t"}': "invalid JSON at offset 7: control character in a string",
    rb'{"a":"\x"}': "invalid JSON at offset 8: invalid escape in a string",
    b'{"a":"caf\xe9"}': "invalid JSON at offset 10: invalid UTF-8",
    b'\xef\xbb\xbf{"a":1}': "invalid JSON at offset 1: unexpected character",
    b"undefined": "invalid JSON at offset 1: unexpected character",
    b'{"a":' * 257 + b"1" + b"}" * 257: "invalid JSON at offset 1281: nested deeper than 256 levels",
}


@pytest.mark.parametrize("era", ERAS)
async def test_c3_c4_c9_c10_what_is_no_object_is_refused_before_the_wire_with_its_place(era: str) -> None:
    """C4: `null` is `{}` (row D3 wins, design 4.4)."""
    async with imported(entry("t"), era=era) as (server, tools):
        said = {given: await refused(tools["t"], given) for given in REFUSED}
        assert said == REFUSED
        assert await tools["t"].invoke() == "ok"
        assert len(server.requests("tools/call")) == 1


async def test_c9_half_a_surrogate_pair_in_a_str_is_refused_like_its_escape() -> None:
    async with imported(entry("t")) as (server, tools):
        assert "half of a surrogate pair" in await refused(tools["t"], '{"msg":"cut \ud83d"}')
        assert 'field "msg": half of a surrogate pair' in await refused(tools["t"], {"msg": "cut \ud83d"})
        assert await tools["t"].invoke('{"msg":"whole 😀 \\ud83d\\ude00"}') == "ok"
        assert len(server.requests("tools/call")) == 1


@on_both_loops
async def test_c5_the_arguments_member_is_always_sent() -> None:
    async with imported(entry("t")) as (server, tools):
        blank: list[Arguments] = [b"", b"  \n", b"{}", None, {}, ""]
        for given in blank:
            await tools["t"].call(given)
        await tools["t"].call()
        calls = server.requests("tools/call")
        assert len(calls) == 7
        assert all(line.endswith(b'"params":{"name":"t","arguments":{}}}') for line in calls)


async def test_arguments_of_256_levels_are_sent() -> None:
    deep = b'{"a":' * 256 + b"1" + b"}" * 256
    async with imported(entry("t")) as (server, tools):
        assert await tools["t"].invoke(deep) == "ok"
        assert arguments_of(server.requests("tools/call")[0]) == deep


async def test_a_name_is_refused_by_the_name_that_the_model_knows() -> None:
    async with imported(entry('odd "name" é'), prefix="gh_") as (_, tools):
        assert await refused(tools[0], b"[]") == "expected object at the top level, got array"
        assert tools[0].name == 'gh_odd "name" é'
