"""What an express request carries in its head: learned from the SDK's own requests, and what the connection was given.

Headers of one request only are never learned: what mirrors its body, what belongs to its bytes, a caller's own for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from toolwire.wire.http_client.inflate import ENCODINGS

__all__ = ["SESSION", "VERSION", "Learned"]

SESSION: Final = "mcp-session-id"
VERSION: Final = "mcp-protocol-version"

_OF_ONE_REQUEST: Final = frozenset(
    {
        "host",
        "content-length",
        "content-type",
        "content-encoding",
        "transfer-encoding",
        "connection",
        "accept",
        "accept-encoding",
        "last-event-id",
        "traceparent",
        "tracestate",
        "baggage",
        SESSION,
        VERSION,
    }
)


_OF_THE_PROTOCOL: Final = ("mcp-method", "mcp-name", "mcp-param-", SESSION, VERSION)


def _is_the_callers(name: str) -> bool:
    """A header that one request would carry by itself, and that a caller may set for all of them."""
    if name in ("traceparent", "tracestate", "baggage", "accept-encoding"):
        return True
    return name.startswith("mcp-") and not name.startswith(_OF_THE_PROTOCOL)


class Learned:
    """The head of the next express request."""

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        self._given = {name.lower(): value for name, value in (given or {}).items() if _is_the_callers(name.lower())}
        """Of the headers that the connection was given, those that are never learned: nobody else's stand there."""
        self.session: str | None = None
        """The session id that the server gave out last."""
        self.version: str | None = None
        """The protocol version that the SDK stamps on its requests."""
        self._others: dict[str, str] | None = None
        self._base: dict[str, str] | None = None

    def learn(self, headers: Mapping[str, str], own: frozenset[str] = frozenset()) -> None:
        """The server took a request with these headers; those named in `own` were of that request only."""
        if own and self._others is None:
            # Nobody knows yet what stands in their place on other requests.
            return
        kept = {
            name: value
            for name, value in ((name.lower(), value) for name, value in headers.items())
            if name not in _OF_ONE_REQUEST and name not in own and not name.startswith("mcp-")
        }
        for name in own:
            if name in (self._others or {}):
                kept[name] = (self._others or {})[name]
        if kept != self._others:
            self._others, self._base = kept, None

    def forget(self) -> None:
        """The server did not like them: the next request shows anew what they are."""
        self._others = self._base = None

    def renewed(self, session: str | None) -> None:
        """The server opened a session."""
        self.session, self._base = session, None

    def stamped(self, version: str | None) -> None:
        """The SDK speaks this version from now on."""
        if version != self.version:
            self.version, self._base = version, None

    @property
    def known(self) -> bool:
        """A request can be made that carries all that the SDK's own do."""
        return self._others is not None

    def headers(self) -> dict[str, str]:
        """All of them, for an engine that adds nothing. The dictionary is the caller's."""
        base = self._base
        if base is None:
            others = {**(self._others or {}), "accept-encoding": ENCODINGS, **self._given}
            base = self._base = {**others, **self.of_the_protocol()}
        return base.copy()

    def of_the_protocol(self) -> dict[str, str]:
        """Those of MCP alone, for a client that adds its own."""
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        if self.session is not None:
            headers[SESSION] = self.session
        if self.version is not None:
            headers[VERSION] = self.version
        return headers
