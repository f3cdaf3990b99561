"""A tool's output: the text by rule, the parts, and that everything which came is still there."""

import copy
import pickle

import pytest

from toolwire import MediaPart, TextPart, ToolOutput, _core
from toolwire.contract.remote_output import RemoteOutput

TEXT = b'{"type":"text","text":"a\\nb"}'
IMAGE = b'{"type":"image","data":"AAEC","mimeType":"image/png","annotations":{"audience":["user"]}}'
AUDIO = b'{"type":"audio","data":"UklGRg==","mimeType":"audio/wav"}'
NOTE = b'{"type":"resource","resource":{"uri":"n://1","mimeType":"text/markdown","text":"# T"}}'
BLOB = b'{"type":"resource","resource":{"uri":"n://2","blob":"AAECAw=="}}'
BARE = b'{"type":"resource"}'
LINK = b'{"type":"resource_link","uri":"n://3","name":"r","mimeType":"application/pdf"}'
VIDEO = b'{"type":"video","data":"AA==","mimeType":"video/mp4"}'
BROKEN = b'{"type":"text","text":5}'


def output(*blocks: bytes, more: bytes = b"", render: str = "default", limit: int | None = None) -> ToolOutput:
    return RemoteOutput(_core.read_result(b'{"content":[' + b",".join(blocks) + b"]" + more + b"}"), render, limit)


def test_every_kind_of_block_is_a_part_in_order_with_its_own_bytes() -> None:
    blocks = [TEXT, IMAGE, AUDIO, NOTE, BLOB, BARE, LINK, VIDEO, BROKEN]
    parts = output(*blocks).parts
    assert [part.raw for part in parts] == blocks
    assert [(type(part), part.block) for part in parts] == [
        (TextPart, "text"),
        (MediaPart, "image"),
        (MediaPart, "audio"),
        (TextPart, "resource"),
        (MediaPart, "resource"),
        (TextPart, "resource"),
        (MediaPart, "resource_link"),
        (TextPart, "unsupported"),
        (TextPart, "broken"),
    ]
    assert [part.text for part in parts if isinstance(part, TextPart)] == [
        "a\nb",
        "# T",
        "[resource ]",
        "[unsupported block: video]",
        "[broken block: text is a number, not a string]",
    ]
    assert [(part.data, part.size, part.uri) for part in parts if isinstance(part, MediaPart)] == [
        (b"\x00\x01\x02", 3, None),
        (b"RIFF", 4, None),
        (b"\x00\x01\x02\x03", 4, "n://2"),
        (None, None, "n://3"),
    ]
    note, link = parts[3], parts[6]
    assert (note.uri, note.mime_type) == ("n://1", "text/markdown")
    assert isinstance(link, MediaPart)
    assert (link.name, link.mime_type) == ("r", "application/pdf")


def test_the_parts_are_made_once() -> None:
    given = output(TEXT)
    assert given.parts is given.parts


@pytest.mark.parametrize(
    ("blocks", "more", "joined"),
    [
        ([], b"", ""),
        ([], b',"structuredContent":{ "a":1.50 }', '{ "a":1.50 }'),
        ([], b',"structuredContent":null', "null"),
        ([b'{"type":"text","text":"a"}', b'{"type":"text","text":"b"}'], b',"structuredContent":{"x":1}', "ab"),
        ([TEXT, NOTE], b"", "a\nb# T"),
        ([TEXT, IMAGE], b"", None),
        ([LINK], b"", None),
        ([b'{"type":"text","text":""}'], b',"structuredContent":{"x":1}', ""),
    ],
)
def test_joined_text_runs_text_together_and_is_none_beside_media(
    blocks: list[bytes], more: bytes, joined: str | None
) -> None:
    """Source: spec many-sources 2.6."""
    assert output(*blocks, more=more).joined_text() == joined


@pytest.mark.parametrize(
    ("more", "structured"),
    [
        (b"", None),
        (b',"structuredContent":null', b"null"),
        (b',"structuredContent":  { "a" : 1E400, "z":-0 } ', b'{ "a" : 1E400, "z":-0 }'),
        (b',"structuredContent":""', b'""'),
        (b',"structuredContent":{"a":1},"structuredContent":{"a":2}', b'{"a":2}'),
    ],
)
def test_the_structured_value_is_its_bytes_and_null_is_told_from_absent(more: bytes, structured: bytes | None) -> None:
    assert output(TEXT, more=more).structured == structured


