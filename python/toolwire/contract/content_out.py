"""Parts to content blocks: the outbound half of the one codec (spec many-sources 3.5). Raw JSON in, raw JSON out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import quote as percent

from toolwire import _core
from toolwire.contract.content_in import CONTENT, CORE, CORE_BEFORE
from toolwire.contract.content_values import (
    check_kind,
    check_metadata,
    check_mime,
    check_part,
    check_uri,
    citations_json,
    main_type,
)
from toolwire.contract.parts import MediaPart, Part, TextPart
from toolwire.errors import ContentError, MediaReferenceError, quoted

__all__ = ["block_of", "chunks_of"]

_MEMBERS = {"type", "_meta", "annotations", "resource", "title", "description", "size", "icons"}
_LINK_FIELDS = ("title", "description", "size", "icons")
_RESOURCE_MEMBERS = {"uri", "mimeType", "_meta"}
OUTPUT_URI = "toolwire://tool-output/"
"""Where bytes without a home of their own are said to come from."""


def block_of(part: Part) -> bytes:
    """A part as a content block. Raises ContentError, MediaReferenceError."""
    return b"".join(chunks_of(part))


def chunks_of(part: Part) -> list[bytes]:
    """A block in pieces, for whoever joins more of them: ten megabytes of an image are copied once."""
    if isinstance(part, MediaPart) and part.reference is not None:
        raise MediaReferenceError
    check_kind(part)
    envelope = _envelope(part)
    kind = _kind(part, envelope)
    if isinstance(part, MediaPart) and part.bytes_size is None and part.uri is None:
        raise ContentError("toolwire: invalid source: it is neither bytes nor a URI")
    check_part(part)
    meta = _meta(part, envelope, link=kind == "resource_link")
    chunks = [b'{"type":', _core.quote(kind)]
    if isinstance(part, TextPart):
        chunks += _resource(part, envelope) if kind == "resource" else [b',"text":', _core.quote(part.text)]
    elif kind == "resource_link":
        chunks += _members(_link(part, envelope))
    elif kind == "resource":
        chunks += _resource(part, envelope)
    else:
        chunks += _medium(part)
    if "annotations" in envelope:
        chunks += b',"annotations":', envelope["annotations"]
    if meta:
        chunks += b',"_meta":', _object(meta)
    chunks.append(b"}")
    return chunks


def _envelope(part: Part) -> dict[str, bytes]:
    raw = part.metadata.get(CONTENT)
    if raw is None:
        return {}
    envelope = _decoded(raw)
    unknown = envelope.keys() - _MEMBERS
    if unknown:
        raise ContentError(f"mcp: decode content metadata: unknown member {min(unknown)!r}")
    if envelope.get("type", b"null") in (b"null", b'""'):
        raise ContentError("mcp: content metadata kind is missing")
    return envelope


def _kind(part: Part, envelope: Mapping[str, bytes]) -> str:
    """What the block will be, and whether the part can be it. Raises ContentError."""
    if not envelope:
        if isinstance(part, TextPart):
            return "resource" if part.block == "resource" and part.uri else "text"
        if part.uri is not None and part.bytes_size is None:
            return "resource_link"
        if part.mime_type:
            check_mime(part.mime_type)
        return main_type(part.mime_type) if main_type(part.mime_type) in ("image", "audio") else "resource"
    kind = json.loads(envelope["type"])
    if kind == "resource" and "resource" not in envelope:
        raise ContentError("mcp: embedded resource metadata is missing")
    if kind != "resource" and "resource" in envelope:
        raise ContentError("mcp: content metadata has an unexpected resource")
    if kind != "resource_link" and any(name in envelope for name in _LINK_FIELDS):
        raise ContentError("mcp: content metadata has unexpected resource link fields")
    is_text = isinstance(part, TextPart)
    fits = kind == "resource" or (kind == "text") == is_text
    if not fits or kind not in ("text", "image", "audio", "resource_link", "resource"):
        raise ContentError(
            f"mcp: content kind {quoted(str(kind))} does not match Core part {quoted('text' if is_text else 'media')}"
        )
    return str(kind)


def _meta(part: Part, envelope: Mapping[str, bytes], *, link: bool) -> dict[str, bytes]:
    meta = _decoded(envelope["_meta"]) if "_meta" in envelope else {}
    if CORE in meta or CORE_BEFORE in meta:
        raise ContentError("mcp: content metadata uses the reserved Core metadata key")
    core: dict[str, bytes] = {}
    own = {name: value for name, value in part.metadata.items() if name != CONTENT}
    if own:
        check_metadata(own)
        core["metadata"] = _object(own)
    if isinstance(part, TextPart):
        if part.citations:
            core["citations"] = citations_json(part.citations)
    else:
        if part.name and not link:
            core["name"] = _core.quote(part.name)
        if part.id:
            core["media_id"] = _core.quote(part.id)
        if part.media_metadata:
            check_metadata(part.media_metadata)
            core["media_metadata"] = _object(part.media_metadata)
    if core:
        meta[CORE] = _object(core)
    return meta


def _medium(part: MediaPart) -> list[bytes]:
    data = part.data
    if data is None:
        raise ContentError('toolwire: invalid source: source kind is "uri", not "bytes"')
    check_mime(part.mime_type)
    return [b',"data":"', _core.base64(data), b'","mimeType":', _core.quote(part.mime_type or "")]


def _link(part: MediaPart, envelope: Mapping[str, bytes]) -> dict[str, bytes]:
    if part.uri is None or part.bytes_size is not None:
        raise ContentError('toolwire: invalid source: source kind is "bytes", not "uri"')
    check_uri(part.uri)
    fields = {"uri": _core.quote(part.uri), "name": _core.quote(part.name or "")}
    if part.mime_type:
        check_mime(part.mime_type)
        fields["mimeType"] = _core.quote(part.mime_type)
    fields |= {name: envelope[name] for name in _LINK_FIELDS if name in envelope}
    return fields


def _resource(part: Part, envelope: Mapping[str, bytes]) -> list[bytes]:
    kept = _kept_resource(envelope)
    uri = part.uri or OUTPUT_URI
    if isinstance(part, TextPart):
        declared = kept.get("mimeType") if envelope or not part.mime_type else _core.quote(part.mime_type)
        body = [b',"text":', _core.quote(part.text)]
    else:
        if "mimeType" in kept and json.loads(kept["mimeType"]):
            raise ContentError("mcp: resource metadata duplicates a Core media field")
        data = part.data
        if data is None:
            raise ContentError("mcp: resource metadata duplicates a Core media field")
        if part.uri is None:
            uri += percent(part.name or "", safe="-_.~$&+=:@")
        declared = _core.quote(part.mime_type) if part.mime_type else None
        body = [b',"blob":"', _core.base64(data), b'"']
    chunks = [b',"resource":{"uri":', kept.get("uri", _core.quote(uri))]
    if declared is not None:
        chunks += b',"mimeType":', declared
    chunks += body
    if "_meta" in kept:
        chunks += b',"_meta":', kept["_meta"]
    chunks.append(b"}")
    return chunks


def _kept_resource(envelope: Mapping[str, bytes]) -> dict[str, bytes]:
    if "resource" not in envelope:
        return {}
    kept = _decoded(envelope["resource"])
    unknown = kept.keys() - _RESOURCE_MEMBERS
    if unknown:
        raise ContentError(f"mcp: decode content metadata: unknown member {min(unknown)!r}")
    return kept


def _decoded(raw: bytes) -> dict[str, bytes]:
    try:
        _core.check_output(raw)
        found: dict[str, bytes] = dict(_core.members(raw))
    except ValueError as error:
        raise ContentError(f"mcp: decode content metadata: {error.args[0]}") from None
    if raw.lstrip()[:1] != b"{":
        raise ContentError("mcp: decode content metadata: it is no object")
    return found


def _members(fields: Mapping[str, bytes]) -> list[bytes]:
    return [chunk for name, value in fields.items() for chunk in (b",", _core.quote(name), b":", value)]


def _object(members: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(_core.quote(name) + b":" + value for name, value in members.items()) + b"}"
