"""What Python hands in and gets back."""

import json
import threading

import pytest

from toolwire._core import JsonError, SchemaFault, Validator

SCHEMA = '{"type":"object","properties":{"é":{"type":"integer"}},"required":["é"]}'


@pytest.mark.parametrize(
    "form", [str, str.encode, lambda text: bytearray(text.encode()), lambda text: memoryview(text.encode())]
)
def test_a_text_comes_in_any_form(form: type[bytes]) -> None:
    validator = Validator(form(SCHEMA))  # type: ignore[arg-type]  # each form takes the text
    assert validator.check(form('{"é":1}')) is None  # type: ignore[arg-type]  # the same
    assert validator.errors(form('{"é":"x"}')) == [("é", 'expected integer, got string "x"')]  # type: ignore[arg-type]  # the same


@pytest.mark.parametrize(
    ("text", "kind", "offset"),
    [
        ("", "unexpected_end", 0),
        ("{", "unexpected_end", 1),
        ("{} {}", "trailing_text", 3),
        ('{"a":1,"\\u0061":2}', "duplicate_member", 8),
        ('{"a":{"b":1,"b":1}}', "duplicate_member", 13),
        ('["\\ud800"]', "lone_surrogate", 2),
        ("[NaN]", "not_finite", 1),
        ("1e99999999999999999999999999999999999999", "huge_exponent", 0),
        (b"\xff", "bad_utf8", 0),
    ],
)
def test_a_text_that_is_not_i_json_is_refused_as_schema_and_as_value(text: str | bytes, kind: str, offset: int) -> None:
    """Spec many-sources 2: RFC 7493, whatever the depth. Rows 34 and 35 of its table."""
    for read in (Validator, Validator("true").check, Validator("true").errors):
        with pytest.raises(JsonError) as refused:
            read(text)
        assert refused.value.args[1:] == (kind, offset)


def test_a_schema_that_does_not_compile_is_a_schema_fault() -> None:
    with pytest.raises(SchemaFault) as refused:
        Validator('{"properties":{"a":{"minLength":-1}}}')
    assert refused.value.args == ('"properties.a.minLength": expected at least 0, got -1',)
    assert isinstance(refused.value, ValueError)
    with pytest.raises(TypeError):
        Validator({"type": "object"})  # type: ignore[arg-type]  # that is the point


def test_every_problem_is_listed_and_the_text_tells_the_first_few() -> None:
    validator = Validator('{"properties":{"a":{"type":"string"},"b":{"maximum":1}},"required":["c","d"]}')
    value = '{"b":2,"a":1}'
    assert validator.errors(value) == [
        ("c", "required"),
        ("d", "required"),
        ("b", "expected at most 1, got 2"),
        ("a", "expected string, got number 1"),
    ]
    assert validator.check(value) == (
        'field "c": required; field "d": required; field "b": expected at most 1, got 2; and 1 more'
    )


def test_a_path_is_spelled_as_everywhere() -> None:
    """Spec one-session 2.5: dotted names, with positions and keys of maps, cut where it is long."""
    deep = Validator(
        '{"properties":{"items":{"items":{"properties":{"qty":{"type":"integer"}}}},"meta":{"additionalProperties":{"type":"null"}}}}'
    )
    assert deep.errors('{"items":[{"qty":"3"}]}') == [("items.0.qty", 'expected integer, got string "3"')]
    assert deep.errors('{"meta":{"k/~.x":0}}') == [("meta.k/~.x", "expected null, got number 0")]
    long = Validator('{"additionalProperties":{"type":"null"}}').errors(json.dumps({"é" * 500: 0}))
    assert long == [("é" * 200 + "…", "expected null, got number 0")]


def test_what_is_quoted_is_short() -> None:
    (problem,) = Validator('{"pattern":"^a$","type":"string"}').errors(json.dumps("\\" * 100_000))
    assert len(problem[1]) < 120
    (problem,) = Validator(json.dumps({"enum": ["x" * 10_000] * 2 + ["y"]})).errors('"z"')
    assert len(problem[1]) < 400


def test_one_validator_serves_many_threads() -> None:
    validator = Validator('{"items":{"type":"integer"},"uniqueItems":true}')
    large, wrong = json.dumps(list(range(200_000))), json.dumps(["x"] * 10)
    found: list[object] = []

    def work() -> None:
        found.extend((validator.check(large), validator.check(wrong) is not None) for _ in range(3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(None, True)] * 12
