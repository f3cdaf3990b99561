"""Faults D: what servers answer. After a side effect nothing that came is thrown away."""

import copy
import pickle

import pytest

from tests.bridge.raw import ERAS, OBJ, OK, answers_in_turn, entry, imported, text
from toolwire import ToolFailure, ToolOutput, ToolReturnedError, max_result_bytes, render
from toolwire.contract.policies import RenderRule
from toolwire.testing import result

RULES: tuple[RenderRule, ...] = ("default", "auto", "content", "structured", "both")
SUMMARY = b'{"content":[{"type":"text","text":"2 rows"}],"structuredContent":{"rows":[1,2]}}'
TWICE = rb'{"content":[{"type":"text","text":"{\"a\": 1.0}"}],"structuredContent":{"a":1.0}}'
AS_NUMBER = rb'{"content":[{"type":"text","text":"{\"a\": 10e-1}"}],"structuredContent":{"a":1}}'
WRAPPED = b'{"content":[{"type":"text","text":"5"}],"structuredContent":{"result":5}}'
NOTE = (
    b'{"content":[{"type":"resource","resource":{"uri":"n://1","mimeType":"text/markdown","text":"# T"}},'
    b'{"type":"resource","resource":{"uri":"n://2","blob":"AAEC"}},'
    b'{"type":"resource_link","uri":"n://3","name":"r","mimeType":"application/pdf"}]}'
)
D1 = b'{"content":[],"structuredContent":{"rows":[{"id":9007199254740993}]}}'

# What each rule makes of each result: default, auto, content, structured, both.
SHOWN: dict[bytes, tuple[str, str, str, str, str]] = {
    D1: (
        '{"rows":[{"id":9007199254740993}]}',
        '{"rows":[{"id":9007199254740993}]}',
        "",
        *(2 * ('{"rows":[{"id":9007199254740993}]}',)),
    ),
    SUMMARY: ('{"rows":[1,2]}', '2 rows\n{"rows":[1,2]}', "2 rows", '{"rows":[1,2]}', '2 rows\n{"rows":[1,2]}'),
    TWICE: ('{"a":1.0}', '{"a": 1.0}', '{"a": 1.0}', '{"a":1.0}', '{"a": 1.0}\n{"a":1.0}'),
    AS_NUMBER: ('{"a":1}', '{"a": 10e-1}', '{"a": 10e-1}', '{"a":1}', '{"a": 10e-1}\n{"a":1}'),
    WRAPPED: ('{"result":5}', "5", "5", '{"result":5}', '5\n{"result":5}'),
    NOTE: (
        "[resource n://1]\n[resource n://2]\n[resource n://3]",
        "[resource n://1]\n# T\n[resource n://2]\n[resource n://3]",
        *(3 * ("[resource n://1]\n[resource n://2]\n[resource n://3]",)),
    ),
}


@pytest.mark.parametrize(("place", "rule"), list(enumerate(RULES)), ids=RULES)
async def test_d1_d2_d3_d5_d16_each_rule_shows_its_part_of_a_result_and_nothing_is_lost(
    place: int, rule: RenderRule
) -> None:
    """D2, D3 and D5 are `auto`; by default the structured value stands for the content (design 4.4)."""
    async with imported(entry("t"), calls=answers_in_turn(*SHOWN), policy=render(rule)) as (_, tools):
        outputs = [await tools["t"].call() for _ in SHOWN]
    assert [output.text for output in outputs] == [shown[place] for shown in SHOWN.values()]
    assert [output.raw for output in outputs] == list(SHOWN)


async def failure(body: bytes, rule: RenderRule) -> ToolFailure:
    async with imported(entry("t"), calls=answers_in_turn(body), policy=render(rule)) as (_, tools):
        with pytest.raises(ToolFailure) as caught:
            await tools["t"].call()
        return caught.value


@pytest.mark.parametrize("rule", ["default", "auto", "both"])
async def test_d6_an_error_with_text_and_structured_value_reaches_the_model_with_both(rule: RenderRule) -> None:
    body = b'{"isError":true,"content":[{"type":"text","text":"quota"}],"structuredContent":{"retry_s":30}}'
    caught = await failure(body, rule)
    assert str(caught) == 'quota\n{"retry_s":30}'
    assert (caught.output.is_error, caught.output.structured) == (True, b'{"retry_s":30}')
    assert [part.text for part in caught.output.parts] == ["quota"]


