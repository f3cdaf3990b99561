"""Importing: every page of a listing, every entry on its own, each good one a tool (spec one-session 1.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from time import monotonic

import mcp
from mcp import ClientSession
from mcp.shared.inbound import find_invalid_x_mcp_header

from toolwire import _core
from toolwire.bridge.connection import Connection
from toolwire.bridge.remote_tool import RemoteCaller
from toolwire.bridge.source import Source
from toolwire.bridge.toolset import Toolset
from toolwire.contract.policies import Policy, Settings, applied
from toolwire.contract.schema import Schema
from toolwire.contract.tool_object import Tool
from toolwire.errors import ListedToolError, RemoteCallError, SchemaError, SkippedTool, ToolwireError, quoted
from toolwire.wire.client import ClientWire
from toolwire.wire.http_client.wire import HttpWire

__all__ = ["tools"]

METHOD_NOT_FOUND = -32601


async def tools(
    source: Connection | ClientWire | HttpWire | mcp.Client | ClientSession,
    *,
    prefix: str = "",
    policy: Policy | Iterable[Policy | None] = (),
    any_root: bool = False,
) -> Toolset:
    """The tools of a connected session, with the server's own schema bytes.

    `prefix` is put before every name, never on the wire. `policy` applies to each tool after the import's own:
    `origin("mcp")`, and `sequential()` unless the tool says `readOnlyHint`. `any_root` keeps a tool whose input
    schema's root is not `"type": "object"`, with a warning. A bad entry is skipped and reported on `.skipped`.

    On a session that does not run on a wire the SDK has decoded everything before toolwire sees it: floats are spelled
    as Python spells them, and escapes and white space are gone; one bad entry still costs one tool.

    Raises RemoteCallError when the listing fails, on any page: then there are no tools at all. A server without the
    method has none.
    """
    if isinstance(source, Connection) and not source.home.is_here():
        return await source.home.visit(lambda: tools(source, prefix=prefix, policy=policy, any_root=any_root))
    origin = Source(source)
    listing = _Listing(origin, prefix, policy, any_root)
    await listing.walk()
    return Toolset(listing.tools, connection=source, skipped=listing.skipped, warnings=listing.warnings)


async def listed_entries(source: Source) -> tuple[list[_core.Entry], list[str]]:
    """Every entry of a listing as it is, and the listing's warnings. Raises RemoteCallError."""
    listing = _Listing(source, "", (), False, entries_only=True)
    await listing.walk()
    limit = source.limits.tools
    if len(listing.entries) > limit:
        listing.warnings.append(f"the listing has over {limit} tools: it was cut there")
    return listing.entries[:limit], listing.warnings


class _Listing:
    """The state of one walk over the pages."""

    def __init__(
        self,
        source: Source,
        prefix: str,
        policy: Policy | Iterable[Policy | None],
        any_root: bool,
        *,
        entries_only: bool = False,
    ) -> None:
        self.tools: list[Tool] = []
        self.skipped: list[SkippedTool] = []
        self.warnings: list[str] = []
        self.entries: list[_core.Entry] = []
        self._entries_only = entries_only
        self._source = source
        self._prefix = prefix
        self._any_root = any_root
        self._caller = RemoteCaller(source)
        policies = (policy,) if isinstance(policy, Policy) else tuple(policy)
        self._read_only = applied(policies, Settings(origin="mcp"))
        self._others = applied(policies, Settings(origin="mcp", sequential=True))
        self._names: set[str] = set()
        self._index = 0

    async def walk(self) -> None:
        """Every page, under one deadline. Absent and null end the listing; an empty string is a cursor (fault F2)."""
        limits = self._source.limits
        end = None if limits.list_timeout is None else monotonic() + limits.list_timeout
        cursor: bytes | None = None
        cursors: set[bytes] = set()
        pages: set[bytes] = set()
        for _ in range(limits.pages):
            timeout = None if end is None else max(0.0, end - monotonic())
            try:
                page = await self._source.page(cursor, timeout)
            except RemoteCallError as error:
                if error.code == METHOD_NOT_FOUND and cursor is None:
                    return
                if end is not None and isinstance(error.cause, TimeoutError):
                    text = f"listing the tools of {self._source.server} timed out after {limits.list_timeout:g} s"
                    raise RemoteCallError(text, may_have_run=False, error=error.cause) from None
                raise
            cursor = page.next_cursor
            self.warnings.extend(page.warnings)
            if cursor is None and not pages:
                self._take(page)
                return
            digest = _digest(page)
            if digest not in pages:
                pages.add(digest)
                self._take(page)
            if cursor is None:
                return
            if cursor in cursors:
                self.warnings.append(f"the listing gave the cursor {cursor.decode()} twice: it was ended there")
                return
            cursors.add(cursor)
            if self._index >= limits.tools:
                self.warnings.append(f"the listing goes on after {self._index} tools: it was ended there")
                return
        self.warnings.append(f"the listing has over {limits.pages} pages: it was ended there")

    def _take(self, page: _core.Page) -> None:
        if self._entries_only:
            found = page.entries
            self.entries.extend(found)
            self._index += len(found)
            return
        check_headers = page.names_headers and self._source.modern
        prefix, names, limit = self._prefix, self._names, self._source.limits.tools
        for entry in page.entries:
            index = self._index
            self._index = index + 1
            kind = entry.fault_kind
            name = entry.name
            if index >= limit:
                self.skipped.append(
                    SkippedTool(name, index, ListedToolError(f"over the limit of {limit} tools a listing"))
                )
                continue
            if kind == "entry":
                self.skipped.append(SkippedTool(name, index, ListedToolError(entry.fault or "")))
                continue
            public = prefix + name
            if public in names:
                error: ToolwireError = ListedToolError(f"duplicate name {quoted(name)} in the listing")
                self.skipped.append(SkippedTool(name, index, error))
                continue
            if kind is not None and not (kind == "root" and self._any_root):
                self.skipped.append(SkippedTool(name, index, SchemaError(entry.fault or "")))
                continue
            if check_headers and (reason := bad_header(entry)) is not None:
                self.skipped.append(SkippedTool(name, index, ListedToolError(reason)))
                continue
            if check_headers:
                self._source.mirror(entry)
            names.add(public)
            settings = self._read_only if entry.read_only else self._others
            self.tools.append(Tool(public, entry, settings, self._caller))


def _digest(page: _core.Page) -> bytes:
    digest = hashlib.sha256()
    for entry in page.entries:
        digest.update(entry.text)
        digest.update(b"\n")
    return digest.digest()


def bad_header(entry: _core.Entry) -> str | None:
    """Why a 2026-07-28 session drops the tool: what its schema wants mirrored in headers can't be."""
    schema = entry.input_schema
    if schema is None or b"x-mcp-header" not in schema:
        return None
    return find_invalid_x_mcp_header(Schema(schema).value)
