"""Schemas and values made to hurt: each is refused, or checked at a cost that has a bound. A hang fails the run."""

import json
import re
import socket
from collections.abc import Callable
from typing import Any

import pytest

from toolwire._core import JsonError, SchemaFault, Validator

Reference = dict[str, str]


def doubled(levels: int, twice: Callable[[Reference], Any]) -> str:
    """Make definitions that each refer twice to the next one."""
    defined = {f"l{level}": twice({"$ref": f"#/$defs/l{level + 1}"}) for level in range(levels)}
    return json.dumps({"type": "object", "$ref": "#/$defs/l0", "$defs": {**defined, f"l{levels}": {"type": "string"}}})


def nested(depth: int, core: str) -> str:
    return '{"a":' * depth + core + "}" * depth


TWICE: dict[str, Callable[[Reference], Any]] = {
    "allOf": lambda next_: {"allOf": [next_, next_]},
    "anyOf": lambda next_: {"anyOf": [next_, next_]},
    "oneOf under not": lambda next_: {"not": {"oneOf": [next_, next_]}},
    "properties": lambda next_: {"properties": {"a": next_, "b": next_}},
    "items and contains": lambda next_: {"items": next_, "contains": next_},
    "unevaluated": lambda next_: {"allOf": [next_, next_], "unevaluatedProperties": False},
    "if and then": lambda next_: {"if": next_, "then": next_},
    "dependentSchemas": lambda next_: {"dependentSchemas": {"a": next_, "b": next_}},
}


@pytest.mark.parametrize("twice", TWICE.values(), ids=TWICE)
@pytest.mark.parametrize("levels", [28, 300])
def test_doubled_references_are_refused_when_compiled(twice: Callable[[Reference], Any], levels: int) -> None:
    """Design 4.4: a schema that explodes when followed. The crate alone would take from seconds to for ever."""
    with pytest.raises(SchemaFault, match="its references unfold to more than 100000 schemas, which is over the limit"):
        Validator(doubled(levels, twice))


@pytest.mark.parametrize("twice", TWICE.values(), ids=TWICE)
def test_a_few_doubled_references_are_fine(twice: Callable[[Reference], Any]) -> None:
    validator = Validator(doubled(6, twice))
    validator.check("{}")
    assert validator.check("1") is not None


def test_doubling_hides_neither_in_recursion_nor_behind_an_id() -> None:
    looped = json.loads(doubled(28, TWICE["anyOf"]))
    looped["$defs"]["l28"] = {"properties": {"again": {"$ref": "#/$defs/l0"}}}
    with pytest.raises(SchemaFault, match="unfold"):
        Validator(json.dumps(looped))
    defined = {
        f"l{level}": {
            "$id": f"http://localhost/{level}",
            "allOf": [{"$ref": str(level + 1)}, {"$ref": f"./{level + 1}#"}],
        }
        for level in range(28)
    }
    defined["l28"] = {"$id": "http://localhost/28"}
    with pytest.raises(SchemaFault, match="unfold"):
        Validator(json.dumps({"$id": "http://localhost/root", "$ref": "0", "$defs": defined}))
    anchored = {
        f"l{level}": {"$dynamicAnchor": f"d{level}", "allOf": [{"$dynamicRef": f"#d{level + 1}"}] * 2}
        for level in range(28)
    }
    anchored["l28"] = {"$dynamicAnchor": "d28"}
    with pytest.raises(SchemaFault, match="unfold"):
        Validator(json.dumps({"$ref": "#/$defs/l0", "$defs": anchored}))


RECURSIVE = {"$ref": "#/$defs/N"}


def test_a_recursive_schema_is_fine() -> None:
    tree = {"type": "object", "properties": {"kids": {"items": RECURSIVE}}, "required": ["v"]}
    validator = Validator(json.dumps({**RECURSIVE, "$defs": {"N": tree}}))
    value: dict[str, Any] = {"v": 0}
    for level in range(120):
        value = {"v": level, "kids": [value, {"v": 1}]}
    assert validator.check(json.dumps(value)) is None
    assert validator.check('{"v":1,"kids":[{"kids":[]}]}') == 'field "kids.0.v": required'


