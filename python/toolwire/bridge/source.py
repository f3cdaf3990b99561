"""Where tools are imported from: a connection, a wire, or any session of the SDK; and what may be asked of each."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from uuid import uuid4

import anyio
import mcp
from mcp import ClientSession, MCPError
from mcp_types import CLIENT_CAPABILITIES_META_KEY

from toolwire import _core, _sdk
from toolwire.bridge.connection import Connection
from toolwire.bridge.json_again import encoded
from toolwire.bridge.remote_errors import call_error, remote_error
from toolwire.contract.progress import Heard
from toolwire.contract.schema import Schema
from toolwire.errors import RemoteCallError, quoted
from toolwire.wire.client import ClientWire
from toolwire.wire.client_shape import Wire
from toolwire.wire.http_client.wire import HttpWire
from toolwire.wire.limits import Limits
from toolwire.wire.sdk_lane import SdkWriteStream

__all__ = ["Source", "call_result"]


class Source:
    """A session, the wire under it if there is one, and the limits of its calls."""

    def __init__(self, origin: Connection | ClientWire | HttpWire | mcp.Client | ClientSession) -> None:
        self.session: ClientSession | None
        self.home = origin.home if isinstance(origin, Connection) else None
        """The loop that the connection lives in; `None` for what is used where its owner opened it."""
        if isinstance(origin, ClientWire | HttpWire):
            self.wire: Wire | None = origin
            self.session = None
            self.limits = origin.limits
            return
        if isinstance(origin, Connection):
            self.session, self.wire, self.limits = origin.session, origin.wire, origin.limits
            return
        if not isinstance(origin, mcp.Client | ClientSession):
            raise TypeError(
                f"expected a connection, a wire, an SDK client or an SDK session, got {type(origin).__name__}"
            )
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
        """One page of `tools/list`. Raises RemoteCallError; a listing has no effect, so it never "may have run"."""
        try:
            return await self._page(cursor, timeout)
        except RemoteCallError as error:
            error.may_have_run = False
            raise

    async def _page(self, cursor: bytes | None, timeout: float | None) -> _core.Page:
        wire = self.wire
        if wire is not None and wire.open:
            params = b"" if cursor is None else b'"cursor":' + cursor
            page = _page(await wire.request("tools/list", params, timeout=timeout))
            wire.listed(page)
            return page
        sent = {} if cursor is None else {"cursor": json.loads(cursor)}
        if wire is None:
            result = await self._decoded("tools/list", sent, "tools/list", timeout)
            return read(_core.read_page, result)
        page = _page(await self._by_sdk_lane(wire, "tools/list", sent, "tools/list", timeout))
        wire.listed(page)
        return page

    def mirror(self, entry: _core.Entry) -> None:
        """Has the SDK send headers for a listed tool's arguments where its schema asks for that, as HTTP has them."""
        schema = entry.input_schema
        if self.session is not None and schema is not None and b"x-mcp-header" in schema:
            _sdk.mirror_headers(self.session, entry.name, Schema(schema).value)

    @property
    def takes_forms(self) -> bool:
        """The client side of this session advertises form elicitation, on a protocol with input rounds."""
        if self.wire is not None:
            envelope = self.wire.sdk.envelope
            if not envelope:
                return False
            capabilities = json.loads(b"{" + envelope + b"}").get(CLIENT_CAPABILITIES_META_KEY, {})
        else:
            if self.session is None or self.session.discover_result is None:
                return False
            capabilities = _sdk.advertised(self.session)
        elicitation = capabilities.get("elicitation")
        return isinstance(elicitation, dict) and (not elicitation or "form" in elicitation)

    async def ask(self, method: str, params: dict[str, Any]) -> bytes:
        """Any other request; the bytes of its result, exact on a wire. Raises RemoteCallError."""
        wire, timeout = self.wire, self.limits.call_timeout
        if wire is None:
            return await self._decoded(method, params, method, timeout)
        if wire.open:
            members = encoded(params)[1:-1]
            frame = await wire.request(method, members, timeout=timeout)
        else:
            frame = await self._by_sdk_lane(wire, method, params, method, timeout)
        result, error = frame.result, frame.error
        if result is None:
            raise (
                remote_error(*error)
                if error is not None
                else RemoteCallError(frame.fault or "no result", raw=frame.text)
            )
        return result

    async def call(
        self,
        name: str,
        arguments: bytes,
        timeout: float | None,
        *,
        meta: Mapping[str, Any] | None = None,
        more: bytes = b"",
        on_progress: Heard | None = None,
    ) -> _core.CallResult:
        """One `tools/call` that does not go express, through the session. `arguments` are checked.

        On a wire the bytes go and come as they are; without one the SDK has decoded them, so floats are Python's.
        Raises RemoteCallError, and ValueError when Python cannot hold a number of the arguments.
        """
        wire = self.wire
        extra: dict[str, Any] = json.loads(b"{" + more.removeprefix(b",") + b"}")
        if meta:
            extra["_meta"] = dict(meta)
        if wire is None:
            params = {"name": name, "arguments": _carried(arguments), **extra}
            result = await self._decoded("tools/call", params, name, timeout, on_progress)
            return read(_core.read_result, result)
        marker = f"toolwire:{uuid4().hex}"
        params = {"name": name, "arguments": {marker: 0}, **extra}
        paste = (b'{"%s":0}' % marker.encode(), arguments.replace(b"\n", b" ").replace(b"\r", b" "))
        return call_result(await self._by_sdk_lane(wire, "tools/call", params, name, timeout, paste, on_progress))

    async def _by_sdk_lane(
        self,
        wire: Wire,
        method: str,
        params: dict[str, Any],
        shown: str,
        timeout: float | None,
        paste: tuple[bytes, bytes] | None = None,
        on_progress: Heard | None = None,
    ) -> _core.Frame:
        """A request while nobody knows what an express one carries: the SDK sends it, the answer's bytes are read."""
        if self.session is None:
            raise RemoteCallError(
                "no session runs on this wire yet: enter mcp.Client(wire) or initialize a ClientSession on it first, "
                "and where the client adopted a version without a handshake, pass the client",
                may_have_run=False,
            )
        heard: list[_core.Frame | RemoteCallError] = []
        number = wire.sdk.tap(heard.append, paste)
        try:
            await self._request(method, params, shown, timeout, number, on_progress)
        except RemoteCallError as error:
            if not heard and wire.end_reason is not None:
                raise RemoteCallError(wire.end_reason, error=error.cause) from None
            if not heard:
                raise
            # That was the SDK's own view of a broken or an error answer; its bytes say more.
        finally:
            wire.sdk.untap(number)
        if isinstance(heard[0], RemoteCallError):
            raise heard[0]
        return heard[0]

    async def _decoded(
        self,
        method: str,
        params: dict[str, Any],
        shown: str,
        timeout: float | None,
        on_progress: Heard | None = None,
    ) -> bytes:
        result = await self._request(method, params, shown, timeout, on_progress=on_progress)
        try:
            return encoded(result)
        except (TypeError, ValueError, RecursionError) as error:
            raise RemoteCallError(f"the server's result is not JSON: {error}", error=error) from None

    async def _request(
        self,
        method: str,
        params: dict[str, Any],
        shown: str,
        timeout: float | None,
        number: int | None = None,
        on_progress: Heard | None = None,
    ) -> Any:
        """A request through the session's dispatcher; `shown` is its name in error texts. Raises RemoteCallError."""
        session = self.session
        if session is None:
            raise RemoteCallError("no session runs on this wire yet", may_have_run=False)
        try:
            with anyio.move_on_after(timeout):
                return await _sdk.raw_request(session, method, params, number, on_progress)
        except MCPError as error:
            raise call_error(error) from error
        except Exception as error:
            # The transport may be anybody's, and raise anything; to a model it is one failed call.
            raise RemoteCallError(str(error) or type(error).__name__, error=error) from error
        text = f"{quoted(shown)} at {self.server} timed out after {timeout:g} s"
        raise RemoteCallError(text, error=TimeoutError())


