"""Content blocks to parts: the inbound half of the one codec for tool results and prompts (spec many-sources 3.4).

What only MCP knows of a block is kept in the part's metadata under `mcp/content`, as raw JSON: no number is re-printed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolwire import _core
from toolwire.contract.content_values import check_citation, check_mime, check_uri, citation_of
from toolwire.contract.halves import without_halves
from toolwire.contract.parts import MediaPart, Part, TextPart, media_of
from toolwire.errors import ContentError, EmptyEmbeddedResourceError

__all__ = ["CONTENT", "CORE", "CORE_BEFORE", "part_of"]

CONTENT = "mcp/content"
"""Under this key a part's metadata holds what only MCP knows of its block."""
CORE = "toolwire/content"
"""Under this key a block's `_meta` holds what only the part knows."""
CORE_BEFORE = "scope/content"
"""What older peers call it."""

_LINK_FIELDS = ("title", "description", "size", "icons")
_DECODE = "mcp: decode Core content metadata: "
_CORE_MEMBERS = {"metadata", "citations", "name", "media_id", "media_metadata"}


def part_of(block: _core.Block) -> Part | None:
    """A block as a part; `None` for an empty text that says nothing. Raises ContentError."""
    # Asked once: to know it, the core looks at every digit of the base64.
    found = block.kind
    if found == "broken" and (raw := block.raw)[:1] != b"{":
        raise ContentError("mcp: content is nil" if raw == b"null" else "mcp: content is no object")
    members = block.members("resource" if found == "resource" else "data")
    kind = _string(members, "type") or ""
    meta = _meta(members)
    if kind == "text" and _string(members, "text") == "":
        if meta or _given(members, "annotations"):
            raise ContentError("mcp: empty text cannot carry content metadata")
        return None
    envelope: dict[str, bytes] = {"type": _core.quote(kind)}
    part = _split(kind, members, block, envelope, broken=found == "broken")
    core = _core_of(meta)
    if meta:
        envelope["_meta"] = _object(meta)
    if _given(members, "annotations"):
        envelope["annotations"] = members["annotations"]
    part = _with_core(part, core, link=kind == "resource_link")
    if kind != "text" or len(envelope) > 1:
        part = replace(part, metadata={**part.metadata, CONTENT: _object(_ordered(envelope))})
    return part


def _split(
    kind: str, members: Mapping[str, bytes], block: _core.Block, envelope: dict[str, bytes], *, broken: bool
) -> Part:
    if kind == "text":
        text = _string(members, "text")
        if text is None:
            raise ContentError("mcp: text content has no text")
        return TextPart(text, raw=block.raw)
    if kind in ("image", "audio"):
        mime = _string(members, "mimeType")
        check_mime(mime)
        if not _has_bytes(members, "data"):
            raise ContentError(
                'toolwire: invalid source: kind "bytes" requires non-empty bytes and no URI or reference'
            )
        if broken:
            raise ContentError(f"mcp: {kind} data is not base64")
        return media_of(block, kind, mime_type=mime)
    if kind == "resource_link":
        uri = _string(members, "uri") or ""
        check_uri(uri)
        mime = _string(members, "mimeType")
        if mime:
            check_mime(mime)
        for name in _LINK_FIELDS:
            if _given(members, name):
                envelope[name] = members[name]
        return media_of(block, kind, mime_type=mime or None, uri=uri, name=_string(members, "name") or "")
    if kind == "resource":
        return _resource(members, block, envelope, broken=broken)
    raise ContentError(f"mcp: unsupported content {kind}")


def _resource(members: Mapping[str, bytes], block: _core.Block, envelope: dict[str, bytes], *, broken: bool) -> Part:
    if members.get("resource", b"null")[:1] == b"n":
        raise ContentError("mcp: embedded resource is nil")
    if members["resource"][:1] != b"{":
        raise ContentError("mcp: embedded resource is no object")
    inner = block.members("blob", "resource")
    uri = _string(inner, "uri")
    if not uri:
        raise ContentError("mcp: embedded resource requires a URI")
    text, has_blob = _string(inner, "text"), _has_bytes(inner, "blob")
    if text and has_blob:
        raise ContentError("mcp: embedded resource carries both text and blob")
    if not text and not has_blob:
        raise EmptyEmbeddedResourceError
    mime = _string(inner, "mimeType")
    kept: dict[str, bytes] = {"uri": inner["uri"]}
    if text and mime is not None:
        kept["mimeType"] = inner["mimeType"]
    if _given(inner, "_meta"):
        kept["_meta"] = inner["_meta"]
    envelope["resource"] = _object(kept)
    if text:
        return TextPart(text, block="resource", uri=uri, mime_type=mime, raw=block.raw)
    if mime:
        check_mime(mime)
    if broken:
        raise ContentError("mcp: embedded resource blob is not base64")
    return media_of(block, "resource", mime_type=mime or None, uri=uri)


