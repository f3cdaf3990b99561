"""`equal` and `compact`: the value decides, never its spelling; and layout is all that a compact text loses."""

import json
import re
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.texts import FORMS, broken, documents, examples, refusal, values
from toolwire import _core

SAME = [
    ("1", "1.0"), ("1", "10e-1"), ("1e3", "1000"), ("1E+3", "1000.00"), ("-0", "0"), ("-0.0e9", "0"), ("0.1", "1e-1"),
    ("1E400", "10e399"), ("1e99999999999999999999", "10e99999999999999999998"),
    ("9007199254740993", "9007199254740993.0"), ('"\\u0041"', '"A"'), ('"\\ud83d\\ude00"', '"😀"'), ('"\\/"', '"/"'),
    ('"\\uD800"', '"\\ud800"'), ('{"a":1,"b":2}', '{"b":2,"a":1.0}'), ('{"a":1,"a":2}', '{"a":2}'),
    ('{"\\u0061":1}', '{"a":1}'), (" [ ] ", "[]"), ("{\n}", "{}"), ('[{"x":[1.50]}]', '[ {"x" : [15e-1]} ]'),
]  # fmt: skip
DIFFERENT = [
    ("true", "1"), ("false", "0"), ("null", "0"), ("null", "false"), ('"1"', "1"), ('"null"', "null"), ("{}", "[]"),
    ('""', "null"), ("1", "-1"), ("9007199254740993", "9007199254740992"), ("1E400", "1E401"),
    ("0.1", "0.10000000000000001"), ("1e-400", "0"), ("1e99999999999999999999", "1e99999999999999999998"),
    ("[1,2]", "[2,1]"), ("[1]", "[1,1]"), ("[]", "[null]"), ('{"a":1}', '{"b":1}'), ('{"a":1}', '{"a":1,"b":1}'),
    ('{"a":2,"a":1}', '{"a":2}'), ('"\\ud800"', '"\ufffd"'), ('"\\ud800"', '"\\ud801"'), ('"a"', '"A"'),
    ('"e\\u0301"', '"\\u00e9"'), ('{"a":null}', "{}"),
]  # fmt: skip

# A string, or white space between tokens.
LAYOUT: Final = re.compile(r'("(?:[^"\\]|\\.)*")|[ \t\n\r]+')


def exact(text: str) -> Any:
    """Decode with exact numbers that no boolean equals."""

    def number(digits: str) -> tuple[str, Decimal]:
        return "number", Decimal(digits)

    return json.loads(text, parse_int=number, parse_float=number)


@st.composite
def respelled(draw: st.DrawFn, value: Any) -> str:
    """Write a decoded value in another spelling."""
    match value:
        case ("number", Decimal() as number):
            shift = draw(st.integers(0, 3))
            sign, digits, exponent = number.as_tuple()
            assert isinstance(exponent, int)
            whole = "".join(map(str, digits)) + "0" * shift
            return f"{'-' * sign}{whole.lstrip('0') or '0'}{draw(st.sampled_from('eE'))}{exponent - shift}"
        case str():
            return json.dumps(
                value, ensure_ascii=draw(st.booleans()) or any("\ud800" <= letter <= "\udfff" for letter in value)
            )
        case list():
            return "[" + ",".join(draw(respelled(item)) for item in value) + "]"
        case dict():
            members = draw(st.permutations(list(value.items())))
            return "{" + ", ".join(f"{json.dumps(name)}: {draw(respelled(item))}" for name, item in members) + "}"
    return json.dumps(value)


@pytest.mark.parametrize(("left", "right"), SAME)
def test_one_value_is_equal_in_every_spelling(left: str, right: str) -> None:
    assert _core.equal(left, right)
    assert _core.equal(right.encode(), bytearray(left.encode()))


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_two_values_are_never_equal(left: str, right: str) -> None:
    assert not _core.equal(left, right)
    assert not _core.equal(memoryview(right.encode()), left)


@examples(80)
@given(st.data(), documents)
def test_a_value_equals_itself_however_it_is_spelled_again(data: st.DataObject, text: str) -> None:
    again = data.draw(respelled(exact(text)))
    assert exact(again) == exact(text)
    assert _core.equal(text, again)
    assert _core.equal(again, text)


@examples(100)
@given(values, values)
def test_equality_is_that_of_a_second_implementation(left: str, right: str) -> None:
    assert _core.equal(left, right) == (exact(left) == exact(right))


@examples(100)
@given(st.data(), values)
def test_equality_of_close_texts_is_that_of_a_second_implementation(data: st.DataObject, text: str) -> None:
    other = data.draw(broken(st.just(text)))
    if refusal(other) is not None:
        with pytest.raises(_core.JsonError):
            _core.equal(text, other)
        return
    assert _core.equal(text, other) == (exact(text) == exact(other))


@pytest.mark.parametrize("form", FORMS)
def test_compact_drops_layout_and_nothing_else(form: str) -> None:
    text = ' { "a b\\" \\u0020" : [ 1.50 ,\n-0, 1E400 ],\t"é":"\\ud800 x" }\r\n'
    assert _core.compact(FORMS[form](text.encode())) == '{"a b\\" \\u0020":[1.50,-0,1E400],"é":"\\ud800 x"}'.encode()


@examples(100)
@given(documents)
@example('" \\" " ')
def test_a_compact_text_has_the_same_tokens_and_no_white_space_between_them(text: str) -> None:
    short = _core.compact(text).decode()
    assert short == LAYOUT.sub(lambda found: found[1] or "", text)
    assert _core.compact(short).decode() == short
    assert exact(short) == exact(text)


@pytest.mark.parametrize("text", ["", "[1,]", "NaN", "{} {}", b'"\xff"'])
def test_only_json_is_compared_or_made_compact(text: bytes | str) -> None:
    for attempt in (lambda: _core.compact(text), lambda: _core.equal(text, "1"), lambda: _core.equal("1", text)):
        with pytest.raises(_core.JsonError):
            attempt()


def test_equality_refuses_what_is_deeper_than_anything_may_be() -> None:
    deep = "[" * 257 + "]" * 257
    with pytest.raises(_core.JsonError, match="256 levels"):
        _core.equal(deep, deep)
    assert _core.equal("[" * 256 + "]" * 256, " [" * 256 + " ]" * 256)