@pytest.mark.parametrize(
    "doubling",
    [
        {"allOf": [{"properties": {"a": RECURSIVE}}, {"properties": {"a": RECURSIVE}}]},
        {"anyOf": [{"properties": {"a": RECURSIVE}, "required": [name]} for name in "xy"]},
        {"oneOf": [{"properties": {"a": RECURSIVE}}, {"properties": {"a": RECURSIVE, "b": False}}]},
        {"properties": {"a": {"not": RECURSIVE}}, "not": {"properties": {"a": RECURSIVE}, "required": ["x"]}},
        {"properties": {"a": RECURSIVE}, "anyOf": [{"properties": {"a": RECURSIVE}}], "unevaluatedProperties": False},
    ],
)
def test_recursion_that_doubles_at_each_level_of_the_value_has_a_bound(doubling: dict[str, Any]) -> None:
    validator = Validator(json.dumps({**RECURSIVE, "$defs": {"N": doubling}}))
    for depth in (5, 50, 250):
        validator.check(nested(depth, "{}"))
        validator.check(nested(depth, '{"b":1}'))


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}},
        {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, True]}}},
    ],
)
def test_a_reference_that_takes_no_step_into_the_value_is_refused(schema: dict[str, Any]) -> None:
    """Core 2020-12, 9.4.1: a schema must not run into an endless loop; what it means is undefined."""
    with pytest.raises(SchemaFault, match="a reference leads back to itself at one and the same value"):
        Validator(json.dumps(schema))


def test_a_dynamic_loop_ends() -> None:
    validator = Validator('{"$dynamicAnchor":"n","anyOf":[{"type":"integer"},{"$dynamicRef":"#n"}]}')
    assert validator.check("1") is None
    validator.check('"x"')