EVERYTHING = (
    b'{"_meta":{"k":1.50},"structuredContent":{ "retry_s":30 },"isError":true,"content":['
    b'{"type":"text","text":"quota"},{"type":"image","data":"AAEC","mimeType":"image/png"},'
    b'{"type":"resource","resource":{"uri":"n://1","text":"T"}},{"type":"video"},{"type":"text"},7]}'
)


async def test_d6_an_error_with_everything_keeps_everything_and_survives_a_process_border() -> None:
    promise = entry("t", OBJ, b'"outputSchema":{"type":"object"}')
    async with imported(promise, calls=answers_in_turn(EVERYTHING)) as (_, tools):
        with pytest.raises(ToolFailure) as caught:
            await tools["t"].call()
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value)), copy.deepcopy(caught.value)):  # noqa: S301 - our own bytes
        assert str(error).split("\n") == [
            "quota",
            "[image image/png, 3 bytes]",
            "[resource n://1]",
            "[unsupported block: video]",
            "[broken block: no text]",
            "[broken block: a number, not an object]",
            '{"retry_s":30}',
        ]
        assert isinstance(error.cause, ToolReturnedError)
        output = error.output
        assert (output.raw, output.structured, output.meta) == (EVERYTHING, b'{ "retry_s":30 }', b'{"k":1.50}')
        assert [part.block for part in output.parts] == ["text", "image", "resource", "unsupported", "broken", "broken"]
        assert output.warnings == ("content[4]: no text", "content[5]: a number, not an object")


async def test_d7_an_error_without_a_message_has_a_fixed_text() -> None:
    """The row's text wins over the fault's (design 4.4)."""
    assert str(await failure(b'{"isError":true,"content":[]}', "auto")) == "mcp: tool returned an error"


async def test_d8_empty_content_is_a_success_with_an_empty_text() -> None:
    async with imported(entry("t"), calls=result(b'{"content":[]}')) as (_, tools):
        output = await tools["t"].call()
        assert (output.text, output.parts, output.structured, output.warnings) == ("", (), None, ())
        assert output.joined_text() == ""


NOT = ", not an object"
NO_CONTENT: dict[bytes, tuple[str, tuple[str, ...]]] = {
    b'{"structuredContent":{"a":1}}': ('{"a":1}', ("content is missing",)),
    b'{"content":null,"structuredContent":{"a":1}}': ('{"a":1}', ("content is null",)),
    b'{"toolResult":{"content":[]}}': ("", ("content is missing",)),
    b"{}": ("", ("content is missing",)),
    b'{"content":"done"}': (
        "[broken block: a string, not an object]",
        ("content is not a list", "content[0]: a string, not an object"),
    ),
    b'{"content":{"type":"text","text":"done"}}': ("done", ("content is not a list",)),
    b'{"content":5,"structuredContent":[1]}': (
        "[1]",
        ("content is not a list", "content[0]: a number, not an object"),
    ),
    b'{"content":[null,7,[],{"type":"text","text":"b"}]}': (
        f"[broken block: null{NOT}]\n[broken block: a number{NOT}]\n[broken block: an array{NOT}]\nb",
        (
            "content[0]: null, not an object",
            "content[1]: a number, not an object",
            "content[2]: an array, not an object",
        ),
    ),
}


@pytest.mark.parametrize("era", ERAS)
async def test_d9_content_that_is_missing_null_or_no_list_is_read_with_a_warning(era: str) -> None:
    async with imported(entry("t"), calls=answers_in_turn(*NO_CONTENT), era=era) as (_, tools):
        outputs = [await tools["t"].call() for _ in NO_CONTENT]
    assert {output.raw: (output.text, output.warnings) for output in outputs} == NO_CONTENT


PROMISED: dict[bytes, tuple[str, bool]] = {
    b'{"content":[{"type":"text","text":"done"}],"structuredContent":null}': ("done", True),
    b'{"content":[{"type":"text","text":"done"}]}': ("done", True),
    b'{"content":[],"structuredContent":[1]}': ("[1]", True),
    b'{"content":[],"structuredContent":{"n":1}}': ('{"n":1}', False),
}


async def test_d10_a_result_without_the_promised_value_is_given_with_a_warning() -> None:
    """The tool has run: raising would lose what it did. Null reads as absent (row D8)."""
    promise = entry("t", OBJ, b'"outputSchema":{"type":"object","required":["n"]}')
    async with imported(promise, calls=answers_in_turn(*PROMISED)) as (_, tools):
        outputs = [await tools["t"].call() for _ in PROMISED]
    warned = [any(line.startswith("output_schema_mismatch: ") for line in output.warnings) for output in outputs]
    assert list(zip([output.text for output in outputs], warned, strict=True)) == list(PROMISED.values())


