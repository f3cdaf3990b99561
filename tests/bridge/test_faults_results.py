"""Faults D: what servers answer. After a side effect nothing that came is thrown away."""

import base64

import pytest

from tests.bridge.raw import ERAS, OBJ, OK, answers_in_turn, entry, imported, text
from toolwire import MediaPart, TextPart, ToolFailure, ToolOutput, max_result_bytes, render
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
    WRAPPED: ('{"result":5}', '5\n{"result":5}', "5", '{"result":5}', '5\n{"result":5}'),
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


async def test_d12_an_unknown_block_is_a_marker_between_its_neighbours_with_its_bytes_kept() -> None:
    video = b'{"type":"video","data":"AA==","mimeType":"video/mp4"}'
    body = b'{"content":[{"type":"text","text":"a"},' + video + b',{"type":"text","text":"b"}]}'
    async with imported(entry("t"), calls=answers_in_turn(body)) as (_, tools):
        output = await tools["t"].call()
    assert (output.text, output.warnings) == ("a\n[unsupported block: video]\nb", ())
    assert (output.parts[1].block, output.parts[1].raw) == ("unsupported", video)


BROKEN: dict[bytes, str] = {
    b'{"text":"x"}': "no type",
    b'{"type":7}': "type is a number, not a string",
    b'{"type":"text"}': "no text",
    b'{"type":"text","text":null}': "text is null, not a string",
    b'{"type":"image","data":"AAEC"}': "no mimeType",
    b'{"type":"image","mimeType":"image/png"}': "no data",
    b'{"type":"image","data":"AA*=","mimeType":"image/png"}': "data is not base64",
    b'{"type":"audio","data":5,"mimeType":"audio/wav"}': "data is a number, not a string",
    b'{"type":"resource","resource":"n://1"}': "resource is a string, not an object",
    b'{"type":"resource","resource":{"uri":"n://1","blob":"?"}}': "blob is not base64",
    b'{"type":"resource","resource":{"uri":"n://1","text":["T"]}}': "text is an array, not a string",
    b'{"type":"resource_link"}': "no uri",
}


async def test_a_broken_block_is_a_marker_and_a_warning_and_the_others_stand() -> None:
    """Design 4.4."""
    blocks = [b'{"type":"text","text":"first"}', *BROKEN, b'{"type":"text","text":"last"}']
    async with imported(entry("t"), calls=answers_in_turn(b'{"content":[' + b",".join(blocks) + b"]}")) as (_, tools):
        output = await tools["t"].call()
    assert output.text.split("\n") == ["first", *(f"[broken block: {why}]" for why in BROKEN.values()), "last"]
    assert output.warnings == tuple(f"content[{index}]: {why}" for index, why in enumerate(BROKEN.values(), 1))
    assert [part.raw for part in output.parts] == blocks


async def test_d14_audio_is_a_part_and_a_marker_and_the_text_beside_it_stands() -> None:
    wav = base64.b64encode(b"RIFF")
    blocks = b'{"type":"text","text":"say"},{"type":"audio","data":"' + wav + b'","mimeType":"audio/wav"}'
    async with imported(entry("t"), calls=answers_in_turn(b'{"content":[' + blocks + b"]}")) as (_, tools):
        output = await tools["t"].call()
    assert output.text == "say\n[audio audio/wav, 4 bytes]"
    said, audio = output.parts
    assert isinstance(said, TextPart)
    assert isinstance(audio, MediaPart)
    assert (said.text, audio.data, audio.mime_type, audio.size) == ("say", b"RIFF", "audio/wav", 4)
    assert output.joined_text() is None


async def test_base64_in_lines_is_media_all_the_same_with_a_warning() -> None:
    """Ours: Python's own `base64.encodebytes` writes it so."""
    data = base64.encodebytes(bytes(range(120))).replace(b"\n", b"\\n")
    body = b'{"content":[{"type":"image","data":"' + data + b'","mimeType":"image/png"}]}'
    async with imported(entry("t"), calls=answers_in_turn(body)) as (_, tools):
        output = await tools["t"].call()
    (image,) = output.parts
    assert isinstance(image, MediaPart)
    assert (output.text, image.data, image.size) == ("[image image/png, 120 bytes]", bytes(range(120)), 120)
    assert output.warnings == ("content[0]: white space in base64",)


async def test_d16_a_resource_and_a_link_keep_all_they_say_and_nothing_is_fetched() -> None:
    async with imported(entry("t"), calls=answers_in_turn(NOTE)) as (server, tools):
        note, blob, link = (await tools["t"].call()).parts
        assert isinstance(note, TextPart)
        assert (note.text, note.uri, note.mime_type) == ("# T", "n://1", "text/markdown")
        assert isinstance(blob, MediaPart)
        assert (blob.data, blob.size, blob.uri) == (b"\x00\x01\x02", 3, "n://2")
        assert isinstance(link, MediaPart)
        assert (link.data, link.size, link.uri, link.name) == (None, None, "n://3", "r")
        assert link.mime_type == "application/pdf"
        assert server.requests("resources/read") == []


async def test_d17_the_meta_of_a_result_and_the_annotations_of_a_block_are_kept() -> None:
    block = b'{"type":"text","text":"u","annotations":{"audience":["user"]},"_meta":{"k":1}}'
    body = b'{"content":[' + block + b'],"_meta":{"ui":{"resourceUri":"ui://x"}}}'
    async with imported(entry("t"), calls=answers_in_turn(body)) as (_, tools):
        output = await tools["t"].call()
    assert output.meta == b'{"ui":{"resourceUri":"ui://x"}}'
    assert output.parts[0].raw == block


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
