"""The output of a remote tool: spans of the result that its server sent. Nothing that came is out of reach.

The text follows spec one-session 1.4 under the tool's `render` rule. A cap cuts the text, never the parts or the
structured bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from toolwire import _core
from toolwire.contract.output import ToolOutput, cut
from toolwire.contract.parts import Part, TextPart, media_of

__all__ = ["RemoteOutput"]


class Promise(Protocol):
    """What a tool's definition says of its results."""

    @property
    def output_schema(self) -> bytes | None: ...


@dataclass(frozen=True, slots=True)
class _Kept:
    output_schema: bytes | None


class RemoteOutput(ToolOutput):
    """The output of one call. Immutable; text, parts and warnings are made when they are first asked for.

    `promise` is the tool's definition: with an output schema a success owes a structured value.
    """

    __slots__ = ("_limit", "_parts", "_promise", "_render", "_result", "_text")

    def __init__(
        self,
        result: _core.CallResult,
        render: str = "default",
        limit: int | None = None,
        promise: Promise | None = None,
    ) -> None:
        self._result = result
        self._render = render
        self._limit = limit
        self._promise = promise
        self._text: str | None = None
        self._parts: tuple[Part, ...] | None = None

    @property
    def result(self) -> _core.CallResult:
        """The server's result, block by block, as the core read it."""
        return self._result

    @property
    def text(self) -> str:
        """What the model reads."""
        if self._text is None:
            text = self._result.render(self._render)
            self._text = cut(text, self._limit) if self._limit else text
        return self._text

    @property
    def whole_text(self) -> str:
        """The text before the tool's own cap; a run cuts this one, where head, ends and spill are its to choose."""
        if not self._limit:
            return self.text
        return self._result.render(self._render)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Text and media in order. A block that could not be read is its marker, with its bytes on `.raw`."""
        if self._parts is None:
            self._parts = tuple(_part(block) for block in self._result.blocks())
        return self._parts

    @property
    def structured(self) -> bytes | None:
        """The structured value's exact bytes: `None` when absent, `b"null"` when null."""
        return self._result.structured

    @property
    def meta(self) -> bytes | None:
        """The result's `_meta`, its exact bytes."""
        return self._result.meta

    @property
    def is_error(self) -> bool:
        """The server reported the result as an error."""
        return self._result.is_error

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was forgiven in the result, and a structured value that the tool's output schema promised in vain."""
        found = self._result.warnings()
        if self._promise is not None and not self.is_error and self._promise.output_schema is not None:
            first = (self.structured or b"n")[:1]
            if first != b"{":
                got = "no structured value" if first == b"n" else "a structured value that is no object"
                found.append(
                    f"output_schema_mismatch: the tool's output schema asks for an object, the result has {got}"
                )
        return tuple(found)

    @property
    def raw(self) -> bytes:
        """The whole result as the server sent it."""
        return self._result.text

    def __reduce__(self) -> tuple[Any, ...]:
        kept = None if self._promise is None else _Kept(self._promise.output_schema)
        return _restored, (self.raw, self._render, self._limit, kept)


def _restored(raw: bytes, render: str, limit: int | None, promise: Promise | None) -> RemoteOutput:
    return RemoteOutput(_core.read_result(raw), render, limit, promise)


def _part(block: _core.Block) -> Part:
    kind = block.kind
    content = block.content
    if content is not None:
        return TextPart(content, block=kind, uri=block.uri, mime_type=block.mime_type, raw=block.raw)
    if kind in ("image", "audio", "resource_link") or block.size is not None:
        return media_of(block, kind, mime_type=block.mime_type, uri=block.uri, name=block.name)
    return TextPart(block.line, block=kind, uri=block.uri, raw=block.raw)
