"""Arguments as a caller holds them, as the raw JSON that a tool is given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolwire import _core
from toolwire.errors import InvalidToolInput, ToolFailure, quoted

__all__ = ["Arguments", "encoded", "refused_input"]

Arguments = bytes | bytearray | memoryview | str | Mapping[str, Any] | None
"""Arguments as a caller may hold them: the model's raw JSON, or a mapping that is encoded."""


def refused_input(name: str, detail: str) -> ToolFailure:
    """The failure of a call whose arguments were refused before the tool ran (spec one-session 2.5)."""
    return ToolFailure(f"INVALID_INPUT: tool {quoted(name)}: {detail}", kind="invalid_input", cause=InvalidToolInput())


def encoded(name: str, args: Arguments) -> bytes | str:
    """Arguments that are not raw JSON yet, as JSON; NaN, halves of surrogate pairs and other types are refused."""
    if args is None:
        return b"{}"
    if isinstance(args, bytes):
        return args
    if isinstance(args, bytearray | memoryview):
        return bytes(args)
    if isinstance(args, str):
        return args
    try:
        text = json.dumps(args, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_mapping)
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise refused_input(name, f"the arguments cannot be encoded as JSON: {_place(args) or error}") from None


def _place(args: Mapping[str, Any]) -> str | None:
    """Where NaN or half of a surrogate pair stands; `None` where something else is no JSON."""
    try:
        _core.check_arguments(json.dumps(args, default=_mapping))
    except _core.JsonError as fault:
        return str(fault.args[0])
    except (TypeError, ValueError, RecursionError):
        return None
    return None


def _mapping(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
