"""The tools of one listing: a sequence in listing order, and the report of what did not become a tool."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any, overload

from toolwire import _core
from toolwire.contract.tool_object import Tool
from toolwire.errors import SkippedTool, ToolImportError

__all__ = ["Toolset"]


class Toolset(Sequence[Tool]):
    """Tools by position or by name. `skipped` are the entries that are none, `warnings` what was odd about the listing.

    `connection` is what the tools were imported from. Immutable.
    """

    __slots__ = ("_by_name", "_connection", "_listing_warnings", "_skipped", "_tools")

    def __init__(
        self, tools: Sequence[Tool], *, connection: Any, skipped: Sequence[SkippedTool], warnings: Sequence[str]
    ) -> None:
        self._tools = tuple(tools)
        self._by_name: dict[str, Tool] | None = None
        self._connection = connection
        self._skipped = tuple(skipped)
        self._listing_warnings = tuple(warnings)

    @overload
    def __getitem__(self, key: int | str) -> Tool: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Tool]: ...
    def __getitem__(self, key: int | str | slice) -> Tool | Sequence[Tool]:
        """A tool by position or name, or tools by a slice. Raises KeyError with the names that are near."""
        if not isinstance(key, str):
            return self._tools[key]
        if self._by_name is None:
            self._by_name = {tool.name: tool for tool in self._tools}
        found = self._by_name.get(key)
        if found is None:
            near = difflib.get_close_matches(key, self._by_name, n=3)
            hint = f"; near it: {', '.join(near)}" if near else ""
            raise KeyError(f"no tool named {key!r}{hint}")
        return found

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools)

    def __contains__(self, key: object) -> bool:
        return key in self.names if isinstance(key, str) else key in self._tools

    @property
    def connection(self) -> Any:
        """What the tools were imported from."""
        return self._connection

    @property
    def skipped(self) -> tuple[SkippedTool, ...]:
        """The entries that are no tools, in listing order."""
        return self._skipped

    @property
    def names(self) -> tuple[str, ...]:
        """The names in listing order."""
        return tuple(tool.name for tool in self._tools)

    @property
    def listing_warnings(self) -> tuple[str, ...]:
        """What was odd about the listing itself."""
        return self._listing_warnings

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was odd about the listing, then about each tool, each line naming it."""
        own = tuple(f"tool {tool.name!r}: {text}" for tool in self._tools for text in tool.warnings)
        return self._listing_warnings + own

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the exact bytes of name, description and schema of every tool, in order."""
        return _core.fingerprint([bytes.fromhex(tool.fingerprint) for tool in self._tools])

    def entries_json(self) -> bytes:
        """The tools' definitions as the server listed them, as one JSON array."""
        return b"[" + b",".join(tool.definition_json for tool in self._tools) + b"]"

    def raise_for_skipped(self) -> None:
        """Raises ToolImportError when an entry was skipped."""
        if self._skipped:
            raise ToolImportError(self._skipped)

    def __repr__(self) -> str:
        return f"Toolset({list(self.names)!r}, skipped={len(self._skipped)})"
