"""The headers of 2026-07-28 that repeat what a request's body says, taken from the bytes of that body (fault C15)."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)

from toolwire import _core

__all__ = ["Mirrors"]

HeaderMap = dict[tuple[str, ...], str]


class Mirrors:
    """What the listed tools want repeated: for a tool's name the paths of its arguments, each with its header."""

    def __init__(self) -> None:
        self._maps: dict[str, HeaderMap] = {}

    def listed(self, page: _core.Page) -> None:
        """The newest listing decides. A tool with an annotation that cannot be is dropped by whoever imports it."""
        if not page.names_headers and not self._maps:
            return
        for entry in page.entries:
            schema = entry.input_schema
            self._maps.pop(entry.name, None)
            if schema is not None and b"x-mcp-header" in schema:
                try:
                    value = _decoded(schema)
                    if find_invalid_x_mcp_header(value) is None:
                        self._maps[entry.name] = x_mcp_header_map(value)
                except (ValueError, RecursionError):
                    continue

    def headers(self, body: bytes) -> dict[str, str]:
        """The headers of one request, as the SDK writes them."""
        frame = _core.read_message(body)
        method = frame.method or ""
        headers = {MCP_METHOD_HEADER: method}
        key = NAME_BEARING_METHODS.get(method)
        if key is None:
            return headers
        name_json = _core.members(frame.params or b"{}").get(key)
        name = None if name_json is None else json.loads(name_json)
        if not isinstance(name, str):
            return headers
        headers[MCP_NAME_HEADER] = encode_header_value(name)
        wanted = self._maps.get(name) if method == "tools/call" else None
        if wanted:
            headers.update(mcp_param_headers(wanted, _decoded(frame.call_arguments() or b"{}")))
        return headers


def _decoded(text: bytes) -> Any:
    """The value of a JSON text. An integer longer than Python reads is a Decimal: no header can carry it either."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) <= _LONGEST else Decimal(digits))


_LONGEST = 4_300
"""Digits that Python turns into an `int` without being told to."""
