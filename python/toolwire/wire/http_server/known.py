"""What the SDK has let in on an app over HTTP: sessions, and envelopes of 2026-07-28. It lets them in again.

It is learned where a handler of ours is asked, behind nothing of the user's.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Final
from weakref import WeakSet

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import decode_header_value
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from toolwire import _sdk
from toolwire._core import ServedCall
from toolwire.wire.http_server.head import Head, read_head
from toolwire.wire.kept import Kept
from toolwire.wire.limits import POSTED_ENVELOPE_BYTES, POSTED_ENVELOPES

__all__ = ["HANDSHAKE", "MODERN", "Known"]

Scope = MutableMapping[str, Any]

MODERN: Final[dict[bytes | None, str]] = {version.encode(): version for version in MODERN_PROTOCOL_VERSIONS}
HANDSHAKE: Final[set[bytes | None]] = {None, *(version.encode() for version in HANDSHAKE_PROTOCOL_VERSIONS)}
"""Values of the header that names the version; without it a request is of a handshake era."""


class Known:
    """What is open on one app in the SDK's view."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager
        self._sessions: WeakSet[Any] = WeakSet()
        """Their transports."""
        self._envelopes: dict[bytes, bytes | None] = {}
        """And the version that each names; the last used are the last."""

    def agrees(self, call: ServedCall, head: Head, version: bytes | None) -> bool:
        """The envelope is known, and the headers say what the body says."""
        envelope, name = call.envelope, head.found.get(b"mcp-name")
        known = self._envelopes.pop(envelope, None)
        if known is not None:
            self._envelopes[envelope] = known
        if known != version or name is None or head.found.get(b"mcp-method") != b"tools/call":
            return False
        return decode_header_value(name.decode("latin-1")) == call.name

    def session(self, scope: Scope, session_id: bytes | None) -> Any:
        """The transport of a session that lives, is the caller's and was asked before; or None."""
        found = self._living(scope, session_id)
        return found if found in self._sessions else None

    def _living(self, scope: Scope, session_id: bytes | None) -> Any:
        if session_id is None:
            return None
        return _sdk.open_session(self._manager, session_id.decode("latin-1"), scope.get("user"))

    def learn(self, scope: Scope, kept: Kept) -> None:
        """Remember what the SDK has let in."""
        head = read_head(scope["headers"])
        if head is None:
            return
        version, envelope = head.found.get(b"mcp-protocol-version"), kept.envelope
        if version in MODERN:
            if envelope and len(envelope) <= POSTED_ENVELOPE_BYTES:
                self._envelopes[envelope] = version
                if len(self._envelopes) > POSTED_ENVELOPES:
                    del self._envelopes[next(iter(self._envelopes))]
        elif not self._manager.stateless:
            session = self._living(scope, head.found.get(b"mcp-session-id"))
            if session is not None:
                self._sessions.add(session)
