"""Numbers are what they say, whatever their length and spelling. The judge is `fractions.Fraction`."""

import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolwire._core import SchemaFault, Validator

DIGITS = st.text("0123456789", min_size=1, max_size=30)
NOTABLE = (
    "0",
    "-0",
    "0.0",
    "1",
    "1.0",
    "10e-1",
    "0.1",
    "0.10000000000000000555",
    "0.3",
    "19.99",
    "9007199254740992",
    "9007199254740993",
    "9007199254740993.0",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "123456789012345678901234567890.00000000000000000001",
    "1e308",
    "1E309",
    "1e400",
    "10E399",
    "-1e400",
    "1e-400",
    "5e-324",
)


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """Draw the text of a JSON number, notable ones often, and neighbours of them."""
    if draw(st.booleans()):
        text = draw(st.sampled_from(NOTABLE))
        if draw(st.booleans()) and not re.search("[.eE]", text):
            text += "." + draw(st.sampled_from(["0", "5", "00000000000000000000000001"]))
        return text
    whole = draw(DIGITS).lstrip("0") or "0"
    text = draw(st.sampled_from(["", "-"])) + whole
    if draw(st.booleans()):
        text += "." + draw(DIGITS)
    if draw(st.booleans()):
        text += draw(st.sampled_from(["e", "E", "e+", "e-"])) + str(draw(st.integers(0, 40)))
    return text


@settings(max_examples=200, deadline=None)
@given(numbers(), numbers())
def test_bounds_are_exact(value: str, limit: str) -> None:
    number, bound = Fraction(value), Fraction(limit)
    for keyword, holds in (
        ("minimum", number >= bound),
        ("maximum", number <= bound),
        ("exclusiveMinimum", number > bound),
        ("exclusiveMaximum", number < bound),
        ("const", number == bound),
    ):
        assert (Validator(f'{{"{keyword}":{limit}}}').check(value) is None) is holds, keyword
    enum = Validator(f'{{"enum":["x",{limit},null]}}')
    assert (enum.check(value) is None) is (number == bound)
    pair = f"[{value},{limit}]"
    assert (Validator('{"uniqueItems":true}').check(pair) is None) is (number != bound)


@settings(max_examples=200, deadline=None)
@given(numbers(), numbers())
def test_divisibility_is_exact(value: str, divisor: str) -> None:
    by = Fraction(divisor)
    if by <= 0:
        with pytest.raises(SchemaFault):
            Validator(f'{{"multipleOf":{divisor}}}')
        return
    holds = (Fraction(value) / by).denominator == 1
    assert (Validator(f'{{"multipleOf":{divisor}}}').check(value) is None) is holds


@settings(max_examples=200, deadline=None)
@given(numbers())
def test_an_integer_is_an_integer_in_every_spelling(value: str) -> None:
    """Spec many-sources 2.2: `integer` accepts `1.0` and `1e2`; draft-04 goes by the spelling."""
    whole = Fraction(value).denominator == 1
    assert (Validator('{"type":"integer"}').check(value) is None) is whole
    assert (Validator('{"items":{"type":"integer"}}').check(f"[{value}]") is None) is whole
    old = Validator('{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer"}')
    assert (old.check(value) is None) is (re.fullmatch("-?[0-9]+", value) is not None)


def test_row_26_a_large_constant_is_told_from_its_neighbour() -> None:
    exact = Validator('{"type":"integer","const":9007199254740993}')
    assert exact.check("9007199254740993") is None
    assert exact.check("9007199254740992") == "expected 9007199254740993, got 9007199254740992"


def test_row_27_a_bound_keeps_all_its_digits() -> None:
    bound = Validator('{"properties":{"p":{"maximum":0.12345678901234567890123456789}}}')
    assert bound.check('{"p":0.12345678901234567890123456789}') is None
    problem = 'field "p": expected at most 0.12345678901234567890123456789, got 0.12345678901234567890123456790'
    assert bound.check('{"p":0.12345678901234567890123456790}') == problem


def test_an_object_that_serde_takes_for_a_number_stays_an_object() -> None:
    """Design 4.1: `{"$serde_json::private::Number":"42"}` turns into 42 where serde reads exact numbers."""
    trap = '{"$serde_json::private::Number":"42"}'
    assert Validator('{"type":"object"}').check(trap) is None
    assert Validator('{"type":"number"}').check(trap) == "expected number, got object"
    assert Validator(f'{{"const":{trap}}}').check(trap) is None
    assert Validator(f'{{"const":{trap}}}').check("42") is not None
    with pytest.raises(SchemaFault):
        Validator(f'{{"minimum":{trap}}}')


def test_a_number_as_long_as_its_document_costs_no_more_than_its_length() -> None:
    long = "1" + "0" * 1_000_000
    assert Validator('{"minimum":7,"multipleOf":8,"type":"integer"}').check(long) is None
    assert Validator('{"maximum":7}').check(f"{long}e-2000000") is None
    assert Validator('{"multipleOf":7}').check("1e999999999999999999999999999999999999") is not None
    with pytest.raises(SchemaFault, match="a divisor of more than 1000 digits"):
        Validator(f'{{"multipleOf":{long}}}')
