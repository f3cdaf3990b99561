"""Durations as error texts spell them: `20ms`, `1.5s`, `1m0s` (spec one-session 2.1)."""

from __future__ import annotations

__all__ = ["spelled"]

_SECOND = 1_000_000_000
_UNITS = ((1_000_000, "ms"), (1_000, "µs"), (1, "ns"))


def spelled(seconds: float) -> str:
    """`seconds` in the largest units that it fills, to the nanosecond, without trailing zeros."""
    nanoseconds = round(seconds * _SECOND)
    if nanoseconds <= 0:
        return "0s"
    for size, unit in _UNITS:
        if size <= nanoseconds < _SECOND:
            return f"{_decimal(nanoseconds, size)}{unit}"
    minutes, rest = divmod(nanoseconds, 60 * _SECOND)
    hours, minutes = divmod(minutes, 60)
    parts = f"{hours}h" if hours else ""
    parts += f"{minutes}m" if hours or minutes else ""
    return f"{parts}{_decimal(rest, _SECOND)}s"


def _decimal(value: int, unit: int) -> str:
    whole, fraction = divmod(value, unit)
    digits = f"{fraction:0{len(str(unit)) - 1}d}".rstrip("0") if fraction else ""
    return f"{whole}.{digits}" if digits else str(whole)
