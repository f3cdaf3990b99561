"""Arguments made from a tool's input schema: some that fit it, some that do not."""

import random
import re
from collections.abc import Iterator
from typing import Any

FORMATS = {
    "date-time": "2026-11-30T17:02:00Z",
    "date": "2026-11-30",
    "time": "17:02:00Z",
    "uuid": "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
    "uri": "https://example.com/a?b=c",
    "email": "someone@example.com",
    "ipv4": "192.0.2.1",
}
WORDS = (
    "a string of some words, as models write them",
    "value",
    *FORMATS.values(),
    "17:02:00",
    "2026-11-30T17:02:00.000Z",
    "process=kernel",
    "https://example.com",
    "example.com",
)
"""Tried in turn where a pattern asks for more than a word."""


def fitting(schema: dict[str, Any], seed: int) -> Any:
    """Make arguments that most likely fit: what is required, and of the rest more with each seed."""
    return _value(schema, schema, random.Random(seed), 0)  # noqa: S311 - the same arguments in every run


def misfitting(schema: dict[str, Any], arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Spoil arguments in the ways in which models do: a member left out, of another type, unknown, none of a list."""
    for name in schema.get("required", ()):
        yield {key: value for key, value in arguments.items() if key != name}
    for name, value in arguments.items():
        yield {**arguments, name: [value] if not isinstance(value, list) else {"item": value}}
        if isinstance(value, str):
            yield {**arguments, name: f"{value} and no other"}
            yield {**arguments, name: 7}
        elif isinstance(value, int | float):
            yield {**arguments, name: str(value)}
            yield {**arguments, name: -(10**12)}
    yield {**arguments, "no_such_argument": True}


def _resolved(schema: Any, root: dict[str, Any]) -> Any:
    while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
        target: Any = root
        for step in schema["$ref"].removeprefix("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            target = target[int(name)] if isinstance(target, list) else target[name]
        schema = target
    return schema


def _value(schema: Any, root: dict[str, Any], chance: random.Random, depth: int) -> Any:
    schema = _resolved(schema, root)
    if not isinstance(schema, dict):
        return None
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return chance.choice(schema["enum"])
    for keyword in ("anyOf", "oneOf"):
        if schema.get(keyword):
            return _value({**schema, keyword: None, **_resolved(schema[keyword][0], root)}, root, chance, depth)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            return _object(schema, root, chance, depth)
        case "array":
            count = max(schema.get("minItems", 0), 0 if depth > 5 else chance.randrange(3))
            return [_value(schema.get("items", {}), root, chance, depth + 1) for _ in range(count)]
        case "integer":
            return int(_number(schema))
        case "number":
            return _number(schema) + 0.5 if "maximum" not in schema else _number(schema)
        case "boolean":
            return chance.random() < 0.5
        case "null":
            return None
    return _string(schema, chance)


def _object(schema: dict[str, Any], root: dict[str, Any], chance: random.Random, depth: int) -> dict[str, Any]:
    required = schema.get("required", [])
    return {
        name: _value(member, root, chance, depth + 1)
        for name, member in schema.get("properties", {}).items()
        if name in required or (depth < 4 and chance.random() < 0.4)
    }


def _number(schema: dict[str, Any]) -> float:
    low: float = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    high: float = schema.get("maximum", schema.get("exclusiveMaximum", low + 100))
    return low + 1 if low + 1 < high else low


def _string(schema: dict[str, Any], chance: random.Random) -> str:
    if (format_ := schema.get("format")) in FORMATS:
        return FORMATS[format_]
    if pattern := schema.get("pattern"):
        return next((word for word in WORDS if re.search(pattern, word)), "")
    text = WORDS[chance.randrange(2)]
    return text[: schema.get("maxLength", 100)].ljust(schema.get("minLength", 0), "x")
