"""Decoded values as JSON again, for sessions whose bytes the SDK has kept for itself."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["encoded"]


def encoded(value: Any) -> bytes:
    """A decoded value as JSON again. Half a surrogate pair stays an escape, to be flagged as it is on a wire."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()
