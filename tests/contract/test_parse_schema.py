"""Rows A1 to A19 of the spec: what `Schema.parse` refuses, in which words, and what it keeps."""

import copy
import pickle

import pytest

from toolwire import Schema, SchemaError

NOTHING = 'toolwire: ParseSchema: top-level type must be "object", got ""'
NO_OBJECT = "toolwire: ParseSchema: the document is not a JSON object"
TRAILING = "toolwire: ParseSchema: trailing data after the schema"
EMPTY = "toolwire: ParseSchema: empty schema"

FOREIGN = (
    b'{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",'
    b'"properties":{"q":{"type":"string","enum":["a","b"]},"pick":{"oneOf":[{"type":"string"},{"type":"number"}]}},'
    b'"required":["q"]}'
)
LENIENT = (
    b'{"type":"object","additionalProperties":false,"properties":{'
    b'"q":{"type":["string","null"],"description":"what to look for"},'
    b'"tags":{"type":"array","items":[{"type":"string"},{"type":"number"}]},'
    b'"any":true,'
    b'"meta":{"type":"object","additionalProperties":{"type":"string"},"description":5}}}'
)


def refusal(text: bytes | str) -> str:
    with pytest.raises(SchemaError) as caught:
        Schema.parse(text)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    return str(caught.value)


def test_a1_no_bytes_are_an_empty_schema() -> None:
    assert refusal(b"") == EMPTY
    assert refusal("") == EMPTY


@pytest.mark.parametrize("text", [b"  \n", b"\t", b" \r\n "])
def test_a2_white_space_only_is_an_empty_schema(text: bytes) -> None:
    assert refusal(text) == EMPTY


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"{", "unexpected end of input"),
        (b'{"type":}', "unexpected character at byte 8"),
        (b"{'type':'object'}", "unexpected character at byte 1"),
        (b"NaN", "NaN and Infinity are not JSON at byte 0"),
        (b'{"type":"object","maximum":01}', "at byte 28"),
        (b'{"type":"\xff"}', "invalid UTF-8 at byte 9"),
        (b'\xef\xbb\xbf{"type":"object"}', "unexpected character at byte 0"),
    ],
)
def test_a3_what_is_no_json_is_refused_with_its_place(text: bytes, words: str) -> None:
    """The spec pins the prefix; the parser's words are this project's own."""
    assert refusal(text).startswith("toolwire: ParseSchema: ")
    assert refusal(text).endswith(words)


def test_a4_a_second_document_is_trailing_data() -> None:
    assert refusal(b"{} {}") == TRAILING


@pytest.mark.parametrize("text", [b'{"type":"object"} x', b'{"type":"object"},', b"[] {}", b"true x", b"{}}"])
def test_a5_trailing_data_is_named_before_the_type_is_looked_at(text: bytes) -> None:
    assert refusal(text) == TRAILING


def test_a6_an_array_is_no_json_object() -> None:
    assert refusal(b'["object"]') == NO_OBJECT


@pytest.mark.parametrize("text", [b"true", b"false", b'"object"', b"5", b"-0", b" [] "])
def test_a7_a_boolean_or_any_other_scalar_is_no_json_object(text: bytes) -> None:
    assert refusal(text) == NO_OBJECT


def test_a8_null_has_no_type() -> None:
    assert refusal(b"null") == NOTHING


@pytest.mark.parametrize("word", ["string", "Object", "array", "é", 'a"b', ""])
def test_a9_another_type_is_named(word: str) -> None:
    quoted = word.replace('"', r"\"")
    assert refusal(f'{{"type":"{quoted}"}}') == (
        f'toolwire: ParseSchema: top-level type must be "object", got "{quoted}"'
    )


@pytest.mark.parametrize("text", [b'{"properties":{}}', b"{}", b'{"oneOf":[{"type":"object"}]}', b'{"Type":"object"}'])
def test_a10_no_type_reads_as_the_empty_one(text: bytes) -> None:
    """A capital letter is another keyword: the reference's folding is a quirk of its decoder, marked D."""
    assert refusal(text) == NOTHING


@pytest.mark.parametrize("value", [b'["object","null"]', b"5", b"null", b"true", b'{"const":"object"}'])
def test_a11_a_type_that_is_no_string_reads_as_the_empty_one(value: bytes) -> None:
    assert refusal(b'{"type":' + value + b"}") == NOTHING


def test_a12_a_ref_root_is_refused() -> None:
    assert refusal(b'{"$ref":"#/$defs/x","$defs":{"x":{"type":"object"}}}') == NOTHING


