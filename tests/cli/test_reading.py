"""What `list` and `check` read out of a schema, however odd it is."""

import pytest

from toolwire.cli.check import refusals
from toolwire.cli.list import arguments, hints

DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        (b'{"type":"object","properties":{"z":{},"a":{}},"required":["a"]}', "z, a*"),
        (b'{"type":"object","properties":{"a\\u001b":true}}', r"a\x1b"),
        (b'{"type":"object","properties":{"n":{"maximum":' + b"9" * 5000 + b"}}}", "n"),
        (b'{"type":"object","properties":{"n":{}},"required":"n"}', "n"),
        (b'{"type":"object","properties":[]}', ""),
        (b'{"type":"object"}', ""),
        (b"true", ""),
        (DEEP, ""),
    ],
)
def test_arguments_are_named_in_the_schemas_order(schema: bytes, named: str) -> None:
    assert arguments(schema) == named


@pytest.mark.parametrize(
    ("annotations", "said"),
    [
        (None, ""),
        (b"{}", ""),
        (b'{"readOnlyHint":true,"destructiveHint":true}', "read-only, destructive"),
        (b'{"readOnlyHint":"yes"}', ""),
        (b"[]", ""),
    ],
)
def test_only_hints_that_are_true_are_named(annotations: bytes | None, said: str) -> None:
    assert hints(annotations) == said


@pytest.mark.parametrize(
    ("schema", "reasons"),
    [
        (b'{"type":"object","properties":{}}', []),
        (b'{"type":"object"}', ['no "properties" at the root; an empty one will do']),
        (b'{"type":"object","properties":{},"oneOf":[{}],"$ref":"#"}', ['"oneOf" at the root', '"$ref" at the root']),
        (b'{"type":["object"],"properties":{}}', ['the root has no "type":"object"']),
        (b"true", ["the root is no object"]),
        (DEEP, ["the root is no object"]),
    ],
)
def test_what_providers_refuse_is_said(schema: bytes, reasons: list[str]) -> None:
    assert list(refusals(schema)) == reasons