async def test_d10_a_failure_owes_no_value() -> None:
    promise = entry("t", OBJ, b'"outputSchema":{"type":"object"}')
    async with imported(promise, calls=result(b'{"content":[],"isError":true}')) as (_, tools):
        with pytest.raises(ToolFailure) as caught:
            await tools["t"].call()
        assert caught.value.output.warnings == ()


@pytest.mark.parametrize("era", ERAS)
async def test_d11_a_structured_value_may_be_any_json(era: str) -> None:
    values = [b"[1,2]", b'"x"', b"0", b"false", b"1.50", b"[]", b'[{"a":1E400}]']
    bodies = [b'{"content":[],"structuredContent":' + value + b"}" for value in values]
    async with imported(entry("t"), calls=answers_in_turn(*bodies), era=era) as (_, tools):
        outputs = [await tools["t"].call() for _ in bodies]
    assert [output.structured for output in outputs] == values
    assert [output.text.encode() for output in outputs] == values


async def test_d18_a_cap_cuts_what_the_model_reads_and_keeps_parts_and_structured_value() -> None:
    bodies = [
        text("é" * 100),
        b'{"content":[{"type":"text","text":"t"}],"structuredContent":{"x":"' + b"y" * 300 + b'"}}',
        b'{"content":[{"type":"text","text":"' + b"z" * 300 + b'"}],"isError":true}',
    ]
    async with imported(entry("t"), calls=answers_in_turn(*bodies), policy=max_result_bytes(101)) as (_, tools):
        first: ToolOutput = await tools["t"].call()
        second = await tools["t"].call()
        with pytest.raises(ToolFailure) as caught:
            await tools["t"].invoke()
    assert first.text == "é" * 50 + "\n…[truncated 100 bytes]"
    assert first.joined_text() == "é" * 100
    assert second.text == '{"x":"' + "y" * 95 + "\n…[truncated 207 bytes]"
    assert second.structured == b'{"x":"' + b"y" * 300 + b'"}'
    assert str(caught.value) == "z" * 101 + "\n…[truncated 199 bytes]"
    assert caught.value.output.joined_text() == "z" * 300


async def test_d18_a_cap_of_0_and_no_cap_show_the_whole_text() -> None:
    body = text("x" * 100_000)
    async with imported(entry("t"), calls=answers_in_turn(body), policy=max_result_bytes(0)) as (_, tools):
        assert len(await tools["t"].invoke()) == 100_000
    async with imported(entry("t"), calls=answers_in_turn(body)) as (_, tools):
        assert len(await tools["t"].invoke()) == 100_000


async def test_d21_terminal_escapes_and_bidi_controls_are_verbatim() -> None:
    body = rb'{"content":[{"type":"text","text":"ok\u001b[2J\u202Ehidden"}]}'
    async with imported(entry("t"), calls=[*answers_in_turn(body), result(OK)]) as (_, tools):
        assert await tools["t"].invoke() == "ok\x1b[2J\u202ehidden"
        assert await tools["t"].invoke() == "ok"


async def test_half_a_surrogate_pair_in_a_result_is_u_fffd_in_the_text_and_kept_in_the_bytes() -> None:
    body = rb'{"content":[{"type":"text","text":"cut \ud83d"}],"structuredContent":{"a":"\udc00"}}'
    async with imported(entry("t"), calls=answers_in_turn(body), policy=render("content")) as (_, tools):
        output = await tools["t"].call()
    assert output.text == "cut �"
    assert (output.structured, output.raw) == (rb'{"a":"\udc00"}', body)
    assert output.warnings == ("half of a surrogate pair in a string",)


async def test_g7_a_result_or_a_listing_with_bytes_that_are_no_utf8_says_that_they_were_replaced() -> None:
    body = b'{"content":[{"type":"text","text":"caf\xe9"}]}'
    clean = '{"content":[{"type":"text","text":"caf\ufffd \\ud83d\\ude00"}]}'.encode()
    listed = entry("t", b'{"type":"object","title":"caf\xe9"}')
    async with imported(listed, calls=[result(body), result(clean)]) as (_, tools):
        assert tools.warnings == ("bytes that are no UTF-8 were replaced by U+FFFD",)
        output, second = await tools["t"].call(), await tools["t"].call()
    assert (output.text, output.warnings) == ("caf\ufffd", tools.warnings)
    assert (second.text, second.warnings) == ("caf\ufffd \U0001f600", ())
