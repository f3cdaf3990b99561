"""What a handler returned, as JSON text: compact, in declaration order, with nothing that JSON cannot say."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from toolwire import _core
from toolwire.errors import quoted

__all__ = ["EncodeError", "encode"]


class EncodeError(Exception):
    """A value that is no JSON; the text names the tool and, where there is one, the path."""


def encode(tool: str, value: Any) -> bytes:
    """Compact JSON of any value that pydantic can serialise: models, dataclasses, dates, `Decimal`, enums, containers.

    Raises EncodeError for NaN and Infinity, halves of surrogate pairs, and values that are no data.
    """
    try:
        text = to_json(value, inf_nan_mode="constants", by_alias=True)
    except (PydanticSerializationError, ValueError, UnicodeError) as error:
        raise EncodeError(f"marshal output of tool {quoted(tool)}: {error}") from None
    # `NaN` and `Infinity` hold these letters, and no other token outside of a string does.
    if b"NaN" in text or b"Infinity" in text:
        try:
            _core.check_output(text)
        except _core.JsonError as error:
            raise EncodeError(f"marshal output of tool {quoted(tool)}: {error.args[0]}") from None
    return text
