"""Faults B: numbers and JSON text keep their spelling in schemas, in arguments and in results."""

import pytest

from tests.bridge.raw import ERAS, OK, answers_in_turn, arguments_of, entry, imported, refused, text
from toolwire import RemoteCallError
from toolwire.testing import result

VALUES = {
    "b1": b'{"order":9223372036854775807,"u":18446744073709551615,"big":123456789012345678901234567890}',
    "b2": b'{"n":12,"ratio":12.0,"deep":[{"at":1812345678901},[7,7.0]]}',
    "b3": b'{"a":1e3,"b":1E+3,"c":1.50,"d":0.10000000000000000555,"e":1e22,"f":-0,"g":-0.0}',
    "b4": b'{"x":1E400,"y":-1e999,"z":1e-400}',
    "b7": b'{"amount":19.990000000000000001,"rate":0.1}',
    "digits": b'{"n":' + b"7" * 5_000 + b"}",
}


@pytest.mark.parametrize("era", ERAS)
async def test_b1_b2_b3_b4_b7_numbers_go_out_and_come_back_digit_for_digit(era: str) -> None:
    schemas = [b'{"type":"object","enum":[' + value + b"]}" for value in VALUES.values()]
    entries = [entry(name, schema) for name, schema in zip(VALUES, schemas, strict=True)]
    calls = result(b'{"content":[],"structuredContent":{args}}')
    async with imported(*entries, calls=calls, era=era) as (server, tools):
        assert [tool.input_schema.raw for tool in tools] == schemas
        for name, value in VALUES.items():
            output = await tools[name].call(value)
            assert (output.structured, output.text) == (value, value.decode())
        assert [arguments_of(line) for line in server.requests("tools/call")] == list(VALUES.values())


@pytest.mark.parametrize("era", ERAS)
async def test_b3_the_spelling_of_a_text_is_kept_with_its_escapes_and_its_key_order(era: str) -> None:
    value = '{"z":"\\u00e9\\/<&>é😀\\ud83d\\ude00","a":{"10":1,"9":[ ]},"":0}'.encode()
    async with imported(entry("t"), calls=result(b'{"content":[],"structuredContent":{args}}'), era=era) as (
        server,
        tools,
    ):
        output = await tools["t"].call(value)
        assert output.structured == value
        assert output.text == value.decode().replace("[ ]", "[]")
        assert [arguments_of(line) for line in server.requests("tools/call")] == [value]


NOT_FINITE = {
    b'{"x":1E400,"z":NaN}': 'invalid JSON at offset 16: field "z": NaN and Infinity are not JSON',
    b'{"w":[1,Infinity]}': 'invalid JSON at offset 9: field "w.1": NaN and Infinity are not JSON',
    b'{"w":-Infinity}': 'invalid JSON at offset 6: field "w": NaN and Infinity are not JSON',
    b'{"w":{"v":nan}}': "invalid JSON at offset 12: unexpected character",
}


async def test_b4_what_is_not_finite_in_arguments_is_refused_with_its_place() -> None:
    async with imported(entry("t")) as (server, tools):
        assert {given: await refused(tools["t"], given) for given in NOT_FINITE} == NOT_FINITE
        assert server.requests("tools/call") == []


async def test_b4_what_is_not_finite_in_a_result_fails_that_answer_and_the_session_lives() -> None:
    body = b'{"content":[{"type":"text","text":"t"}],"structuredContent":{"z":NaN}}'
    async with imported(entry("t"), calls=[*answers_in_turn(body), result(OK)]) as (_, tools):
        with pytest.raises(RemoteCallError) as caught:
            await tools["t"].invoke()
        assert caught.value.may_have_run
        assert body in (caught.value.raw or b"")
        assert await tools["t"].invoke() == "ok"


REPEATED = {
    b'{"path":"/var/x","path":"/etc/passwd"}': 'field "path": given twice (the second time at offset 19)',
    b'{"path":1,"path":1}': 'field "path": given twice (the second time at offset 12)',
    rb'{"path":1,"p\u0061th":2}': 'field "path": given twice (the second time at offset 12)',
    b'{"a":[{"b":1,"c":2,"b":3}]}': 'field "a.0.b": given twice (the second time at offset 21)',
    b'{"":1,"":2}': 'field "": given twice (the second time at offset 8)',
    rb'{"\ud83d\ude00":1,"' + "😀".encode() + b'":2}': 'field "😀": given twice (the second time at offset 20)',
}


async def test_b5_a_name_given_twice_is_refused_so_that_no_policy_sees_another_value() -> None:
    async with imported(entry("t")) as (server, tools):
        assert {given: await refused(tools["t"], given) for given in REPEATED} == REPEATED
        assert server.requests("tools/call") == []


async def test_b5_one_name_in_two_objects_is_no_repeat() -> None:
    async with imported(entry("t")) as (_, tools):
        assert await tools["t"].invoke(b'{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}') == "ok"


async def test_b9_json_in_a_text_block_stays_text() -> None:
    said = '[1.0, 1e3, {"b":1,"a":2}]'
    async with imported(entry("t"), calls=result(text(said), verbatim=True)) as (_, tools):
        output = await tools["t"].call()
        assert (output.text, output.joined_text(), output.structured) == (said, said, None)
