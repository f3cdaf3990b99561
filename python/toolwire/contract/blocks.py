"""Parts that were made here as content blocks, and the lines that stand for media."""

from __future__ import annotations

from toolwire import _core
from toolwire.contract.parts import MediaPart, Part, TextPart

__all__ = ["block_json", "media_marker"]


def media_marker(part: MediaPart) -> str:
    """The line that stands for a medium in a model's text (spec one-session 1.4)."""
    kind = _kind(part)
    if kind in ("image", "audio"):
        return f"[{kind} {part.mime_type or ''}, {part.size or 0} bytes]"
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
    text = _core.base64(data)
    kind = _kind(part)
    if kind in ("image", "audio"):
        return b'{"type":"%s","data":"%s","mimeType":%s}' % (kind.encode(), text, quote(mime_type))
    uri = quote(part.uri or "toolwire://tool-output/")
    return b'{"type":"resource","resource":{"uri":%s,"mimeType":%s,"blob":"%s"}}' % (uri, quote(mime_type), text)


def _kind(part: MediaPart) -> str:
    """What block a medium is: what it says, or what its type says."""
    if part.block:
        return part.block
    main = (part.mime_type or "").partition("/")[0]
    return main if part.data is not None and main in ("image", "audio") else "resource"
