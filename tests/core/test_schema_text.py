"""Rows A1 to A19 of the spec as far as they concern the text, at the core's own door, and a schema's oddities."""

import re
from typing import Final

import pytest
from hypothesis import given

from tests.core.texts import FORMS, SPACE, broken, documents, examples, objects, refusal
from toolwire import _core

NOTHING: Final = 'top-level type must be "object", got ""'
NO_OBJECT: Final = "the document is not a JSON object"
TRAILING: Final = "trailing data after the schema"

REFUSED: Final[dict[str, dict[str, str]]] = {
    "A1": {"": "empty schema"},
    "A2": {"  \n": "empty schema", "\t\r": "empty schema"},
    "A3": {
        "{": "unexpected end of input", '{"type":}': "unexpected character at byte 8",
        "NaN": "NaN and Infinity are not JSON at byte 0", '{"type":"object","x":01}': "invalid number at byte 22",
        '{"type":"\\x"}': "invalid escape in a string at byte 10",
        "{'type':'object'}": "unexpected character at byte 1",
    },
    "A4": {"{} {}": TRAILING, '{"type":"object"}{"type":"object"}': TRAILING},
    "A5": {'{"type":"object"} x': TRAILING, '{"type":"object"},': TRAILING},
    "A6": {'["object"]': NO_OBJECT, "[]": NO_OBJECT},
    "A7": {"true": NO_OBJECT, "false": NO_OBJECT, "5": NO_OBJECT, '"object"': NO_OBJECT},
    "A8": {"null": NOTHING, " null ": NOTHING},
    "A9": {
        '{"type":"string"}': 'top-level type must be "object", got "string"',
        '{"type":"a\\"b"}': 'top-level type must be "object", got "a\\"b"',
    },
    "A10": {'{"properties":{}}': NOTHING, "{}": NOTHING, '{"type":null}': NOTHING, '{"Type":"object"}': NOTHING},
    "A11": {'{"type":["object","null"]}': NOTHING, '{"type":["object"]}': NOTHING, '{"type":5}': NOTHING},
    "A12": {
        '{"$ref":"#/$defs/x","$defs":{"x":{"type":"object"}}}': NOTHING, '{"anyOf":[{"type":"object"}]}': NOTHING,
    },
    "A19": {'{"type":"object","type":"string"}': 'top-level type must be "object", got "string"'},
}  # fmt: skip
ACCEPTED: Final[dict[str, list[str]]] = {
    "A13": ['{"type":"object","$ref":"#/$defs/x"}'],
    "A14": [
        '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"q":{"enum":["a","b"]}}}',
    ],
    "A15": [
        '{"type":"object","additionalProperties":false,"properties":{"q":{"type":["string","null"]},"any":true,"d":{"description":5}}}',
    ],
    "A16": ['{"type":"object","required":"x"}', '{"type":"object","required":null}'],
    "A18": [
        '{"type":"object","properties":{"id":{"maximum":9007199254740993,"multipleOf":1.50,"minimum":-0,"x":1E400}}}',
    ],
    "A19": ['{"type":"string","type":"object"}', '{"type":5,"t\\u0079pe":"object"}'],
    "spelling": [
        '{"type":"\\u006fbject"}', '{"t\\u0079pe":"object"}', '{\n "type" : "object"\r\n}',
        '{"title":"\\ud800","type":"object"}',
    ],
}  # fmt: skip


def rows(table: dict[str, dict[str, str]] | dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(row, text) for row, texts in table.items() for text in texts]


def prose(text: bytes | str | bytearray | memoryview) -> str:
    with pytest.raises(_core.JsonError, match="ParseSchema") as caught:
        _core.parse_schema(text)
    words, kind, _ = caught.value.args
    assert kind == "schema"
    return str(words)


@pytest.mark.parametrize(("row", "text"), rows(REFUSED))
def test_a_refused_schema_is_refused_in_the_pinned_words(row: str, text: str) -> None:
    expected = f"toolwire: ParseSchema: {REFUSED[row][text]}"
    assert [prose(form(text.encode())) for form in FORMS.values()] == [expected] * len(FORMS)


