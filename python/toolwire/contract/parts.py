"""The parts of a tool's output, in the order in which they came.

A part keeps the block that it was read from (`raw`), so that nothing which a server sent is out of reach.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["MediaPart", "Part", "TextPart"]


class TextPart:
    """Text: a text block, a text resource (`uri`, `mime_type`), or the marker line of a block that is neither text nor media.

    `block` is the block's kind on the wire: `text`, `resource`, `resource_link`, `unsupported` or `broken`.
    """

    __slots__ = ("block", "mime_type", "raw", "text", "uri")

    def __init__(
        self, text: str, *, block: str = "text", uri: str | None = None, mime_type: str | None = None, raw: bytes = b""
    ) -> None:
        self.text = text
        self.block = block
        self.uri = uri
        self.mime_type = mime_type
        self.raw = raw

    def __repr__(self) -> str:
        return f"TextPart({self.text!r}, block={self.block!r})"


class MediaPart:
    """Bytes or a link: an image, an audio, a blob resource (`data`), or a resource link (`uri` alone).

    `size` is the number of bytes, `None` for a link; `data` is decoded each time it is read.
    """

    __slots__ = ("_data", "block", "mime_type", "name", "raw", "size", "uri")

    def __init__(
        self,
        data: Callable[[], bytes | None] | bytes | None,
        *,
        block: str,
        mime_type: str | None = None,
        uri: str | None = None,
        name: str | None = None,
        size: int | None = None,
        raw: bytes = b"",
    ) -> None:
        self._data = data
        self.block = block
        self.mime_type = mime_type
        self.uri = uri
        self.name = name
        self.size = len(data) if isinstance(data, bytes) else size
        self.raw = raw

    @property
    def data(self) -> bytes | None:
        """The decoded bytes; `None` for a link."""
        return self._data() if callable(self._data) else self._data

    def __repr__(self) -> str:
        return f"MediaPart(block={self.block!r}, mime_type={self.mime_type!r}, size={self.size}, uri={self.uri!r})"


Part = TextPart | MediaPart
