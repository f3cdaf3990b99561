"""Durations as error texts spell them: `20ms`, `1.5s`, `1m0s` (spec one-session 2.1)."""

from __future__ import annotations

__all__ = ["spelled"]


def spelled(seconds: float) -> str:
    """`seconds` in the largest units that it fills, without trailing zeros."""
    if seconds <= 0:
        return "0s"
    if seconds < 1:
        for unit, factor in (("ms", 1e3), ("µs", 1e6)):
            if seconds * factor >= 1:
                return f"{_trimmed(seconds * factor)}{unit}"
        return f"{round(seconds * 1e9)}ns"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    parts = f"{hours}h" if hours else ""
    parts += f"{minutes}m" if hours or minutes else ""
    return f"{parts}{_trimmed(rest)}s"


def _trimmed(value: float) -> str:
    text = f"{value:.9f}".rstrip("0")
    return text.removesuffix(".") or "0"
