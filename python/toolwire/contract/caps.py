"""Caps on the text that a model reads: in UTF-8 bytes, on a character's border, marked (spec one-session 2.7).

`head` keeps the start, `ends` start and end alike; a spill keeps the whole text in a private file, written before the
cut.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cap"]


@dataclass(frozen=True, slots=True)
class Cap:
    """A limit in bytes; 0 and `None` lift it."""

    limit: int | None = None
    keep: str = "head"
    spill: Path | None = None

    def apply(self, text: str) -> str:
        """`text` under the cap. A whole text that cannot be kept is no failure of the call: the marker says why."""
        limit = self.limit
        if not limit or len(text) * 4 <= limit:
            return text
        encoded = text.encode("utf-8", "surrogatepass")
        if len(encoded) <= limit:
            return text
        where = "" if self.spill is None else _kept_in(encoded, self.spill)
        head = _border(encoded, limit if self.keep == "head" else limit // 2)
        tail = len(encoded) if self.keep == "head" else _next_border(encoded, len(encoded) - (limit - limit // 2))
        marker = f"\n…[truncated {tail - head} bytes{where}]"
        kept = encoded[:head].decode("utf-8", "surrogatepass") + marker
        return kept if tail == len(encoded) else f"{kept}\n{encoded[tail:].decode('utf-8', 'surrogatepass')}"


_KIND, _INNER = 0xC0, 0x80
"""The bits that tell a byte inside a UTF-8 character from its first."""


def _border(encoded: bytes, end: int) -> int:
    while end and encoded[end] & _KIND == _INNER:
        end -= 1
    return end


def _next_border(encoded: bytes, start: int) -> int:
    while start < len(encoded) and encoded[start] & _KIND == _INNER:
        start += 1
    return start


def _kept_in(encoded: bytes, directory: Path) -> str:
    try:
        return f"; the whole text is in {_spilled(encoded, directory)}"
    except OSError as error:
        # The tool has run: what it gave is not thrown away for the want of a disk.
        return f"; the whole text could not be kept: {error.strerror or error}"


def _spilled(encoded: bytes, directory: Path) -> str:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp makes the file with mode 0600 and a name that nobody else has.
    descriptor, path = tempfile.mkstemp(prefix="result-", suffix=".txt", dir=directory)
    with os.fdopen(descriptor, "wb") as file:
        file.write(encoded)
    return path
