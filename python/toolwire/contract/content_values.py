"""What a part's fields have to be, whoever made it (many-sources 2.6, 2.7). All of it checks and changes nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from toolwire import _core
from toolwire.contract.halves import without_halves
from toolwire.contract.parts import Citation, MediaPart, Part, TextPart
from toolwire.errors import ContentError, MediaReferenceError, quoted

__all__ = [
    "check_citation",
    "check_exact",
    "check_kind",
    "check_metadata",
    "check_mime",
    "check_part",
    "check_uri",
    "citation_of",
    "citations_json",
    "is_absolute",
    "main_type",
]

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MIME = re.compile(rf'{_WORD}/{_WORD}(\s*;\s*{_WORD}=({_WORD}|"(?:[^"\\]|\\.)*"))*\s*')
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def check_mime(mime: str | None) -> None:
    """Raises ContentError for what is no media type with a slash."""
    if mime is None or not _MIME.fullmatch(mime):
        raise ContentError(f"toolwire: invalid MIME type: {quoted(mime or '')}")


def main_type(mime: str | None) -> str:
    """`image`, `audio`, … ; `""` without a type."""
    return (mime or "").partition("/")[0].strip().lower()


def is_absolute(uri: str) -> bool:
    """A scheme, and something behind it."""
    if not _SCHEME.match(uri):
        return False
    try:
        parts = urlsplit(uri)
    except ValueError:
        # A host in brackets that is no address: Python refuses to take such a text apart.
        return False
    return bool(parts.netloc or parts.path)


def check_uri(uri: str) -> None:
    """Raises ContentError for what is no absolute URI."""
    if not is_absolute(uri):
        raise ContentError(f"toolwire: invalid source: {quoted(uri)} is not an absolute URI")


def check_kind(part: object) -> None:
    """Raises ContentError for what is neither text nor media."""
    if not isinstance(part, TextPart | MediaPart):
        raise ContentError(f"toolwire: invalid tool output: unsupported content kind {quoted(type(part).__name__)}")


def check_part(part: Part) -> None:
    """Raises ContentError for a part that is none."""
    if isinstance(part, TextPart):
        if not part.text:
            raise ContentError('toolwire: invalid part: kind "text" requires non-empty text')
        for citation in part.citations:
            check_citation(citation)
        return
    check_kind(part)
    if part.reference is not None:
        raise MediaReferenceError
    size = part.bytes_size
    if (size is None) == (part.uri is None or part.block == "resource"):
        raise ContentError("toolwire: invalid source: exactly one of bytes, URI and reference is needed")
    if size == 0:
        raise ContentError('toolwire: invalid source: kind "bytes" requires non-empty bytes and no URI or reference')
    if part.mime_type:
        check_mime(part.mime_type)


def check_citation(citation: Citation) -> None:
    """Raises ContentError for what names no source: a URI has a scheme and a host, a reference is opaque."""
    if citation.kind == "uri":
        fits = is_absolute(citation.value) and bool(urlsplit(citation.value).netloc)
    else:
        fits = citation.kind == "reference" and bool(citation.value)
    if not fits or citation.value != citation.value.strip() or citation.title != citation.title.strip():
        raise ContentError(f"toolwire: invalid part: citation source {quoted(citation.value)}")


def check_exact(value: bytes) -> None:
    """Raises JsonError for what is not one document of I-JSON: no member name twice, no half of a surrogate pair."""
    _core.check_output(value)
    _core.check_arguments(b'{"":' + value + b"}")


def check_metadata(metadata: Mapping[str, bytes]) -> None:
    """Raises ContentError for values that are no JSON, or have no name. What a server sent may be odd, and goes on."""
    for name, value in metadata.items():
        if not name:
            raise ContentError("toolwire: empty key")
        try:
            _core.check_output(value)
        except _core.JsonError as error:
            raise ContentError(f"toolwire: invalid value of {quoted(name)}: {error.args[0]}") from None


def citation_of(raw: bytes) -> Citation:
    """A citation from its JSON. Raises ContentError."""
    try:
        value = json.loads(without_halves(raw))
        source = value["source"]
        if not value.keys() <= {"source", "title", "quote"} or not source.keys() <= {"kind", "value"}:
            raise ValueError("unknown member")
        citation = Citation(source["kind"], source["value"], value.get("title", ""), value.get("quote", ""))
        if not all(isinstance(text, str) for text in (citation.kind, citation.value, citation.title, citation.quote)):
            raise ValueError("a member is no string")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ContentError(f"mcp: decode Core content metadata: citation: {error}") from None
    return citation


def citations_json(citations: tuple[Citation, ...]) -> bytes:
    """Citations as a JSON array."""
    texts = []
    for citation in citations:
        source = b'{"kind":' + _core.quote(citation.kind) + b',"value":' + _core.quote(citation.value) + b"}"
        text = b'{"source":' + source
        if citation.title:
            text += b',"title":' + _core.quote(citation.title)
        if citation.quote:
            text += b',"quote":' + _core.quote(citation.quote)
        texts.append(text + b"}")
    return b"[" + b",".join(texts) + b"]"
