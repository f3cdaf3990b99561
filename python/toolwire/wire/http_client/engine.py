"""An HTTP engine, as the express lane needs one: one exchange at a time, its body in raw chunks, and where it broke.

An engine knows no JSON-RPC. It follows no redirect, keeps no cookie and decodes nothing: all of that is judged above.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["Engine", "Lost", "Reply", "Sent"]


class Sent:
    """How far one exchange came: `written` is False only while not a byte of the request has left."""

    __slots__ = ("written",)

    def __init__(self) -> None:
        self.written = False


class Lost(Exception):
    """The exchange broke; `str` says how."""


class Reply(Protocol):
    """A response whose head has come."""

    @property
    def status(self) -> int:
        """Give the HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Give the headers, looked up without regard to case."""

    @property
    def ended(self) -> bool:
        """The body was read to its end."""

    async def chunk(self) -> bytes:
        """Give the next part of the body as it comes, as it was encoded; nothing at its end. Raises Lost."""

    async def aclose(self) -> None:
        """Give the connection back when the body was read to its end, and close it when not."""


class Engine(Protocol):
    """Something that speaks HTTP."""

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes, sent: Sent) -> Reply:
        """Write a request and wait for the head of its response. Raises Lost."""

    async def aclose(self) -> None:
        """Close every connection."""
