"""One fault of an argument as a sentence: the place, what is expected there, what came (spec one-session 2.5)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from toolwire.contract.advertised import choices, step, words
from toolwire.contract.numbers import Spelled, spelled
from toolwire.errors import quoted

__all__ = ["complaint", "kind_of", "literal", "named", "one_of", "place_of"]

_CLIP = 100
"""Characters of a refused value that a text quotes."""

_CHOICES = 20
"""Choices of an enumeration that a text lists."""

_BOUNDS = {
    "greater_than": "a number greater than {gt}",
    "greater_than_equal": "a number of at least {ge}",
    "less_than": "a number less than {lt}",
    "less_than_equal": "a number of at most {le}",
    "multiple_of": "a multiple of {multiple_of}",
    "finite_number": "a finite number",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "bytes_too_short": "at least {min_length} bytes",
    "bytes_too_long": "at most {max_length} bytes",
    "string_pattern_mismatch": "a string that matches {pattern}",
    "too_short": "at least {min_length} {items}",
    "too_long": "at most {max_length} {items}",
    "date_parsing": "a date as YYYY-MM-DD",
    "date_from_datetime_parsing": "a date as YYYY-MM-DD",
    "datetime_parsing": "a date and time as YYYY-MM-DDThh:mm:ss with an offset",
    "datetime_from_date_parsing": "a date and time as YYYY-MM-DDThh:mm:ss with an offset",
    "time_parsing": "a time as hh:mm:ss",
    "time_delta_parsing": "a duration as P1DT2H",
    "uuid_parsing": "a UUID",
    "decimal_parsing": "a decimal number",
}

_WANTED = {
    fault: [word]
    for word, faults in {
        "integer": ("int_type", "int_parsing", "int_from_float"),
        "number": ("float_type", "float_parsing"),
        "boolean": ("bool_type", "bool_parsing"),
        "string": ("string_type", "bytes_type", "date_type", "datetime_type", "time_type", "uuid_type"),
        "array": ("list_type", "tuple_type", "set_type", "frozen_set_type"),
        "object": ("dict_type", "model_type", "dataclass_type"),
    }.items()
    for fault in faults
}
"""The word for what pydantic wants, by its fault."""

_ITEMS = {"object": "members", "string": "characters"}


def place_of(path: Sequence[str | int]) -> str:
    """The start of a text: the field that it is about."""
    return f"field {quoted('.'.join(map(str, path)))}: "


def kind_of(value: Any) -> str:
    """The word for a value's kind."""
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case str() | bytes():
            return "string"
        case int() | float():
            return "number"
        case list() | tuple() | set():
            return "array"
        case dict():
            return "object"
        case _:
            return type(value).__name__


def complaint(fault: Any, path: tuple[str | int, ...], root: Any, arguments: bytes) -> str:
    """The text for one fault of pydantic's."""
    kind, value = fault["type"], fault["input"]
    if path and path[-1] == "[key]":
        sentence = _sentence(fault)
        sentence = named(sentence) if kind in ("literal_error", "enum") else sentence
        return f"{place_of(path[:-1])}its name: {sentence}, got {literal(value)}"
    field = place_of(path)
    match kind:
        case "missing" | "missing_argument" | "missing_keyword_only_argument":
            return f"{field}required"
        case "extra_forbidden" | "unexpected_keyword_argument" | "no_such_attribute":
            return f"unknown {field}not in the schema"
        case "union_tag_not_found":
            return f"{place_of((*path, _tag(fault)))}required"
        case "union_tag_invalid":
            tags = named(fault["ctx"]["expected_tags"]).replace(", ", " or ")
            return f"{place_of((*path, _tag(fault)))}expected {tags}, got {literal(fault['ctx']['tag'])}"
    node = root
    for name in path:
        node = step(root, node, name)
    number = _number_at(arguments, path)
    if number is not None and isinstance(value, str):
        value = float(number)  # a decimal, which was quoted on its way to pydantic
    # A name that the schema does not show, such as a second alias: pydantic says what it wants there.
    expected, got = words(root, node) or _WANTED.get(kind, []), kind_of(value)
    if expected and not _fits(value, expected):
        if got == "number" and "integer" in expected:
            got = f"number {number or literal(value)}"
        return f"{field}expected {' or '.join(expected)}, got {got}"
    allowed = choices(root, node) if kind in ("literal_error", "enum") else []
    if allowed:
        return f"{field}expected {one_of(allowed)}, got {literal(value)}"
    if kind in ("value_error", "assertion_error"):
        # A validator's own sentence says what it wants.
        return f"{field}{_sentence(fault)}"
    shown = f"number {number or literal(value)}" if got == "number" else literal(value)
    if kind in _BOUNDS:
        context = {"items": _ITEMS.get(got, "elements"), **fault.get("ctx", {})}
        count = len(value) if kind in ("too_short", "too_long") and isinstance(value, list | dict) else None
        return f"{field}expected {_BOUNDS[kind].format(**context)}, got {shown if count is None else count}"
    return f"{field}{_sentence(fault)}, got {shown}"


def one_of(allowed: Sequence[Any]) -> str:
    """Choices as a text lists them."""
    listed = " or ".join(literal(choice) for choice in allowed[:_CHOICES])
    return f"{listed}{' or others' if len(allowed) > _CHOICES else ''}"


def named(expected: str) -> str:
    """Pydantic's list of constants as JSON has them: `<Kind.A: 'a'>` is what an enumeration's member looks like."""
    return _MEMBER.sub(r"\1", expected).replace("'", '"')


_MEMBER = re.compile(r"<[\w.]+: ('[^']*'|[^'>]*)>")


def _tag(fault: Any) -> str:
    return str(fault["ctx"]["discriminator"]).strip("'")


def _sentence(fault: Any) -> str:
    text: str = fault["msg"]
    for prefix, instead in (("Value error, ", ""), ("Assertion failed, ", ""), ("Input should be ", "expected ")):
        if text.startswith(prefix):
            return instead + text.removeprefix(prefix)
    return text[:1].lower() + text[1:]


def _fits(value: Any, expected: list[str]) -> bool:
    """The value's kind is one of the words. A whole float is no integer here: decoding is strict."""
    match value:
        case bool():
            return "boolean" in expected
        case int():
            return "integer" in expected or "number" in expected
        case float():
            return "number" in expected
        case _:
            return kind_of(value) in expected


def literal(value: Any) -> str:
    """A refused value as JSON, clipped."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _CLIP else text[:_CLIP] + "…"


def _number_at(arguments: bytes, path: Sequence[str | int]) -> str | None:
    """A number as the model spelled it; `None` where the way does not lead to one."""
    found = spelled(arguments)
    try:
        for name in path:
            found = found[name]
    except (KeyError, IndexError, TypeError):
        return None
    if not isinstance(found, Spelled):
        return None
    return str(found) if len(found) <= _CLIP else found[:_CLIP] + "…"