def test_a13_an_object_with_a_ref_is_accepted() -> None:
    text = b'{"type":"object","$ref":"#/$defs/x"}'
    assert Schema.parse(text).raw == text


def test_a14_foreign_keywords_and_their_bytes_are_kept() -> None:
    schema = Schema.parse(FOREIGN)
    assert schema.raw == FOREIGN
    assert schema.type == "object"
    assert list(schema.properties) == ["q", "pick"]
    assert schema.required[0] == "q"
    assert schema.properties["q"].type == "string"
    assert schema.value["properties"]["pick"] == {"oneOf": [{"type": "string"}, {"type": "number"}]}


def test_a15_a_shape_that_the_view_cannot_hold_leaves_its_field_empty() -> None:
    schema = Schema.parse(LENIENT)
    view = schema.properties
    assert schema.raw == LENIENT
    assert schema.additional_properties is None
    assert (view["q"].type, view["q"].description) == ("", "what to look for")
    assert view["tags"].items is None
    assert view["any"].raw == b"{}"
    assert view["meta"].additional_properties is not None
    assert view["meta"].additional_properties.type == "string"
    assert view["meta"].description == ""


@pytest.mark.parametrize("required", [b'"x"', b"null", b'["a",1]', b"{}", b"7"])
def test_a16_an_odd_required_is_accepted_and_reads_as_empty(required: bytes) -> None:
    text = b'{"type":"object","required":' + required + b"}"
    schema = Schema.parse(text)
    assert (schema.raw, schema.required) == (text, ())
    assert schema.warnings == ('schema: "required" is not a list of names',)


def test_a17_a_copy_is_the_same_document() -> None:
    """The row's way through an agent waits for the agent; copies are what it stands for."""
    schema = Schema.parse(b'{ "type":"object", "properties":{"q":{"type":"string","minLength":2}} }')
    for other in (copy.copy(schema), copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):  # noqa: S301 - our own bytes
        assert other == schema
        assert hash(other) == hash(schema)
        assert other.raw == b'{ "type":"object", "properties":{"q":{"type":"string","minLength":2}} }'


def test_a18_a_big_integer_keeps_every_digit() -> None:
    text = b'{"type":"object","properties":{"id":{"maximum":9007199254740993}}}'
    schema = Schema.parse(text)
    assert schema.raw == text
    assert schema.value["properties"]["id"]["maximum"] == 9007199254740993
    assert schema.properties["id"].raw == b'{"maximum":9007199254740993}'


def test_a19_of_a_repeated_type_the_last_one_counts_and_the_repeat_is_flagged() -> None:
    schema = Schema.parse(b'{"type":"string","type":"object"}')
    assert schema.raw == b'{"type":"string","type":"object"}'
    assert schema.type == "object"
    assert schema.warnings == ('schema: member "type" is given twice',)
    assert refusal(b'{"type":"object","type":"string"}').endswith('got "string"')


def test_white_space_around_a_schema_is_no_part_of_it() -> None:
    assert Schema.parse(' \n{"type":"object"}\t').raw == b'{"type":"object"}'


@pytest.mark.parametrize("name", [b"type", rb"\u0074ype", rb"t\u0079p\u0065"])
def test_a_name_is_what_it_spells_after_unescaping(name: bytes) -> None:
    text = b'{"' + name + rb'":"\u006fbject"}'
    assert Schema.parse(text).raw == text
    assert Schema.parse(text).type == "object"


@pytest.mark.parametrize(("levels", "kept"), [(256, True), (257, False), (100_000, False)])
def test_a_schema_over_256_levels_is_refused_with_its_depth(levels: int, *, kept: bool) -> None:
    text = b'{"type":"object","p":' * levels + b"1" + b"}" * levels
    if kept:
        assert Schema.parse(text).raw == text
    else:
        assert refusal(text) == f"toolwire: ParseSchema: nested {levels} levels deep, over the limit of 256"


def test_a_schema_over_8_mib_is_refused_with_its_size() -> None:
    text = b'{"type":"object","x":"' + b"x" * (8 * 1024 * 1024) + b'"}'
    assert refusal(text) == f"toolwire: ParseSchema: {len(text)} bytes long, over the limit of {8 * 1024 * 1024}"


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_is_read_and_a_changed_one_changes_nothing(kind: type) -> None:
    buffer = bytearray(FOREIGN)
    schema = Schema.parse(kind(buffer))
    buffer[:] = b" " * len(buffer)
    assert schema.raw == FOREIGN
