"""The output of a tool that ran here: what its handler returned, with the same face as a remote one."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from toolwire import _core
from toolwire.contract.output import ToolOutput
from toolwire.contract.parts import MediaPart, Part, TextPart

__all__ = ["LocalOutput", "block_json", "media_marker"]


class LocalOutput(ToolOutput):
    """Text, parts and a structured value. `text` alone is one text part.

    Raises ValueError when `structured` is no JSON, naming the place.
    """

    __slots__ = ("_local_parts", "_local_text", "_structured")

    def __init__(
        self, text: str | None = None, *, structured: bytes | None = None, parts: Sequence[Part] | None = None
    ) -> None:
        self._local_text = text
        if structured is not None:
            try:
                _core.check_output(structured)
            except _core.JsonError as error:
                raise ValueError(f"the structured value is no JSON: {error.args[0]}") from None
        self._structured = structured
        self._local_parts = None if parts is None else tuple(parts)

    @property
    def text(self) -> str:
        """What the model reads: the text, or a line a part."""
        if self._local_text is None:
            parts = self._local_parts or ()
            self._local_text = "\n".join(
                part.text if isinstance(part, TextPart) else media_marker(part) for part in parts
            )
        return self._local_text

    @property
    def parts(self) -> tuple[Part, ...]:
        """Text and media in order."""
        if self._local_parts is None:
            self._local_parts = (TextPart(self._local_text or ""),) if self._local_text else ()
        return self._local_parts

    @property
    def plain(self) -> bool:
        """The output is one text and nothing beside it."""
        return self._local_parts is None

    @property
    def structured(self) -> bytes | None:
        """The structured value's bytes; `None` when there is none."""
        return self._structured

    @property
    def meta(self) -> bytes | None:
        """A local output has no `_meta`."""
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


def media_marker(part: MediaPart) -> str:
    """The line that stands for a medium in a model's text (spec one-session 1.4)."""
    if part.block in ("image", "audio"):
        return f"[{part.block} {part.mime_type or ''}, {part.size or 0} bytes]"
    return f"[resource {part.uri or ''}]"


def block_json(part: Part) -> bytes:
    """A part as a content block: the bytes that it came in, or a block of its kind. Raises ValueError for no JSON."""
    if part.raw:
        _core.validate(part.raw)
        return part.raw
    quote = _core.quote
    if isinstance(part, TextPart):
        if part.uri is None:
            return b'{"type":"text","text":' + quote(part.text) + b"}"
        mime = b"" if part.mime_type is None else b',"mimeType":' + quote(part.mime_type)
        return (
            b'{"type":"resource","resource":{"uri":' + quote(part.uri) + mime + b',"text":' + quote(part.text) + b"}}"
        )
    mime_type = part.mime_type or "application/octet-stream"
    data = part.data
    if data is None:
        name = quote(part.name or "")
        mime = b"" if part.mime_type is None else b',"mimeType":' + quote(part.mime_type)
        return b'{"type":"resource_link","uri":' + quote(part.uri or "") + b',"name":' + name + mime + b"}"
    text = base64.b64encode(data)
    if part.block in ("image", "audio"):
        return b'{"type":"%s","data":"%s","mimeType":%s}' % (part.block.encode(), text, quote(mime_type))
    uri = quote(part.uri or "toolwire://tool-output/")
    return b'{"type":"resource","resource":{"uri":%s,"mimeType":%s,"blob":"%s"}}' % (uri, quote(mime_type), text)
