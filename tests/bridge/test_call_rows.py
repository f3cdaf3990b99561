"""Rows D1 to D19 of the spec: what one call sends, and the text or the error that it gives."""

import base64

import pytest

from tests.bridge.raw import (
    ERAS,
    OK,
    answers_in_turn,
    arguments_of,
    entry,
    imported,
    on_both_loops,
    text,
)
from toolwire import RemoteCallError, Tool, ToolFailure, ToolReturnedError
from toolwire.testing import close_stdout, die, error, result, silence, stderr, then

SPELLED = rb'{"n":1.50,"e":1E400,"m":-0 , "s":"\u00e9\/ ' + "é".encode() + b'"}'
B_TEXT = b'{"type":"text","text":"b"}]}'
PNG = base64.b64encode(b"123456789")


def failure_of(caught: pytest.ExceptionInfo[ToolFailure]) -> ToolFailure:
    assert caught.value.remote
    assert caught.value.kind == "failed"
    assert isinstance(caught.value.cause, ToolReturnedError)
    assert caught.value.output.is_error
    return caught.value


async def failed(tool: Tool) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        await tool.invoke()
    return failure_of(caught)


async def lost(tool: Tool) -> RemoteCallError:
    with pytest.raises(RemoteCallError) as caught:
        await tool.invoke()
    assert not isinstance(caught.value.cause, ToolReturnedError)
    assert str(caught.value).startswith("mcp: ")
    return caught.value


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_d1_d2_d3_arguments_go_out_as_they_are_and_blank_ones_as_an_empty_object(era: str) -> None:
    """White space around the object is no part of it; line breaks inside it become spaces, since a line is one line."""
    given = {
        b'{"z":1,"a":[2,3],"nested":{"k":"v"}}': b'{"z":1,"a":[2,3],"nested":{"k":"v"}}',
        b" " + SPELLED + b"\n": SPELLED,
        b'{\r\n\t"a":\n1}': b'{  \t"a": 1}',
        b"": b"{}",
        b"  \n": b"{}",
        b"{}": b"{}",
        b" null ": b"{}",
        b"null": b"{}",
    }
    async with imported(entry("t"), era=era) as (server, tools):
        for arguments in given:
            assert await tools["t"].invoke(arguments) == "ok"
            assert await tools["t"].invoke(arguments.decode()) == "ok"
        sent = [arguments_of(line) for line in server.requests("tools/call")]
        assert sent == [expected for expected in given.values() for _ in range(2)]


ROWS: dict[str, tuple[bytes, str]] = {
    "d4 one text": (text("3 hits"), "3 hits"),
    "d5 two texts": (b'{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}', "one\ntwo"),
    "d5 their own line breaks": (b'{"content":[{"type":"text","text":"a\\n"},{"type":"text","text":""}]}', "a\n\n"),
    "d6 structured": (b'{"content":[{"type":"text","text":"x"}],"structuredContent":{ "a" : 1 }}', '{"a":1}'),
    "d6 its spelling": (
        '{"content":[],"structuredContent":{"z":1.50,"a":[1E400,-0,9007199254740993],"t":"<&> é \\u00e9"}}'.encode(),
        '{"z":1.50,"a":[1E400,-0,9007199254740993],"t":"<&> é \\u00e9"}',
    ),
    **{
        f"d7 structured {value}": (
            b'{"content":[{"type":"text","text":"t"}],"structuredContent":' + value.encode() + b"}",
            value,
        )
        for value in ("0", "false", '""', "[]", "{}")
    },
    "d8 structured null": (b'{"content":[{"type":"text","text":"t"}],"structuredContent":null}', "t"),
    "d9 markers": (
        b'{"content":[{"type":"image","data":"' + PNG + b'","mimeType":"image/png"},'
        b'{"type":"resource","resource":{"uri":"file:///var/x","text":"lost in the marker"}},'
        b'{"type":"resource_link","uri":"file:///var/y","name":"y"}]}',
        "[image image/png, 9 bytes]\n[resource file:///var/x]\n[resource file:///var/y]",
    ),
    "d9 no inner resource": (b'{"content":[{"type":"resource"}]}', "[resource ]"),
    "d10 sizes": (
        b'{"content":[{"type":"image","data":"' + base64.b64encode(b"\0" * 12_000) + b'","mimeType":"image/png"},'
        b'{"type":"audio","data":"' + base64.b64encode(b"1234567") + b'","mimeType":"audio/wav"}]}',
        "[image image/png, 12000 bytes]\n[audio audio/wav, 7 bytes]",
    ),
    "d11 unknown content": (
        b'{"content":[{"type":"video","data":"AA=="},{"type":"text","text":"b"}]}',
        "[unsupported block: video]\nb",
    ),
    "d12 nothing": (b'{"content":[]}', ""),
    "d13 mixed": (
        b'{"content":[{"type":"text","text":"a"},{"type":"image","data":"AA==","mimeType":"image/gif"},' + B_TEXT,
        "a\n[image image/gif, 1 bytes]\nb",
    ),
}


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_d4_to_d13_a_result_reads_as_the_table_says(era: str) -> None:
    """D11: design 4.4 gives an unknown block a marker that names its type, in place of the reference's `[content]`."""
    bodies = [body for body, _ in ROWS.values()]
    async with imported(entry("t"), calls=answers_in_turn(*bodies), era=era) as (_, tools):
        read = {name: await tools["t"].invoke() for name in ROWS}
    assert read == {name: expected for name, (_, expected) in ROWS.items()}


