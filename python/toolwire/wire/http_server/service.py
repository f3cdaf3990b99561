"""What the express lane of an app over HTTP asks of the server that it stands for."""

from __future__ import annotations

from collections.abc import MutableSet
from contextvars import ContextVar
from typing import Any, Protocol

from toolwire.wire.served_calls import Tool

__all__ = ["PostedService"]


class PostedService(Protocol):
    """The tools of one server, and whether calls of them that are posted may take this lane at all."""

    def certain(self) -> bool:
        """Nothing of the user's stands between a `tools/call` and its tool."""

    def find(self, name: str, /) -> Tool | None:
        """The tool of that name, unless it needs the SDK lane."""

    def mirrored(self, name: str, version: str, arguments: bytes | None, headers: Any, /) -> bool:
        """The SDK would find the `Mcp-Param-*` headers as the tool's schema asks for them."""

    @property
    def context(self) -> ContextVar[Any]:
        """What a tool sets in the context that it runs in."""

    @property
    def stamp(self) -> bytes:
        """The server's own description, as a 2026-07-28 result carries it."""

    @property
    def wires(self) -> MutableSet[Any]:
        """Whoever is told when the tools are others."""
