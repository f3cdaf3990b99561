"""The calls of imported tools: raw arguments out, the answer in, each answer to an output or one typed error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from toolwire import _core
from toolwire.bridge.home import Home
from toolwire.bridge.source import Source, call_result
from toolwire.contract.arguments import refused_input
from toolwire.contract.output import ToolOutput
from toolwire.contract.per_call import call_meta
from toolwire.contract.progress import listener, listener_of
from toolwire.contract.remote_output import RemoteOutput
from toolwire.contract.tool_object import Tool
from toolwire.errors import IncompleteResultError, RemoteCallError, ToolFailure, ToolReturnedError
from toolwire.loops import running_loop

__all__ = ["RemoteCaller", "with_token"]


class RemoteCaller:
    """Carries the calls of every tool of one source."""

    __slots__ = ("_call_timeout", "_idle_timeout", "_loop", "_source", "_wire", "home")

    def __init__(self, source: Source) -> None:
        self._source = source
        # What is asked at every call.
        self._wire = source.wire
        self._call_timeout = source.limits.call_timeout
        self._idle_timeout = source.limits.idle_timeout
        self.home = Home()
        self._loop: object = self.home.loop or self.home
        """Asyncio's loop that the connection lives in; nothing that runs where there is none."""

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        """One `tools/call`. Raises ToolFailure and RemoteCallError."""
        if running_loop() is not self._loop and not self.home.is_here():
            return await self.home.visit(lambda: self.call(tool, arguments))
        settings, wire = tool.settings, self._wire
        timeout = self._call_timeout if settings.timeout is None else settings.timeout or None
        if wire is None or (not wire.open and wire.end_reason is None):
            return await self._call_by_session(tool, arguments, timeout)
        definition: _core.Entry = tool.definition  # type: ignore[assignment]  # a remote tool's definition is its entry
        envelope, idle, own = wire.sdk.envelope, self._idle_timeout, call_meta()
        heard = None if listener.get() is None else listener_of(tool)
        if idle is None and heard is None and not own:
            # Nearly every call: no function of ours stands between the lane and the core.
            line = partial(definition.call_line, arguments, envelope)
        else:
            line = partial(_line, definition, arguments, envelope, own, idle is not None or heard is not None)
        try:
            frame = await wire.express.send(
                line, label=(definition, wire), timeout=timeout, idle=idle, on_progress=heard
            )
        except _core.JsonError as error:
            raise refused_input(tool.name, error.args[0]) from None
        result = frame.good_result()
        if result is None:
            raise _failure(call_result(frame), tool)
        return RemoteOutput(result, settings.render, settings.max_result_bytes, definition)

    async def _call_by_session(self, tool: Tool, arguments: bytes | str, timeout: float | None) -> ToolOutput:
        """The call that cannot go express: there is no wire, or nobody has heard yet what a request has to carry."""
        definition: _core.Entry = tool.definition  # type: ignore[assignment]  # as above
        try:
            checked = _core.check_arguments(arguments)
            result = await self._source.call(
                definition.name, checked, timeout, meta=call_meta(), on_progress=listener_of(tool)
            )
        except ValueError as error:
            raise refused_input(tool.name, error.args[0]) from None
        if result.is_error or not result.is_complete:
            raise _failure(result, tool)
        return RemoteOutput(result, tool.settings.render, tool.settings.max_result_bytes, definition)


def _line(
    definition: _core.Entry, arguments: bytes | str, envelope: bytes, own: Mapping[str, Any], token: bool, number: int
) -> bytes:
    meta = with_token(envelope, number) if token else envelope
    return definition.call_line(arguments, with_members(meta, own) if own else meta, number)


def with_token(envelope: bytes, number: int) -> bytes:
    """The members of `_meta` with a progress token: the request's own id, which is like no other's."""
    token = b'"progressToken":%d' % number
    return envelope + b"," + token if envelope else token


def with_members(meta: bytes, own: Mapping[str, Any]) -> bytes:
    """The members of `_meta` with the caller's own behind them."""
    members = json.dumps(own, ensure_ascii=False, separators=(",", ":")).encode()[1:-1]
    return meta + b"," + members if meta else members


def _failure(result: _core.CallResult, tool: Tool) -> RemoteCallError | ToolFailure:
    if not result.is_complete:
        if result.result_type == "input_required":
            cause = IncompleteResultError()
            return RemoteCallError(str(cause).removeprefix("mcp: "), raw=result.text, error=cause)
        return RemoteCallError(f"the server's result is of an unknown type {result.result_type!r}", raw=result.text)
    settings = tool.settings
    output = RemoteOutput(result, settings.render, settings.max_result_bytes, tool.definition)
    text = output.text or "mcp: tool returned an error"
    return ToolFailure(text, output=output, remote=True, cause=ToolReturnedError())