def test_what_no_reader_knows_is_still_on_raw() -> None:
    more = b',"_meta":{"ui":{"resourceUri":"ui://x"}},"future":[1.50]'
    given = output(TEXT, more=more)
    assert given.meta == b'{"ui":{"resourceUri":"ui://x"}}'
    assert given.raw == b'{"content":[' + TEXT + b"]" + more + b"}"


BOTH = b',"structuredContent":{ "rows" : [1,2] }'


@pytest.mark.parametrize(
    ("render", "text"),
    [
        ("default", '{"rows":[1,2]}'),
        ("auto", '2 rows\n[resource n://1]\n# T\n{"rows":[1,2]}'),
        ("content", "2 rows\n[resource n://1]"),
        ("structured", '{"rows":[1,2]}'),
        ("both", '2 rows\n[resource n://1]\n{"rows":[1,2]}'),
    ],
)
def test_each_rule_renders_the_same_result_its_way(render: str, text: str) -> None:
    assert output(b'{"type":"text","text":"2 rows"}', NOTE, more=BOTH, render=render).text == text


@pytest.mark.parametrize("render", ["default", "content", "structured", "both", "auto"])
def test_without_a_structured_value_every_rule_shows_the_blocks(render: str) -> None:
    assert output(TEXT, IMAGE, render=render).text == "a\nb\n[image image/png, 3 bytes]"


def test_a_rule_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match='no rule "odd"'):
        _ = output(TEXT, render="odd").text


def test_a_cap_cuts_the_text_and_nothing_else() -> None:
    given = output(b'{"type":"text","text":"' + b"x" * 500 + b'"}', more=b',"structuredContent":null', limit=8)
    assert given.text == "xxxxxxxx\n…[truncated 492 bytes]"
    assert given.joined_text() == "x" * 500
    part = given.parts[0]
    assert isinstance(part, TextPart)
    assert part.text == "x" * 500


@pytest.mark.parametrize("name", [name for name in dir(ToolOutput) if not name.startswith("_")] + ["other"])
def test_nothing_of_an_output_can_be_assigned(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(output(TEXT), name, "x")


@pytest.mark.parametrize("name", ["text", "block", "uri", "mime_type", "raw"])
def test_a_text_part_is_immutable_and_a_value(name: str) -> None:
    part = TextPart("a", uri="n://1")
    with pytest.raises(AttributeError):
        setattr(part, name, "x")
    assert part == TextPart("a", uri="n://1")
    assert hash(part) == hash(TextPart("a", uri="n://1"))


@pytest.mark.parametrize("name", ["data", "block", "uri", "mime_type", "raw", "name", "size"])
def test_a_media_part_is_immutable_and_knows_its_size(name: str) -> None:
    part = MediaPart(b"abc", block="image", mime_type="image/png")
    with pytest.raises(AttributeError):
        setattr(part, name, "x")
    assert (part.data, part.size) == (b"abc", 3)


def test_media_parts_are_equal_by_what_they_hold() -> None:
    part = MediaPart(b"abc", block="image", mime_type="image/png")
    assert part == MediaPart(b"abc", block="image", mime_type="image/png")
    assert hash(part) == hash(MediaPart(b"abc", block="image", mime_type="image/png"))
    assert part != MediaPart(b"abd", block="image", mime_type="image/png")
    assert part != MediaPart(b"abc", block="image", mime_type="image/gif")
    assert part != TextPart("abc")
    assert output(IMAGE).parts == output(IMAGE).parts
    assert output(IMAGE).parts != output(IMAGE.replace(b"AAEC", b"AAED")).parts


def test_an_output_is_copied_and_pickled_with_all_it_shows() -> None:
    given = output(TEXT, IMAGE, more=BOTH, render="both", limit=5)
    for other in (copy.copy(given), copy.deepcopy(given), pickle.loads(pickle.dumps(given))):  # noqa: S301 - our own bytes
        assert (other.text, other.raw, other.warnings) == (given.text, given.raw, given.warnings)
        assert other.parts == given.parts
    parts = pickle.loads(pickle.dumps(given.parts))  # noqa: S301 - our own bytes
    assert parts[1].data == b"\x00\x01\x02"
    assert repr(output(TEXT)) == "ToolOutput('a\\nb', is_error=False)"