@pytest.mark.parametrize(
    ("schema", "target"),
    [
        ('{"properties":{"p":{"$ref":"http://169.254.1.1/s.json"}}}', "http://169.254.1.1/s.json"),
        ('{"items":{"$ref":"file:///etc/hosts"}}', "file:///etc/hosts"),
        ('{"$id":"http://localhost:1/a.json","$ref":"b.json"}', "http://localhost:1/b.json"),
        ('{"$defs":{"a":{"$ref":"other.json#/x"}},"$ref":"#/$defs/a"}', "other.json"),
        ('{"$dynamicRef":"http://localhost:1/x#y"}', "http://localhost:1/x"),
        ('{"$schema":"http://json-schema.org/draft-04/schema#","not":{"$ref":"ftp://x/y"}}', "ftp://x/y"),
    ],
)
def test_row_29_a_reference_out_of_the_schema_is_refused_and_nothing_is_fetched(
    schema: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault A5."""
    monkeypatch.setattr(socket, "socket", None)
    with pytest.raises(SchemaFault, match=f"{re.escape(target)}.*leads out of the schema, and nothing is fetched"):
        Validator(schema)


@pytest.mark.parametrize(
    ("levels", "build", "prose"),
    [
        (300, lambda inner: {"properties": {"a": inner}}, "nested deeper than 256 levels"),
        (10_000, lambda inner: {"not": inner}, "nested deeper than 256 levels"),
    ],
)
def test_a_schema_that_is_too_deep_is_refused(levels: int, build: Callable[[Any], Any], prose: str) -> None:
    opening, closing = json.dumps(build("@")).split('"@"')
    with pytest.raises(JsonError, match=prose):
        Validator(opening * levels + "true" + closing * levels)


def test_deep_schemas_and_values_do_not_break_the_stack() -> None:
    opening, closing = '{"allOf":[', "]}"
    deepest = Validator(opening * 127 + '{"type":"string"}' + closing * 127)
    assert deepest.check('"x"') is None
    assert deepest.check("1") == "expected string, got number 1"
    chain: dict[str, Any] = {f"a{level}": {"$ref": f"#/$defs/a{level + 1}"} for level in range(250)}
    chain["a250"] = {"properties": {"x": {}}}
    strict = Validator(json.dumps({"$ref": "#/$defs/a0", "unevaluatedProperties": False, "$defs": chain}))
    assert strict.check('{"x":1}') is None
    assert strict.check('{"y":1}') == 'field "y": not in the schema'
    inner = opening * 100 + json.dumps(RECURSIVE) + closing * 100
    both = Validator(
        f'{{"$ref":"#/$defs/N","$defs":{{"N":{{"type":["object","null"],"properties":{{"a":{inner}}}}}}}}}'
    )
    assert both.check(nested(250, "null")) is None
    assert both.check(nested(250, "1")) is not None


@pytest.mark.parametrize(
    ("schema", "prose"),
    [
        (
            {
                "$ref": "#/$defs/a0",
                "$defs": {f"a{i}": {"$ref": f"#/$defs/a{i + 1}"} for i in range(400)} | {"a400": {}},
            },
            "more than 256 deep within each other at one and the same value",
        ),
        (
            {
                "$ref": "#/$defs/a0",
                "$defs": {f"a{i}": {"items": {"$ref": f"#/$defs/a{i + 1}"}} for i in range(2_000)} | {"a2000": {}},
            },
            "more than 1000 references lead from one to the next",
        ),
        ({"anyOf": [{"type": "string"}] * 20_000}, "more than 10000 schemas apply to one and the same value"),
        ({"properties": {f"p{i}": {} for i in range(60_000)}}, "it holds more than 50000 schemas"),
    ],
)
def test_a_schema_over_a_limit_says_which(schema: dict[str, Any], prose: str) -> None:
    with pytest.raises(SchemaFault, match=f"{prose}, which is over the limit"):
        Validator(json.dumps(schema))


def test_a_huge_enum_is_a_set() -> None:
    """Fault A17."""
    values = [f"value number {index:06d}" for index in range(200_000)]
    validator = Validator(json.dumps({"items": {"enum": values}}))
    assert validator.check(json.dumps(values)) is None
    detail = validator.check('["no such value"]')
    assert detail is not None
    assert detail.startswith('field "0": expected one of "value number 000000", ')
    assert detail.endswith(' more, got "no such value"')
    assert len(detail) < 400


def test_many_alternatives_for_many_elements_have_a_bound() -> None:
    validator = Validator(json.dumps({"items": {"anyOf": [{"const": index} for index in range(9_000)]}}))
    assert validator.check(json.dumps([8_999] * 10)) is None
    assert validator.check(json.dumps([8_999] * 20_000)) == "checking it against its schema takes too long"


COSTLY = "^(a|aa|aaa)+(b)\\2\\2$"


def test_a_catastrophic_pattern_is_neither_a_yes_nor_a_no() -> None:
    text = json.dumps("a" * 5_000)
    tired = "its pattern takes too long to check"
    assert Validator(json.dumps({"pattern": "^(a+)+$"})).check(text) is None
    assert Validator(json.dumps({"pattern": "^(a+)+$"})).check(text[:-1] + '!"') is not None
    assert Validator(json.dumps({"pattern": COSTLY})).check(text) == tired
    assert Validator(json.dumps({"not": {"pattern": COSTLY}})).check(text) == tired
    assert Validator(json.dumps({"anyOf": [{"pattern": COSTLY}, {"type": "string"}]})).check(text) is None
    many = Validator(json.dumps({"items": {"pattern": COSTLY}}))
    assert many.check(json.dumps(["a" * 5_000 + str(index) for index in range(3_000)])) is not None
    names = Validator(json.dumps({"properties": {"q": {"patternProperties": {COSTLY: False}}}}))
    assert names.check(json.dumps({"q": {"a" * 5_000: 1}})) is not None
    wide = json.dumps({"q": {"a" * 5_000: 1}, "z": [0] * 20_000})
    assert names.check(wide) is not None


def test_a_pattern_that_grows_beyond_memory_is_refused() -> None:
    for pattern in ("(a{1000}){1000}", "((\\p{L}{100}){100}){100}"):
        with pytest.raises(SchemaFault, match='"pattern" is no regular expression, or one too large'):
            Validator(json.dumps({"pattern": pattern}))
    many = {f"p{index}": {"pattern": f"^\\p{{L}}{{1,50}}{index}$"} for index in range(500)}
    with pytest.raises(SchemaFault, match="or one too large"):
        Validator(json.dumps({"properties": many}))
    usual = {f"p{index}": {"pattern": f"^[a-z0-9_-]{{1,64}}{index}$"} for index in range(300)}
    assert Validator(json.dumps({"properties": usual})).check('{"p7":"x7"}') is None


def test_a_large_value_is_checked_in_linear_time() -> None:
    many = 300_000
    assert Validator('{"items":{"type":"integer"}}').check(json.dumps(list(range(many)))) is None
    assert Validator('{"items":{"type":"integer"}}').check(json.dumps(["x"] * many)) is not None
    assert Validator('{"uniqueItems":true}').check(json.dumps(list(range(many)))) is None
    assert Validator('{"uniqueItems":true}').check(json.dumps([*range(many), 7.0])) is not None
    wide = json.dumps({f"k{index}": index for index in range(many)})
    required = json.dumps({"required": [f"k{index}" for index in range(0, many, 100)]})
    assert Validator(required).check(wide) is None
    assert Validator('{"maxProperties":10}').check(wide) == f"expected at most 10 members, got {many}"


def test_a_value_over_the_size_or_depth_is_refused() -> None:
    anything = Validator("true")
    assert anything.check(json.dumps("x" * (16 * 1024 * 1024 - 2))) is None
    with pytest.raises(JsonError, match="longer than the limit") as refused:
        anything.check(json.dumps("x" * (16 * 1024 * 1024)))
    assert refused.value.args[1] == "too_large"
    with pytest.raises(JsonError, match="nested deeper than 256 levels"):
        anything.check("[" * 257 + "]" * 257)
    with pytest.raises(JsonError, match="longer than the limit"):
        Validator(json.dumps({"title": "x" * (8 * 1024 * 1024)}))
