"""The listing of the tools that are served: each entry in its own bytes, and beside them what the SDK makes of it.

An era's own schema decides what an entry may say there. A member that it refuses is left out of that entry, with a
logged warning; an input schema that it refuses takes the tool out of that era's listing, and out of nothing else.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Protocol

from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from pydantic_core import to_json

from toolwire import _core, _sdk
from toolwire.bridge.decoded import decoded
from toolwire.wire.served_calls import Asked

__all__ = ["Entry", "Served", "ServedListing"]

logger = logging.getLogger("toolwire.bridge")


class Served(Protocol):
    """A tool on a server, by whichever door it came there."""

    name: str
    needs_sdk_context: bool

    def members(self) -> Mapping[str, bytes]:
        """The listing entry's members, each with its exact bytes."""

    async def run(self, asked: Asked, call: _core.ServedCall, stamp: bytes | None, /) -> bytes:
        """One call on the express lane: the line that answers it."""

    async def result(self, arguments: bytes, stamp: bytes | None) -> bytes:
        """The result of one call; Answered for what has none."""


Entry = tuple[Any, bytes]
"""An entry as the SDK writes it, and its own bytes."""


class ServedListing:
    """The entries of `tools`, in their order, made once a version; `changed` forgets them."""

    def __init__(self, tools: Mapping[str, Served]) -> None:
        self._tools = tools
        self._made: dict[str, dict[str, Entry]] = {}
        self._mirrored: dict[str, dict[str, Any]] = {}

    def changed(self) -> None:
        """The tools are others now."""
        # New ones: another thread may be about to keep what it made of the tools that were.
        self._made = {}
        self._mirrored = {}

    def entries(self, version: str) -> dict[str, Entry]:
        """The entries at a protocol version, by name."""
        kept = self._made
        found = kept.get(version)
        if found is None:
            made = ((name, _entry(tool, version)) for name, tool in list(self._tools.items()))
            found = kept[version] = {name: entry for name, entry in made if entry is not None}
        return found

    def mirrored(self, version: str) -> dict[str, Any]:
        """The input schemas that ask for arguments in headers too, by the name of their tool."""
        kept = self._mirrored
        found = kept.get(version)
        if found is None:
            schemas = ((name, entry["inputSchema"]) for name, (entry, _) in self.entries(version).items())
            found = kept[version] = {name: schema for name, schema in schemas if _HEADER in to_json(schema)}
        return found


_HEADER = b'"x-mcp-header"'


def _entry(tool: Served, version: str) -> Entry | None:
    members = dict(tool.members())
    output_schema = members.get("outputSchema")
    if output_schema is not None and version not in MODERN_PROTOCOL_VERSIONS and not _has_object_root(output_schema):
        # Before 2026-07-28 a result has no place for such a value either.
        del members["outputSchema"]
    while True:
        raw = b"{" + b",".join(_core.quote(name) + b":" + value for name, value in members.items()) + b"}"
        try:
            return _written(raw, version), raw
        except ValidationError as error:
            refused = _refused(error, members)
            if refused in ("name", "inputSchema", None):
                logger.warning("tool %r cannot be listed at %s: its input schema is none there", tool.name, version)
                return None
            logger.warning("tool %r is listed without its %s, which is none at %s", tool.name, refused, version)
            del members[refused]


def _written(entry: bytes, version: str) -> Any:
    page = {"tools": [decoded(entry)], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return _sdk.dumped_result("tools/list", version, page)["tools"][0]


def _refused(error: ValidationError, members: Mapping[str, bytes]) -> str | None:
    """The first member that the SDK's schema refuses."""
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        for name in fault["loc"]:
            if name in members:
                return str(name)
    return None


def _has_object_root(schema: bytes) -> bool:
    try:
        _core.parse_schema(schema)
    except _core.JsonError:
        return False
    return True
