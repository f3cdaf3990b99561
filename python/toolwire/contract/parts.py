"""The parts of a tool's output, in the order in which they came.

A part keeps the block that it was read from (`raw`), so that nothing which a server sent is out of reach.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Citation", "MediaPart", "Part", "TextPart", "media_of"]


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a text comes from: `kind` is `uri` (absolute) or `reference` (opaque), with a title and maybe a quote."""

    kind: str
    value: str
    title: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text: a text block, a text resource (`uri`, `mime_type`), or the marker line of what is neither text nor media.

    `block` is the block's kind on the wire: `text`, `resource`, `unsupported` or `broken`. `metadata` are raw JSON
    values by key, exact; the content codec keeps under `mcp/content` what only MCP knows of the block.
    """

    text: str
    block: str = field(default="text", kw_only=True)
    uri: str | None = field(default=None, kw_only=True)
    mime_type: str | None = field(default=None, kw_only=True)
    metadata: Mapping[str, bytes] = field(default_factory=dict, kw_only=True, repr=False, hash=False)
    citations: tuple[Citation, ...] = field(default=(), kw_only=True, repr=False)
    raw: bytes = field(default=b"", kw_only=True, repr=False)


@dataclass(frozen=True, eq=False)
class MediaPart:
    """Bytes or a link: an image, an audio, a blob resource (`data`), or a resource link (`uri` alone).

    `size` is the number of bytes, `None` for a link; `data` is decoded each time it is read.
    """

    _data: Callable[[], bytes | None] | bytes | None = field(default=None, repr=False)
    block: str = field(default="", kw_only=True)
    mime_type: str | None = field(default=None, kw_only=True)
    uri: str | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)
    size: int | None = field(default=None, kw_only=True)
    reference: str | None = field(default=None, kw_only=True)
    id: str = field(default="", kw_only=True)
    metadata: Mapping[str, bytes] = field(default_factory=dict, kw_only=True, repr=False, hash=False)
    media_metadata: Mapping[str, bytes] = field(default_factory=dict, kw_only=True, repr=False, hash=False)
    _raw: Callable[[], bytes] | bytes = field(default=b"", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if self.size is None and isinstance(self._data, bytes):
            object.__setattr__(self, "size", len(self._data))

    @property
    def data(self) -> bytes | None:
        """The decoded bytes; `None` for a link."""
        return self._data() if callable(self._data) else self._data

    @property
    def raw(self) -> bytes:
        """The block that it was read from, copied when it is asked for; empty for a part of one's own."""
        return self._raw() if callable(self._raw) else self._raw

    @property
    def bytes_size(self) -> int | None:
        """The number of bytes, without decoding them where it is known; `None` where there are none."""
        if self._data is None or self.size is not None:
            return None if self._data is None else self.size
        data = self.data
        return None if data is None else len(data)

    def __eq__(self, other: object) -> bool:
        # What a block decodes to is told by `raw`, without decoding; bytes of one's own are compared.
        if not isinstance(other, MediaPart):
            return NotImplemented
        mine, theirs = ({**vars(part), "_data": None, "_raw": part.raw} for part in (self, other))
        return mine == theirs and (bool(mine["_raw"]) or self.data == other.data)

    def __hash__(self) -> int:
        return hash((self.block, self.mime_type, self.uri, self.name, self.size, self.raw))

    def __getstate__(self) -> dict[str, object]:
        # A copy in another process has no block to decode from, so the bytes go with it.
        return {**vars(self), "_data": self.data, "_raw": self.raw}


Part = TextPart | MediaPart


class Block(Protocol):
    """A block that is read when somebody looks."""

    @property
    def data(self) -> bytes | None: ...
    @property
    def raw(self) -> bytes: ...
    @property
    def size(self) -> int | None: ...


def media_of(block: Block, kind: str, **facts: str | None) -> MediaPart:
    """A part over a block: its bytes are decoded, and the block itself is copied, when somebody asks for them."""
    fixed: dict[str, Any] = facts
    return MediaPart(lambda: block.data, block=kind, size=block.size, _raw=lambda: block.raw, **fixed)
