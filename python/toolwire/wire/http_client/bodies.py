"""Bodies and events as messages: the same mending as on a byte channel, and which message answers a request."""

from __future__ import annotations

from toolwire import _core

__all__ = ["answer_in", "frames_of", "media_type"]


def media_type(header: str | None) -> str:
    """The media type of a Content-Type, without its parameters (fault J10)."""
    return (header or "").partition(";")[0].strip().lower()


def frames_of(text: bytes, limit: int) -> list[_core.Frame]:
    """The messages in a body: one, or those of a batch. What a line of stdio would be forgiven is forgiven here."""
    try:
        return [_core.read_message(text)]
    except ValueError:
        inbound = _core.Inbound(limit)
        return inbound.feed(text.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")


def answer_in(frame: _core.Frame, number: int) -> bool:
    """The frame answers this request, on a response that can answer no other.

    An error, or a broken message, without an id that could be read is its answer too (fault H3).
    """
    if frame.answers == number:
        return True
    if frame.kind == "error":
        return True
    # Of what is no JSON-RPC at all nobody knows whether it was meant as an answer.
    return frame.kind == "broken" and frame.id is None and frame.fault is not None
