"""Schemas and values that nobody wrote: two validators, one verdict."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from tests.validation.judge import judge
from tests.validation.made import DRAFTS, Maker
from toolwire._core import SchemaFault, Validator

NAMES = st.sampled_from(["a", "b", "c", "ab"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.0, 2.5, -0.0, 1e3]),
    st.sampled_from(["", "a", "b", "ab", "é", "😀", "2024-02-29"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
COUNTS = st.integers(0, 3)
PATTERNS = st.sampled_from(["^a", "b$", "^.$", "^$", "[ab]+", "^(?!a)"])

PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=3),
    "const": VALUES,
    "minimum": st.integers(-2, 2) | st.just(0.5),
    "maximum": st.integers(-2, 2) | st.just(0.5),
    "exclusiveMinimum": st.integers(-2, 2),
    "exclusiveMaximum": st.integers(-2, 2),
    "multipleOf": st.sampled_from([1, 2, 0.5, 3]),
    "minLength": COUNTS,
    "maxLength": COUNTS,
    "pattern": PATTERNS,
    "format": st.sampled_from(["date", "ipv4", "no-such-format"]),
    "minItems": COUNTS,
    "maxItems": COUNTS,
    "uniqueItems": st.booleans(),
    "minProperties": COUNTS,
    "maxProperties": COUNTS,
    "required": st.lists(NAMES, max_size=2, unique=True),
    "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2),
    "minContains": COUNTS,
    "maxContains": COUNTS,
    "$ref": st.sampled_from(["#/$defs/a", "#/$defs/b", "#here", "#"]),
    "title": st.text(max_size=3),
}


def keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw a schema object whose subschemas are `inner`."""
    some = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(NAMES, inner, max_size=3)
    nested: dict[str, st.SearchStrategy[Any]] = {
        **dict.fromkeys(["allOf", "anyOf", "oneOf", "prefixItems"], some),
        **dict.fromkeys(["properties", "dependentSchemas"], named),
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
        **dict.fromkeys(
            ["not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames"], inner
        ),
        **dict.fromkeys(["unevaluatedProperties", "unevaluatedItems"], inner),
    }
    every = [
        st.fixed_dictionaries({}, optional={keyword: value}) for keyword, value in sorted({**PLAIN, **nested}.items())
    ]
    parts = st.lists(st.one_of(every), max_size=4)
    return parts.map(lambda found: {keyword: value for part in found for keyword, value in part.items()})


SCHEMAS = st.recursive(st.booleans() | keywords(st.booleans()), keywords, max_leaves=10)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a root schema with two definitions, one of them anchored, to which references lead."""
    root = draw(keywords(SCHEMAS))
    anchored = draw(keywords(SCHEMAS))
    return {**root, "$defs": {"a": {**anchored, "$anchor": "here"}, "b": draw(SCHEMAS)}}


def compiled(schema: dict[str, Any]) -> Validator | None:
    """Compile a schema, unless a reference takes no step into the value: there the judge recurses until it breaks."""
    try:
        return Validator(json.dumps(schema))
    except SchemaFault as fault:
        if "leads back to itself" in fault.args[0]:
            return None
        raise


MADE = settings(
    deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@settings(MADE, max_examples=60)
@given(documents(), st.lists(VALUES, min_size=1, max_size=6))
def test_a_made_schema_gives_the_judges_verdict(schema: dict[str, Any], values: list[Any]) -> None:
    validator = compiled(schema)
    assume(validator is not None)
    assert validator is not None
    opinion = judge(schema)
    for value in values:
        text = json.dumps(value)
        verdict = validator.check(text)
        assert (verdict is None) is opinion.is_valid(value), (verdict, text)
        assert (validator.errors(text) == []) is (verdict is None)
        event("fits" if verdict is None else "does not fit")


@settings(MADE, max_examples=30)
@given(documents(), VALUES)
def test_what_is_told_is_short_and_names_places_of_the_value(schema: dict[str, Any], value: Any) -> None:
    validator = compiled(schema)
    assume(validator is not None)
    assert validator is not None
    detail = validator.check(json.dumps(value))
    if detail is None:
        return
    assert detail
    assert len(detail) < 1_500
    assert "$defs" not in detail
    for path, message in validator.errors(json.dumps(value)):
        assert message
        # The last step may be a member that is missing.
        assert stands_in(value, [step for step in path.split(".") if path])


def stands_in(value: Any, steps: list[str]) -> bool:
    """Say whether the steps lead through the value, the last one perhaps out of it."""
    for index, step in enumerate(steps):
        last = index == len(steps) - 1
        match value:
            case dict() if step in value:
                value = value[step]
            case list() if step.isdigit() and int(step) < len(value):
                value = value[int(step)]
            case dict():
                return last
            case _:
                return False
    return True


def tolerated(draft: int, schema: dict[str, Any], *, fits: bool, opinion: bool | str) -> bool:
    """Name the differences in which the judge is wrong."""
    text = json.dumps(schema)
    # Its 2019-09 forgets what `additionalProperties` evaluated where that is no boolean (core 2019-09, 9.3.2.4).
    forgets = draft == 2019 and "unevaluated" in text and "additionalProperties" in text and fits
    # Its draft-06 asks for the length of `items: true`.
    breaks = draft == 6 and isinstance(opinion, str) and opinion.startswith("TypeError")
    return forgets or breaks


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_schema_of_any_draft_gives_the_judges_verdict(draft: int) -> None:
    maker = Maker(draft, draft)
    fitting = others = 0
    for _ in range(120):
        schema = maker.document()
        validator = compiled(schema)
        if validator is None:
            continue
        second = judge(schema)
        for value in [maker.value() for _ in range(6)]:
            verdict = validator.check(json.dumps(value))
            opinion: bool | str
            try:
                opinion = second.is_valid(value)
            except TypeError as error:
                opinion = f"TypeError: {error}"
            agreed = opinion is (verdict is None) or tolerated(draft, schema, fits=verdict is None, opinion=opinion)
            assert agreed, (json.dumps(schema), value, verdict)
            fitting += verdict is None
            others += verdict is not None
    assert min(fitting, others) > 100


def test_the_judge_itself_has_an_opinion() -> None:
    with pytest.raises(RecursionError):
        judge({"$ref": "#"}).is_valid(1)
