"""What a call gave: the text that a model reads, and beside it everything that came."""

from __future__ import annotations

from collections.abc import Sequence

from toolwire import _core
from toolwire.contract.blocks import block_json, media_marker
from toolwire.contract.parts import MediaPart, Part, TextPart

__all__ = ["ToolOutput", "cut"]


_TOP_TWO_BITS, _CONTINUATION = 0b11000000, 0b10000000
"""A byte whose top two bits are 10 continues a character of UTF-8 (RFC 3629, 3)."""


def cut(text: str, limit: int | None) -> str:
    """`text` in at most `limit` UTF-8 bytes, ended on a character and marked; `None` and 0 lift the cap (spec 2.7)."""
    if not limit or len(text) * 4 <= limit:
        return text
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= limit:
        return text
    end = limit
    while end and encoded[end] & _TOP_TWO_BITS == _CONTINUATION:
        end -= 1
    return f"{encoded[:end].decode('utf-8', 'surrogatepass')}\n…[truncated {len(encoded) - end} bytes]"


class ToolOutput:
    """What a call gave: the text that a model reads, the parts, and the structured value's exact bytes. Immutable.

    `ToolOutput("text")` is one text part; `ToolOutput(parts=[…], structured=b"…")` everything. A remote tool's output
    is a RemoteOutput, with the same face. No bytes at all are no structured value (many-sources 2.6). Raises ValueError
    when `structured` is no JSON, naming the place.
    """

    __slots__ = ("_own_parts", "_own_text", "_structured")

    def __init__(
        self, text: str | None = None, *, structured: bytes | None = None, parts: Sequence[Part] | None = None
    ) -> None:
        self._own_text = text
        if structured == b"":
            structured = None
        if structured is not None:
            try:
                _core.check_output(structured)
            except _core.JsonError as error:
                raise ValueError(f"the structured value is no JSON: {error.args[0]}") from None
        self._structured = structured
        self._own_parts = None if parts is None else tuple(parts)

    @property
    def text(self) -> str:
        """What the model reads: the text, or a line a part."""
        if self._own_text is None:
            parts = self._own_parts or ()
            self._own_text = "\n".join(
                part.text if isinstance(part, TextPart) else media_marker(part) for part in parts
            )
        return self._own_text

    @property
    def whole_text(self) -> str:
        """The text before a cap of the tool's own: a run cuts this one, as `keep` and `spill` have it."""
        return self.text

    def joined_text(self) -> str | None:
        """The text parts run together; the structured value's text where there are no parts; `None` if media is there.

        Source: spec many-sources 2.6.
        """
        parts = self.parts
        if not parts:
            return (self.structured or b"").decode()
        if any(isinstance(part, MediaPart) for part in parts):
            return None
        return "".join(part.text for part in parts if isinstance(part, TextPart))

    @property
    def parts(self) -> tuple[Part, ...]:
        """Text and media in order."""
        if self._own_parts is None:
            self._own_parts = (TextPart(self._own_text or ""),) if self._own_text else ()
        return self._own_parts

    @property
    def plain(self) -> bool:
        """The output is one text and nothing beside it."""
        return self._own_parts is None

    @property
    def structured(self) -> bytes | None:
        """The structured value's bytes; `None` when there is none."""
        return self._structured

    @property
    def meta(self) -> bytes | None:
        """The result's `_meta`, exact bytes; a local output has none."""
        return None

    @property
    def is_error(self) -> bool:
        """A local failure is raised, never returned."""
        return False

    @property
    def warnings(self) -> tuple[str, ...]:
        """A local output has none."""
        return ()

    @property
    def raw(self) -> bytes:
        """The output as a `tools/call` result."""
        content = b"[" + b",".join(block_json(part) for part in self.parts) + b"]"
        return _core.content_result(content, self._structured, False, None, None)

    def __repr__(self) -> str:
        return f"ToolOutput({self.text!r}, is_error={self.is_error})"