@pytest.mark.parametrize(("row", "text"), rows(ACCEPTED))
def test_an_accepted_schema_keeps_its_bytes(row: str, text: str) -> None:
    del row
    for around in ("", " ", "\n\t"):
        whole = f"{around}{text}{around}".encode()
        assert [_core.parse_schema(form(whole)) for form in FORMS.values()] == [text.encode()] * len(FORMS)


def test_a3_bytes_that_are_no_text_are_no_schema() -> None:
    assert prose(b'{"type":"object","title":"\xff"}').endswith("invalid UTF-8 at byte 26")


def test_a_schema_is_bounded_in_depth_and_size() -> None:
    def nested(levels: int) -> str:
        return '{"type":"object","p":' * levels + "1" + "}" * levels

    assert _core.parse_schema(nested(256)) == nested(256).encode()
    assert prose(nested(257)).endswith("nested 257 levels deep, over the limit of 256")
    assert prose(nested(100_000)).endswith("nested 100000 levels deep, over the limit of 256")
    size = 8 * 1024 * 1024
    text = '{"type":"object","title":"%s"}'
    fitting = text % ("x" * (size - len(text) + 2))
    assert len(_core.parse_schema(fitting)) == size
    assert prose(fitting.replace("x", "xx", 1)).endswith(f"{size + 1} bytes long, over the limit of {size}")


@examples(60)
@given(objects)
def test_any_object_with_the_right_type_behind_its_other_members_is_a_schema(text: str) -> None:
    members = text[1:-1].strip()
    schema = "{" + members + (", " if members else "") + '"type": "object"}'
    assert _core.parse_schema(schema) == schema.encode()
    assert all(warning.startswith("schema: ") for warning in _core.schema_warnings(schema))


@examples(120)
@given(broken(documents))
def test_no_text_is_anything_but_accepted_or_refused_in_words(text: str) -> None:
    try:
        raw = _core.parse_schema(text)
    except _core.JsonError:
        assert re.fullmatch(r"toolwire: ParseSchema: .{1,900}", prose(text))
    else:
        assert raw == text.strip(SPACE).encode()
        assert refusal(raw) is None
    assert isinstance(_core.schema_warnings(text), list)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"type":"object","type":"object"}', ['schema: member "type" is given twice']),
        ('{"p":{"$ref":"file:///etc/hosts"}}', ['schema: remote ref "file:///etc/hosts" at "p.$ref" is never fetched']),
        ('{"p":[{"$dynamicRef":"http://x"}]}', ['schema: remote ref "http://x" at "p.0.$dynamicRef" is never fetched']),
        ('{"p":{"title":"\\ud800"}}', ['schema: half of a surrogate pair at "p.title"']),
        ('{"required":["a",1]}', ['schema: "required" is not a list of names']),
        ('{"properties":{"$ref":{"type":"string"}},"x":{"$ref":"#/$defs/x"},"required":[]}', []),
    ],
)
def test_what_is_odd_and_kept_is_named_with_its_place(text: str, expected: list[str]) -> None:
    assert _core.schema_warnings(text) == expected


def test_a_schema_full_of_oddities_names_the_first_and_counts_the_others() -> None:
    warnings = _core.schema_warnings("{" + '"a":0,' * 50_000 + '"a":0}')
    assert warnings[:-1] == ['schema: member "a" is given twice'] * 16
    assert warnings[-1] == "schema: 49984 more of this kind"


def test_a_fingerprint_is_over_the_exact_bytes_and_where_each_part_ends() -> None:
    assert _core.fingerprint([b"ab", "c"]) == _core.fingerprint(["ab", bytearray(b"c")])
    parts: list[list[bytes | str]] = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["", "abc"], ["c", "ab"], []]
    assert len({_core.fingerprint(part) for part in parts}) == len(parts)
    assert all(len(_core.fingerprint(part)) == 64 for part in parts)