def _core_of(meta: dict[str, bytes]) -> dict[str, bytes]:
    """Takes the part's own facts out of a block's `_meta`. Raises ContentError."""
    raw = meta.pop(CORE, None)
    before = meta.pop(CORE_BEFORE, None)
    raw = raw if raw is not None else before
    if raw is None:
        return {}
    if raw[:1] == b'"':
        # Older peers wrap the object in a string; nothing of ours ever does.
        try:
            raw = json.loads(raw).encode()
            _core.validate(raw)
        except ValueError as error:
            raise ContentError(f"mcp: decode Core content metadata encoding: {error.args[0]}") from None
    core = _members(raw, f"{_DECODE}it is no object")
    unknown = core.keys() - _CORE_MEMBERS
    if unknown:
        raise ContentError(f"{_DECODE}unknown member {min(unknown)!r}")
    return core


def _with_core(part: Part, core: Mapping[str, bytes], *, link: bool) -> Part:
    if not core:
        return part
    changes: dict[str, Any] = {}
    if "metadata" in core:
        metadata = _members(core["metadata"], f"{_DECODE}metadata is no object")
        if CONTENT in metadata:
            raise ContentError("mcp: Core content metadata contains a nested MCP envelope")
        changes["metadata"] = metadata
    if "citations" in core:
        citations = tuple(citation_of(raw) for raw in _elements(core["citations"]))
        if citations and isinstance(part, MediaPart):
            raise ContentError('mcp: mapped content: toolwire: invalid part: kind "media" cannot carry citations')
        try:
            for citation in citations:
                check_citation(citation)
        except ContentError as error:
            raise ContentError(f"mcp: mapped content: {error}") from None
        changes["citations"] = citations
    media = [name for name in ("name", "media_id", "media_metadata") if name in core]
    if media and isinstance(part, TextPart):
        raise ContentError("mcp: Core content metadata names non-media content")
    if "name" in core:
        if link:
            raise ContentError("mcp: Core content metadata duplicates the resource link name")
        changes["name"] = _core_string(core, "name")
    if "media_id" in core:
        changes["id"] = _core_string(core, "media_id")
    if "media_metadata" in core:
        changes["media_metadata"] = _members(core["media_metadata"], f"{_DECODE}media_metadata is no object")
    return replace(part, **changes)


def _core_string(core: Mapping[str, bytes], name: str) -> str:
    text = _string(core, name)
    if text is None:
        raise ContentError(f"{_DECODE}{name} is no string")
    return text


def _meta(members: Mapping[str, bytes]) -> dict[str, bytes]:
    if not _given(members, "_meta"):
        return {}
    meta = _members(members["_meta"], "mcp: encode content metadata: it is no object")
    if "" in meta:
        raise ContentError("mcp: encode content metadata: toolwire: empty key")
    return meta


def _members(raw: bytes, refusal: str) -> dict[str, bytes]:
    if raw[:1] != b"{":
        raise ContentError(refusal)
    try:
        return dict(_core.members(raw))
    except ValueError:
        raise ContentError(refusal) from None


def _elements(raw: bytes) -> list[bytes]:
    try:
        return _core.elements(raw)
    except ValueError:
        raise ContentError(f"{_DECODE}citations are no list") from None


def _given(members: Mapping[str, bytes], name: str) -> bool:
    return members.get(name, b"null") != b"null"


def _has_bytes(members: Mapping[str, bytes], name: str) -> bool:
    """A string that is not empty, by its first two bytes."""
    value = members.get(name, b"")
    return value[:1] == b'"' and value[:2] != b'""'


def _string(members: Mapping[str, bytes], name: str) -> str | None:
    value = members.get(name, b"")
    if value[:1] != b'"':
        return None
    # Half of a surrogate pair is U+FFFD to Python, as it is everywhere; the block's bytes are kept beside it.
    text: str = json.loads(without_halves(value))
    return text


def _object(members: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(_core.quote(name) + b":" + value for name, value in members.items()) + b"}"


_ORDER = ("type", "_meta", "annotations", "resource", *_LINK_FIELDS)


def _ordered(members: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: members[name] for name in _ORDER if name in members}
