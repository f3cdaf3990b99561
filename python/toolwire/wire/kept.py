"""A request on the server wire's SDK lane: what the SDK does not keep of it, and the exact bytes of its answer.

What the SDK wrote is looked at once more: where it is what the SDK makes of our exact bytes, they stand in its place.
"""

from __future__ import annotations

from typing import Any

from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse
from pydantic_core import to_json

from toolwire import _core

__all__ = ["Kept", "answer_of", "dumped", "same_json"]


class Kept:
    """What is kept of one request until it is answered."""

    __slots__ = ("earlier", "envelope", "exact", "expected", "frame", "listed", "message")

    def __init__(self, frame: _core.Frame, message: JSONRPCRequest) -> None:
        self.frame = frame
        self.message = message
        self.envelope = frame.reserved()
        self.expected: Any = None
        """What the SDK will make of `exact`, a result of ours."""
        self.exact: bytes | None = None
        self.listed: dict[str, tuple[Any, bytes]] | None = None
        """The same for each of our entries in a listing, by name."""
        self.earlier: Kept | None = None
        """A request of the same id, which the client may not use twice: both are answered, as the SDK does."""


def answer_of(kept: Kept, message: JSONRPCResponse | JSONRPCError) -> bytes:
    """The line for the SDK's answer, with our bytes in it where nobody has changed what they became."""
    if isinstance(message, JSONRPCResponse):
        id_json = kept.frame.id_json or to_json(message.id)
        if kept.exact is not None and same_json(message.result, kept.expected):
            return _core.answer(id_json, kept.exact)
        if kept.listed is not None and isinstance(message.result.get("tools"), list):
            return _core.answer(id_json, _with_exact_entries(message.result, kept.listed))
    return dumped(message)


def dumped(message: Any) -> bytes:
    """A message's line as the SDK writes it."""
    text: str = message.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode() + b"\n"


def same_json(left: Any, right: Any) -> bool:
    """Whether two values are one in JSON, in the order of their members too. In Python 1, 1.0 and True are equal."""
    return bool(left == right) and to_json(left) == to_json(right)


def _with_exact_entries(result: dict[str, Any], exact: dict[str, tuple[Any, bytes]]) -> bytes:
    entries = []
    for entry in result["tools"]:
        expected, raw = exact.get(entry.get("name"), (None, b"")) if isinstance(entry, dict) else (None, b"")
        entries.append(raw if raw and same_json(entry, expected) else to_json(entry))
    rest = to_json({name: value for name, value in result.items() if name != "tools"})
    comma = b"," if rest != b"{}" else b""
    return b'{"tools":[' + b",".join(entries) + b"]" + comma + rest[1:]
