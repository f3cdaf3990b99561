"""JSON-RPC errors as a model reads them: the message, what the code means, small data (fault H8)."""

from __future__ import annotations

from mcp import MCPError

from toolwire.bridge.json_again import encoded
from toolwire.errors import RemoteCallError

__all__ = ["call_error", "remote_error"]

_REFUSED = (-32700, -32600, -32601, -32602)
"""JSON-RPC's codes for a request that was not carried out."""


def call_error(error: MCPError) -> RemoteCallError:
    """An error of the SDK as one of a call."""
    data = error.error.data
    return remote_error(
        error.error.code,
        error.error.message,
        None if data is None else encoded(data),
        error,
    )


_MEANINGS = {
    -32700: "parse error",
    -32600: "invalid request",
    -32601: "method not found",
    -32602: "invalid params",
    -32603: "internal error",
}
_SHOWN_DATA = 500
"""Bytes of an error's data up to which a model is shown it."""


def remote_error(code: int, message: str, data: bytes | None, cause: BaseException | None = None) -> RemoteCallError:
    """A JSON-RPC error as a model reads it: the message, what the code means, small data (fault H8)."""
    meaning = _MEANINGS.get(code)
    text = message or meaning or f"error {code}"
    if meaning is not None and meaning not in text.lower():
        text += f" ({meaning})"
    if data is not None and len(data) <= _SHOWN_DATA and data not in (b"null", b'""', b"{}"):
        text += f": {data.decode('utf-8', 'replace')}"
    return RemoteCallError(text, may_have_run=code not in _REFUSED, code=code, data=data, error=cause)
