"""A tool's schema: its exact bytes, and a lenient view for programs that want to look inside.

The bytes win: nothing that is read through the view changes what is sent. Source: spec one-session 2.6.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from toolwire import _core
from toolwire.errors import SchemaError

__all__ = ["EMPTY", "Schema"]


class Schema:
    """One JSON Schema document. `Schema(raw)` takes bytes that are known to be one; `Schema.parse` checks them."""

    __slots__ = ("_known", "_raw")

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._known: dict[str, bytes] | None = None

    @classmethod
    def parse(cls, text: bytes | str) -> Schema:
        """A tool's input schema: exactly one JSON object whose `type` is the string `"object"`.

        Raises SchemaError with the text of the spec's table.
        """
        try:
            return cls(_core.parse_schema(text))
        except _core.JsonError as error:
            raise SchemaError(error.args[0]) from None

    @property
    def raw(self) -> bytes:
        """The document's exact bytes."""
        return self._raw

    @property
    def value(self) -> Any:
        """The decoded document, a fresh one each time.

        Integers are exact, other numbers Python floats; half a surrogate pair is U+FFFD.
        """
        return _decoded(self._raw)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about it, each with its place: repeated members, remote references, halves of surrogate pairs."""
        return tuple(_core.schema_warnings(self._raw))

    def _member(self, name: str, first: bytes) -> bytes | None:
        """The bytes of a member of the root, if there is one that starts with one of the bytes of `first`."""
        if self._known is None:
            self._known = _core.members(self._raw)
        found = self._known.get(name)
        return found if found is not None and found[:1] in first else None

    def _text(self, name: str) -> str:
        found = self._member(name, b'"')
        return "" if found is None else str(_decoded(found))

    def _schema(self, name: str) -> Schema | None:
        found = self._member(name, b"{")
        return None if found is None else Schema(found)

    @property
    def type(self) -> str:
        """The `type` keyword when it is one string, else `""`."""
        return self._text("type")

    @property
    def format(self) -> str:
        """The `format` keyword when it is a string, else `""`."""
        return self._text("format")

    @property
    def description(self) -> str:
        """The `description` keyword when it is a string, else `""`."""
        return self._text("description")

    @property
    def properties(self) -> Mapping[str, Schema]:
        """The properties in the document's order, with their own bytes; one that is no schema object is `{}`."""
        found = _core.members(self._member("properties", b"{") or b"{}")
        return {name: Schema(value if value[:1] == b"{" else b"{}") for name, value in found.items()}

    @property
    def additional_properties(self) -> Schema | None:
        """The schema of further members, where it is one; a boolean is none."""
        return self._schema("additionalProperties")

    @property
    def required(self) -> tuple[str, ...]:
        """The required names; empty where the keyword is anything but a list of strings."""
        names = _decoded(self._member("required", b"[") or b"[]")
        return tuple(names) if all(isinstance(name, str) for name in names) else ()

    @property
    def items(self) -> Schema | None:
        """The schema of the elements, where it is one for all of them."""
        return self._schema("items")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._raw == other._raw

    def __hash__(self) -> int:
        return hash(self._raw)

    def __repr__(self) -> str:
        return f"Schema({self._raw!r})"


_ESCAPES = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_LONGEST_INTEGER = 4_300
"""Digits that Python turns into an `int` without being told to; a longer one is a Decimal, which is as exact."""


def _decoded(raw: bytes) -> Any:
    whole = _ESCAPES.sub(lambda found: rb"\ufffd" if found[1] else found[0], raw) if rb"\u" in raw else raw
    try:
        return json.loads(whole)
    except ValueError:
        return json.loads(whole, parse_int=lambda text: int(text) if len(text) <= _LONGEST_INTEGER else Decimal(text))


EMPTY = Schema(b'{"type":"object"}')
"""What a tool without a schema takes."""
