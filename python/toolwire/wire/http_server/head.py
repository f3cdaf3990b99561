"""The headers of a POST: whether the SDK would let it in, by the SDK's own judges, and what they say of the call.

A header that is given twice is the SDK's to judge: it is not certain which of them counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from toolwire import _sdk

__all__ = ["Gate", "Head", "read_head", "without_padding"]

WATCHED: Final = frozenset(
    (
        b"accept",
        b"content-length",
        b"content-type",
        b"host",
        b"mcp-method",
        b"mcp-name",
        b"mcp-protocol-version",
        b"mcp-session-id",
        b"origin",
    )
)
PARAMETER: Final = b"mcp-param-"
PADDING: Final = b" \t"
"""White space around a value is no part of it (RFC 9110, 5.5); not every ASGI server takes it away."""
JUDGED: Final = 256
"""Verdicts that are remembered: a client has one. Each is at most as long as a server lets headers be."""

Headers = Iterable[tuple[bytes, bytes]]


class Head:
    """The headers that count, each given once. It is what the SDK's judges take for a request."""

    __slots__ = ("found", "names_parameters")

    def __init__(self, found: dict[bytes, bytes], names_parameters: bool) -> None:
        self.found = found
        self.names_parameters = names_parameters

    @property
    def headers(self) -> Head:
        """Itself, as far as `get` goes."""
        return self

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a header, by its name in small letters."""
        value = self.found.get(name.encode())
        return default if value is None else value.decode("latin-1")


def read_head(headers: Headers) -> Head | None:
    """What counts of a request's headers; None where one of them is given twice."""
    found: dict[bytes, bytes] = {}
    names_parameters = False
    for name, value in headers:
        if name in WATCHED:
            if name in found:
                return None
            found[name] = value.strip(PADDING)
        elif name.startswith(PARAMETER):
            names_parameters = True
    return Head(found, names_parameters)


def without_padding(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers as the SDK is to see them."""
    return [(name, value.strip(PADDING)) for name, value in headers]


class Gate:
    """The checks of one app that come before a body is read. What was judged once is judged the same again."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._as_json = manager.json_response
        self._settings = manager.security_settings
        self._judge = _sdk.request_judge(manager)
        self._judged: dict[tuple[bytes | None, ...], bool] = {}
        self._rules: object = None
        """The settings by which they were judged: they are the user's, who may change them at any time."""

    def remembered(self, head: Head) -> bool | None:
        """Whether the SDK would let the request in, if its like has been judged by the settings that there are."""
        settings = self._settings
        if settings is not None:
            rules = (
                settings.enable_dns_rebinding_protection,
                tuple(settings.allowed_hosts),
                tuple(settings.allowed_origins),
            )
            if rules != self._rules:
                self._judged.clear()
                self._rules = rules
        return self._judged.get(_what_is_judged(head))

    async def admits(self, head: Head) -> bool:
        """The SDK would let the request in."""
        admitted = self.remembered(head)
        if admitted is None:
            admitted = self._admits_form(head) and await self._judge(head) is None
            if len(self._judged) < JUDGED:
                self._judged[_what_is_judged(head)] = admitted
        return admitted

    def _admits_form(self, head: Head) -> bool:
        takes_json, takes_events = _sdk.accepted_forms(head)
        is_json = head.found.get(b"content-type", b"").partition(b";")[0] == b"application/json"
        return is_json and takes_json and (takes_events or self._as_json)


def _what_is_judged(head: Head) -> tuple[bytes | None, ...]:
    get = head.found.get
    return get(b"accept"), get(b"content-type"), get(b"host"), get(b"origin")
