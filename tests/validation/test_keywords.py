"""Every kind of keyword of the drafts 04 to 2020-12, case by case, with `jsonschema` for Python as a second opinion."""

import json

import pytest

from tests.validation.cases import D7, FORMATS, KEYWORDS, NO_SCHEMAS
from tests.validation.judge import judge, opinion
from toolwire._core import SchemaFault, Validator

CASES = [
    pytest.param(f"{{{members}}}", text, fits, id=f"{kind}: {{{members}}} {text}")
    for kind, rows in KEYWORDS.items()
    for members, good, bad in rows
    for texts, fits in ((good, True), (bad, False))
    for text in filter(None, texts.split("  "))
]

NEWER = {"duration", "uuid"}
"""Formats that draft-07 does not have."""

FLOATS = "the judge's numbers are floats, and its multipleOf divides them"
UNICODE_DIGITS = "Python's \\d takes every digit of Unicode, ECMA-262's only ten"
NO_PROPERTIES = "Python's re has no \\p"

TOLERATED = {
    ('{"enum":[1e400,0.1]}', "1e401"): FLOATS,
    ('{"enum":[1e400,0.1]}', "0.1000000000000000055511151231257827"): FLOATS,
    ('{"const":9007199254740993}', "9007199254740993.0"): FLOATS,
    ('{"minimum":1.1}', "1.0999999999999999999999"): FLOATS,
    ('{"maximum":3.0}', "3.0000000000000000000001"): FLOATS,
    ('{"exclusiveMaximum":3.0}', "2.9999999999999999999"): FLOATS,
    ('{"exclusiveMinimum":1.1}', "1.10000000000000000001"): FLOATS,
    ('{"minimum":1e400}', "1e399"): FLOATS,
    ('{"maximum":1e-400}', "2e-400"): FLOATS,
    ('{"exclusiveMinimum":9007199254740992}', "9007199254740992.1"): FLOATS,
    ('{"multipleOf":2}', "1e400"): FLOATS,
    ('{"multipleOf":2}', "2.00000000000000000001"): FLOATS,
    ('{"multipleOf":0.0001}', "12.3456"): FLOATS,
    ('{"multipleOf":0.01}', "19.99"): FLOATS,
    ('{"multipleOf":0.01}', "1070468.14"): FLOATS,
    ('{"multipleOf":0.1}', "0.3"): FLOATS,
    ('{"multipleOf":0.1}', "0.30"): FLOATS,
    ('{"multipleOf":1e308}', "1e309"): FLOATS,
    ('{"pattern":"^\\\\d{3}$"}', '"١٢٣"'): UNICODE_DIGITS,
    ('{"pattern":"^\\\\p{L}+$"}', '"äß"'): NO_PROPERTIES,
    ('{"pattern":"^\\\\p{L}+$"}', '"1"'): NO_PROPERTIES,
}
"""Where the judge is another opinion than the specification, and why."""


@pytest.mark.parametrize(("schema", "text", "fits"), CASES)
def test_a_value_fits_exactly_if_the_specification_says_so(schema: str, text: str, *, fits: bool) -> None:
    validator = Validator(schema)
    assert (validator.check(text) is None) is fits, validator.check(text)
    assert (validator.errors(text) == []) is fits
    assert (opinion(schema, text) is not fits) is ((schema, text) in TOLERATED)


def test_no_difference_is_tolerated_in_vain() -> None:
    assert TOLERATED.keys() <= {(str(case.values[0]), str(case.values[1])) for case in CASES}
    assert len(CASES) > 700


@pytest.mark.parametrize("members", NO_SCHEMAS)
def test_what_is_no_schema_does_not_compile(members: str) -> None:
    with pytest.raises(SchemaFault) as refused:
        Validator(f"{{{members}}}")
    (prose,) = refused.value.args
    assert prose
    assert len(prose) < 600


@pytest.mark.parametrize(
    ("name", "draft"), [(name, draft) for name in FORMATS for draft in ("", D7) if not draft or name not in NEWER]
)
def test_a_format_is_asserted(name: str, draft: str) -> None:
    """Spec many-sources 2.2: format assertion on. Python's own checker lacks most formats; the cases are the judge."""
    validator = Validator(f'{{{draft}"format":{json.dumps(name)}}}')
    good, bad = FORMATS[name]
    assert {text: validator.check(json.dumps(text)) for text in good.split("  ")} == dict.fromkeys(good.split("  "))
    assert [text for text in bad.split("  ") if validator.check(json.dumps(text)) is None] == []
    assert validator.check("12") is None


def test_a_schema_may_be_true_or_false() -> None:
    assert Validator("true").check("1") is None
    assert Validator("false").check("1") == "expected nothing here: no value is allowed"
    assert judge(True).is_valid(1)


def test_the_draft_is_the_one_that_the_schema_names() -> None:
    """Spec many-sources 2.2: 2020-12 by default, an explicit `$schema` may choose another."""
    for uri, tuples in (
        (None, False),
        ("https://json-schema.org/draft/2020-12/schema", False),
        ("https://json-schema.org/draft/2020-12/schema#", False),
        ("https://json-schema.org/draft/2019-09/schema", True),
        ("http://json-schema.org/draft-07/schema#", True),
        ("http://json-schema.org/draft-07/schema", True),
        ("https://json-schema.org/draft-07/schema#", True),
        ("http://json-schema.org/draft-06/schema#", True),
        ("http://json-schema.org/draft-04/schema#", True),
    ):
        schema = {"items": [{"type": "integer"}]} if uri is None else {"$schema": uri, "items": [{"type": "integer"}]}
        try:
            assert Validator(json.dumps(schema)).check('["x"]') is not None
            assert tuples
        except SchemaFault:
            assert not tuples
    with pytest.raises(SchemaFault, match="is no draft that is known here, and nothing is fetched"):
        Validator('{"$schema":"https://example.com/own"}')
