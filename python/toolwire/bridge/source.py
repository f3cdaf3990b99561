"""Where tools are imported from: a connection, a wire, or any session of the SDK; and what may be asked of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import mcp
from mcp import ClientSession, MCPError

from toolwire import _core, _sdk
from toolwire.bridge.connection import Connection
from toolwire.errors import RemoteCallError, ToolwireError
from toolwire.wire.client import ClientWire
from toolwire.wire.limits import Limits
from toolwire.wire.sdk_lane import SdkWriteStream

__all__ = ["Source", "call_error", "decoded"]


class Source:
    """A session, the wire under it if there is one, and the limits of its calls."""

    def __init__(self, origin: Connection | ClientWire | mcp.Client | ClientSession) -> None:
        self.session: ClientSession | None
        if isinstance(origin, ClientWire):
            self.wire: ClientWire | None = origin
            self.session = None
            self.limits = origin.limits
            return
        if isinstance(origin, Connection):
            self.session, self.wire, self.limits = origin.session, origin.wire, origin.limits
            return
        if not isinstance(origin, mcp.Client | ClientSession):
            raise TypeError(f"expected a connection, a wire, an SDK client or an SDK session, got {type(origin).__name__}")
        self.session = origin.session if isinstance(origin, mcp.Client) else origin
        stream = _sdk.write_stream_of(self.session)
        self.wire = stream.wire if isinstance(stream, SdkWriteStream) else None
        self.limits = self.wire.limits if self.wire is not None else Limits()

    @property
    def server(self) -> str:
        """The server's name, for error texts."""
        if self.session is not None and self.session.server_info is not None:
            return self.session.server_info.name
        return self.wire.name if self.wire is not None else "the server"

    @property
    def modern(self) -> bool:
        """The session speaks 2026-07-28, where each request carries an envelope."""
        if self.wire is not None:
            return bool(self.wire.sdk.envelope)
        return self.session is not None and self.session.discover_result is not None

    async def page(self, cursor: bytes | None, timeout: float | None) -> _core.Page:
        """One page of `tools/list`. Raises RemoteCallError."""
        wire = self.wire
        if wire is None:
            return await self._page_by_session(cursor, timeout)
        if wire.open:
            params = b"" if cursor is None else b'"cursor":' + cursor
            return _page(await wire.request("tools/list", params, timeout=timeout))
        return await self._page_by_sdk_lane(cursor, timeout)

    async def _page_by_sdk_lane(self, cursor: bytes | None, timeout: float | None) -> _core.Page:
        """The first request of a session that nobody has heard from yet: the SDK sends it, its bytes are read here."""
        if self.session is None or self.wire is None:
            raise ToolwireError(
                "no session runs on this wire yet: enter mcp.Client(wire) or initialize a ClientSession on it first, "
                "and where the client adopted a version without a handshake, pass the client"
            )
        heard: list[_core.Frame] = []
        self.wire.sdk.tap("tools/list", heard.append)
        params = {} if cursor is None else {"cursor": json.loads(cursor)}
        try:
            await _sdk.raw_request(self.session, "tools/list", params, timeout)
        except MCPError as error:
            if not heard:
                raise call_error(error) from error
        return _page(heard[0])

    async def _page_by_session(self, cursor: bytes | None, timeout: float | None) -> _core.Page:
        assert self.session is not None
        params = {} if cursor is None else {"cursor": json.loads(cursor)}
        result = await decoded(self.session, "tools/list", params, timeout)
        return read(_core.read_page, result)


def _page(frame: _core.Frame) -> _core.Page:
    error = frame.error
    if error is not None:
        raise RemoteCallError(error[1], may_have_run=False, code=error[0], data=error[2])
    try:
        return frame.page()
    except ValueError as problem:
        raise RemoteCallError(frame.fault or str(problem), may_have_run=False, raw=frame.text) from None


async def decoded(session: ClientSession, method: str, params: dict[str, Any], timeout: float | None) -> bytes:
    """A result through the session's dispatcher, as JSON again. Floats and key spellings are the SDK's, already decoded.

    Raises RemoteCallError.
    """
    try:
        result = await _sdk.raw_request(session, method, params, timeout)
    except MCPError as error:
        raise call_error(error) from error
    return json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


Read = TypeVar("Read")


def read(reader: Callable[[bytes], Read], result: bytes) -> Read:
    """Reads a result that came decoded. Raises RemoteCallError."""
    try:
        return reader(result)
    except ValueError as problem:
        raise RemoteCallError(str(problem.args[0]), raw=result) from None


_REFUSED = (-32700, -32600, -32601, -32602)
"""JSON-RPC's codes for a request that was not carried out."""


def call_error(error: MCPError) -> RemoteCallError:
    """An error of the SDK as one of a call."""
    data = error.error.data
    return remote_error(
        error.error.code,
        error.error.message,
        None if data is None else json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"),
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
