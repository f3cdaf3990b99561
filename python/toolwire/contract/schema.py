"""A tool's schema: its exact bytes, and a lenient view for programs that want to look inside.

The bytes win: nothing that is read through the view changes what is sent. Source: spec one-session 2.6.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolwire import _core
from toolwire.errors import SchemaError

__all__ = ["EMPTY", "Schema"]


class Schema:
    """One JSON Schema document. `Schema(raw)` takes bytes that are known to be one; `Schema.parse` checks them."""

    __slots__ = ("_view", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self._view: Any = None

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
    def value(self) -> Any:
        """The decoded document, integers exact, floats as Python's. Not to be changed: it is read once."""
        if self._view is None:
            self._view = json.loads(self.raw)
        return self._view

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about it, each with its place: repeated members, remote references, halves of surrogate pairs."""
        return tuple(_core.schema_warnings(self.raw))

    def _member(self, name: str, kind: type) -> Any:
        value = self.value
        found = value.get(name) if isinstance(value, dict) else None
        return found if isinstance(found, kind) else None

    @property
    def type(self) -> str:
        """The `type` keyword when it is one string, else `""`."""
        return self._member("type", str) or ""

    @property
    def format(self) -> str:
        """The `format` keyword when it is a string, else `""`."""
        return self._member("format", str) or ""

    @property
    def description(self) -> str:
        """The `description` keyword when it is a string, else `""`."""
        return self._member("description", str) or ""

    @property
    def properties(self) -> Mapping[str, Schema]:
        """The properties in the document's order; one that is no schema object is an unconstrained `{}`."""
        found = self._member("properties", dict) or {}
        return {name: _node(value) for name, value in found.items()}

    @property
    def additional_properties(self) -> Schema | None:
        """The schema of further members, where it is one; a boolean is none."""
        found = self._member("additionalProperties", dict)
        return None if found is None else _node(found)

    @property
    def required(self) -> tuple[str, ...]:
        """The required names; empty where the keyword is anything but a list of strings."""
        found = self._member("required", list) or []
        return tuple(found) if all(isinstance(name, str) for name in found) else ()

    @property
    def items(self) -> Schema | None:
        """The schema of the elements, where it is one for all of them."""
        found = self._member("items", dict)
        return None if found is None else _node(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    def __repr__(self) -> str:
        return f"Schema({self.raw!r})"


def _node(value: Any) -> Schema:
    value = value if isinstance(value, dict) else {}
    node = Schema(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass"))
    node._view = value
    return node


EMPTY = Schema(b'{"type":"object"}')
"""What a tool without a schema takes."""
