"""The lenient view of a schema: what a program reads through it, and that reading changes nothing."""

from decimal import Decimal

import pytest

from toolwire import Schema


def test_each_property_has_its_own_bytes_in_the_documents_order() -> None:
    schema = Schema(
        b'{"type":"object","properties":{"zeta":{ "maximum" : 1.50 },"10":{"enum":[1e3,-0]},"9":{},"alpha":false}}'
    )
    assert {name: node.raw for name, node in schema.properties.items()} == {
        "zeta": b'{ "maximum" : 1.50 }',
        "10": b'{"enum":[1e3,-0]}',
        "9": b"{}",
        "alpha": b"{}",
    }
    assert list(schema.properties) == ["zeta", "10", "9", "alpha"]


def test_a_property_may_be_named_like_a_keyword() -> None:
    schema = Schema(b'{"type":"object","properties":{"type":{"type":"string"},"properties":{"type":"integer"}}}')
    assert (schema.type, schema.properties["type"].type, schema.properties["properties"].type) == (
        "object",
        "string",
        "integer",
    )


@pytest.mark.parametrize("raw", [b"true", b"[]", b"null", b"5", b'"x"'])
def test_a_document_that_is_no_object_has_an_empty_view(raw: bytes) -> None:
    schema = Schema(raw)
    assert (schema.raw, schema.type, schema.format, schema.description) == (raw, "", "", "")
    assert (dict(schema.properties), schema.required, schema.items, schema.additional_properties) == (
        {},
        (),
        None,
        None,
    )


def test_the_value_is_decoded_afresh_so_that_nobody_changes_it_for_another() -> None:
    schema = Schema(b'{"type":"object","enum":[9007199254740993,0.25]}')
    schema.value["type"] = "string"
    assert schema.value == {"type": "object", "enum": [9007199254740993, 0.25]}


def test_half_a_surrogate_pair_is_u_fffd_in_the_view_and_an_escape_in_the_bytes() -> None:
    raw = rb'{"description":"a\ud800b\\ud800 \ud83d\ude00 \udC00","format":"\uD83D"}'
    schema = Schema(raw)
    assert schema.description == "a�b\\ud800 😀 �"
    assert schema.format == "�"
    assert schema.value["description"].encode() == "a�b\\ud800 😀 �".encode()
    assert schema.raw == raw
    assert schema.warnings == ('schema: half of a surrogate pair at "description"',)


def test_an_integer_of_ten_thousand_digits_is_read_exactly() -> None:
    digits = "7" * 10_000
    assert Schema(f'{{"maximum":{digits},"minimum":1}}'.encode()).value == {"maximum": Decimal(digits), "minimum": 1}


@pytest.mark.parametrize(
    ("raw", "warning"),
    [
        (b'{"p":{"$ref":"http://169.254.1.1/s.json"}}', 'schema: remote ref "http://169.254.1.1/s.json" at "p.$ref"'),
        (b'{"p":{"$ref":"other.json#/x"}}', 'schema: remote ref "other.json#/x" at "p.$ref"'),
        (rb'{"p":{"\u0024ref":"file:///etc/hosts"}}', 'schema: remote ref "file:///etc/hosts" at "p.$ref"'),
        (b'{"p":[{"$dynamicRef":"urn:x"}]}', 'schema: remote ref "urn:x" at "p.0.$dynamicRef"'),
    ],
)
def test_a_reference_out_of_the_document_is_flagged_and_never_followed(raw: bytes, warning: str) -> None:
    assert Schema(raw).warnings == (f"{warning} is never fetched",)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://x/y"}',
        b'{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#"}}}',
        b'{"properties":{"$ref":{"type":"string"}}}',
        b'{"required":[]}',
        b'{"properties":{"required":5}}',
    ],
)
def test_what_is_in_order_has_no_warning(raw: bytes) -> None:
    assert Schema(raw).warnings == ()


def test_equal_schemas_have_equal_bytes() -> None:
    assert Schema(b'{"a":1}') == Schema(b'{"a":1}')
    assert Schema(b'{"a":1}') != Schema(b'{"a": 1}')
    assert Schema(b'{"a":1}') != b'{"a":1}'
    assert len({Schema(b"{}"), Schema(b"{}"), Schema(b"{ }")}) == 2


@pytest.mark.parametrize(
    "name", ["raw", "value", "type", "format", "description", "properties", "required", "items", "warnings", "other"]
)
def test_nothing_of_a_schema_can_be_assigned(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(Schema(b"{}"), name, b"x")
