"""What a handler returned, as JSON text: compact, in declaration order, with nothing that JSON cannot say."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic_core import PydanticSerializationError, SchemaSerializer, core_schema, to_json

from toolwire import _core
from toolwire.errors import quoted

__all__ = ["EncodeError", "encode"]

_AS_PYTHON = SchemaSerializer(core_schema.any_schema())


class EncodeError(Exception):
    """A value that is no JSON; the text names the tool and, where there is one, the path."""


def encode(tool: str, value: Any) -> bytes:
    """Compact JSON of any value that pydantic can serialise: models, dataclasses, dates, `Decimal`, enums, containers.

    Raises EncodeError for NaN and Infinity, halves of surrogate pairs, and values that are no data.
    """
    if isinstance(value, Iterator):
        # It can be gone through once, and what is found wrong in it has to be found again.
        value = list(value)
    try:
        text = to_json(value, inf_nan_mode="constants", by_alias=True)
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise EncodeError(f"marshal output of tool {quoted(tool)}: {_fault(value) or error}") from None
    # A model writes null for NaN, whatever it is asked; anything else writes letters that no other token has.
    letters = b"NaN" in text or b"Infinity" in text
    if letters or (b"null" in text and _may_be_infinite(value)):
        fault = _fault(value) or (_unwritable(text) if letters else None)
        if fault is not None:
            raise EncodeError(f"marshal output of tool {quoted(tool)}: {fault}")
    return text


def _unwritable(text: bytes) -> str | None:
    """What is no JSON in a text of a value that could not be looked through, as of an iterator within it."""
    try:
        _core.check_output(text)
    except _core.JsonError as error:
        problem = str(error.args[0])
        return problem if not problem.startswith('"') else f"field {problem}"
    return None


def _may_be_infinite(value: Any) -> bool:
    """The value as Python sees it holds NaN or Infinity, or a string that says so."""
    try:
        text = to_json(_AS_PYTHON.to_python(value, mode="python"), inf_nan_mode="constants")
    except (PydanticSerializationError, ValueError, RecursionError):
        return True
    return b"NaN" in text or b"Infinity" in text


def _fault(value: Any) -> str | None:
    """What JSON cannot say in a value, with its path; `None` where nothing is found."""
    try:
        plain = _AS_PYTHON.to_python(value, mode="python", by_alias=True)
    except (PydanticSerializationError, ValueError, RecursionError):
        return None
    seen: set[int] = set()

    def look(found: Any, path: tuple[str, ...]) -> str | None:
        where = f"field {quoted('.'.join(path))}" if path else "the value"
        if isinstance(found, Enum):
            found = found.value
        if isinstance(found, float | Decimal):
            return None if math.isfinite(found) else f"{where}: {_word(found)} is no JSON"
        if isinstance(found, str):
            return f"{where}: half of a surrogate pair in the text" if _is_half(found) else None
        if not isinstance(found, dict | list | tuple | set | frozenset | deque):
            return None
        if id(found) in seen:
            return f"{where}: it contains itself"
        seen.add(id(found))
        for name, inner in found.items() if isinstance(found, dict) else enumerate(found):
            if isinstance(name, str) and _is_half(name):
                return f"{where}: half of a surrogate pair in a member's name"
            fault = look(inner, (*path, str(name)))
            if fault is not None:
                return fault
        seen.discard(id(found))
        return None

    try:
        return look(plain, ())
    except RecursionError:
        return "it nests too deep"


def _word(number: float | Decimal) -> str:
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"


def _is_half(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text)
