"""What may be done again: a host's trusted word about a tool, never derived from its annotations (many-sources 2.9)."""

from __future__ import annotations

from enum import Enum

__all__ = ["Effect"]


class Effect(Enum):
    """The replay contract of a tool."""

    UNKNOWN = "unknown"
    """The outcome must be reconciled; a call is never replayed by itself."""
    READ_ONLY = "read_only"
    """A call may be replayed."""
    IDEMPOTENT = "idempotent"
    """A call is deduplicated by a durable key."""