def _page(frame: _core.Frame) -> _core.Page:
    error = frame.error
    if error is not None:
        raise remote_error(*error)
    try:
        return frame.page()
    except ValueError as problem:
        raise RemoteCallError(frame.fault or str(problem), raw=frame.text) from None


def call_result(frame: _core.Frame) -> _core.CallResult:
    """The result of a call in its answer. Raises RemoteCallError."""
    try:
        result = frame.call_result()
    except ValueError as problem:
        raise RemoteCallError(str(problem), raw=frame.text) from None
    if result is not None:
        return result
    error = frame.error
    if error is not None:
        raise remote_error(*error)
    raise RemoteCallError(f"{frame.fault}: {_clip(frame.text)}", raw=frame.text)


_CLIP = 200
"""Bytes of a broken answer that its error text quotes."""


def _clip(text: bytes) -> str:
    shown = text[:_CLIP].decode("utf-8", "replace")
    return shown if len(text) <= _CLIP else shown + "…"


def _carried(arguments: bytes) -> Any:
    """Arguments as the SDK takes them. It would send a number beyond Python's floats as null, so that is refused."""

    def number(text: str) -> float:
        value = float(text)
        if math.isinf(value):
            raise ValueError(f"the number {text} is beyond Python's floats, and an SDK session carries no other")
        return value

    return json.loads(arguments, parse_float=number)


Read = TypeVar("Read")


def read(reader: Callable[[bytes], Read], result: bytes) -> Read:
    """Reads a result that came decoded. Raises RemoteCallError."""
    try:
        return reader(result)
    except ValueError as problem:
        raise RemoteCallError(str(problem.args[0]), raw=result) from None