ERRORS: dict[str, tuple[bytes, str]] = {
    "d14 its own text": (
        b'{"content":[{"type":"text","text":"rate limited: try again in 30s"}],"isError":true}',
        "rate limited: try again in 30s",
    ),
    "d15 nothing": (b'{"content":[],"isError":true}', "mcp: tool returned an error"),
    "d16 one empty text": (b'{"content":[{"type":"text","text":""}],"isError":true}', "mcp: tool returned an error"),
    "d17 structured": (b'{"content":[],"structuredContent":{"code":5},"isError":true}', '{"code":5}'),
    "d17 both": (
        b'{"content":[{"type":"text","text":"quota"}],"structuredContent":{ "retry_s":30 },"isError":true}',
        'quota\n{"retry_s":30}',
    ),
    "d17 the same twice": (
        b'{"content":[{"type":"text","text":"{\\"code\\": 5.0}"}],"structuredContent":{"code":5},"isError":true}',
        '{"code": 5.0}',
    ),
    "no content": (b'{"isError":true}', "mcp: tool returned an error"),
    "media": (
        b'{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}],"isError":true}',
        "[image image/png, 1 bytes]",
    ),
}


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_d14_to_d17_an_error_of_the_tool_is_a_failure_with_its_text_and_its_output(era: str) -> None:
    """D17: an error with text and structured value is read as both (design 4.4), the same data once."""
    bodies = [body for body, _ in ERRORS.values()]
    async with imported(entry("t"), calls=answers_in_turn(*bodies), era=era) as (_, tools):
        failures = {name: await failed(tools["t"]) for name in ERRORS}
    assert {name: str(failure) for name, failure in failures.items()} == {
        name: said for name, (_, said) in ERRORS.items()
    }
    assert [failure.output.raw for failure in failures.values()] == bodies
    assert failures["d17 both"].output.structured == b'{ "retry_s":30 }'


@on_both_loops
async def test_d18_a_transport_that_is_cut_is_a_remote_call_error_at_once() -> None:
    calls = then(stderr(b"segv\n"), die(3))
    async with imported(entry("t"), calls=calls) as (_, tools):
        said = await lost(tools["t"])
        assert said.may_have_run
        assert "segv" in str(said)
        assert "3" in str(said)
        assert not (await lost(tools["t"])).may_have_run


async def test_d18_a_server_that_closes_its_output_and_lives_on_ends_the_call_too() -> None:
    async with imported(entry("t"), calls=then(close_stdout(), silence())) as (_, tools):
        assert (await lost(tools["t"])).may_have_run


@pytest.mark.parametrize("era", ERAS)
async def test_d19_a_protocol_error_is_a_remote_call_error_and_the_next_call_goes_on(era: str) -> None:
    calls = [
        error(-32602, 'unknown tool "x"', b'{"field":"when"}'),
        error(-32603, ""),
        error(7, "odd", b"null"),
        result(OK),
    ]
    async with imported(entry("t"), calls=calls, era=era) as (_, tools):
        unknown, internal, odd = [await lost(tools["t"]) for _ in range(3)]
        assert str(unknown) == 'mcp: unknown tool "x" (invalid params): {"field":"when"}'
        assert (unknown.code, unknown.data) == (-32602, b'{"field":"when"}')
        assert str(internal) == "mcp: internal error"
        assert (str(odd), odd.code, odd.data) == ("mcp: odd", 7, b"null")
        assert await tools["t"].invoke() == "ok"
