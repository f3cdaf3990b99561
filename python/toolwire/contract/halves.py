"""Halves of surrogate pairs in JSON text: legal to read, refused by most readers, so that none is written."""

from __future__ import annotations

import re

__all__ = ["has_halves", "without_halves"]

_ESCAPES = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


_PERHAPS = re.compile(rb"\\u[dD][89a-fA-F]")


def without_halves(text: bytes) -> bytes:
    """The text with the replacement character in the place of each half; the same bytes where there are none."""
    if _PERHAPS.search(text) is None:
        return text
    return _ESCAPES.sub(lambda found: rb"\ufffd" if found[1] else found[0], text)


def has_halves(text: bytes) -> bool:
    """Half of a surrogate pair is written in the text."""
    return _PERHAPS.search(text) is not None and any(found[1] for found in _ESCAPES.finditer(text))
