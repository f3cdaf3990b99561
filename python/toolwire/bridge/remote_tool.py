"""The calls of imported tools: raw arguments out, the answer in, each answer to an output or one typed error."""

from __future__ import annotations

import json

from toolwire import _core
from toolwire.bridge.source import Source, decoded, read, remote_error
from toolwire.contract.output import ToolOutput
from toolwire.contract.policies import Settings
from toolwire.contract.tool_object import Tool, refused_input
from toolwire.errors import RemoteCallError, ToolFailure, ToolReturnedError

__all__ = ["RemoteCaller"]


class RemoteCaller:
    """Carries the calls of every tool of one source."""

    __slots__ = ("_source",)

    def __init__(self, source: Source) -> None:
        self._source = source

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        """One `tools/call`. Raises ToolFailure and RemoteCallError."""
        source, settings = self._source, tool.settings
        wire, limits = source.wire, source.limits
        timeout = limits.call_timeout if settings.timeout is None else settings.timeout or None
        if wire is None or not wire.open and wire.end_reason is None and source.session is not None:
            return await self._call_by_session(tool, arguments, timeout)
        definition: _core.Entry = tool._definition  # type: ignore[assignment]  # a remote tool's definition is its entry
        name, envelope, idle = definition.name_json or b"", wire.sdk.envelope, limits.idle_timeout

        def line(number: int) -> bytes:
            meta = envelope if idle is None else _with_token(envelope, number)
            return _core.tools_call(number, name, arguments, meta)

        try:
            frame = await wire.express.send(line, label=(definition.name, wire.name), timeout=timeout, idle=idle)
        except _core.JsonError as error:
            raise refused_input(tool.name, error.args[0]) from None
        return _received(frame, settings)

    async def _call_by_session(self, tool: Tool, arguments: bytes | str, timeout: float | None) -> ToolOutput:
        """The call of a session without a wire: the SDK decodes arguments and result, so floats are Python's."""
        session = self._source.session
        assert session is not None
        definition: _core.Entry = tool._definition  # type: ignore[assignment]  # as above
        try:
            checked = json.loads(_core.check_arguments(arguments))
        except _core.JsonError as error:
            raise refused_input(tool.name, error.args[0]) from None
        params = {"name": definition.name, "arguments": checked}
        result = await decoded(session, "tools/call", params, timeout)
        return _output(read(_core.read_result, result), tool.settings)


def _with_token(envelope: bytes, number: int) -> bytes:
    token = b'"progressToken":%d' % number
    return envelope + b"," + token if envelope else token


def _received(frame: _core.Frame, settings: Settings) -> ToolOutput:
    kind = frame.kind
    if kind == "result":
        try:
            result = frame.call_result()
        except ValueError as problem:
            raise RemoteCallError(str(problem), raw=frame.text) from None
        return _output(result, settings)
    error = frame.error
    if error is not None:
        raise remote_error(*error)
    raise RemoteCallError(f"{frame.fault}: {_clip(frame.text)}", raw=frame.text)


_CLIP = 200
"""Bytes of a broken answer that its error text quotes."""


def _clip(text: bytes) -> str:
    shown = text[:_CLIP].decode("utf-8", "replace")
    return shown if len(text) <= _CLIP else shown + "…"


def _output(result: _core.CallResult, settings: Settings) -> ToolOutput:
    result_type = result.result_type
    if result_type is not None and result_type != "complete":
        if result_type == "input_required":
            raise RemoteCallError("remote tool result requires further input", raw=result.text)
        raise RemoteCallError(f"the server's result is of an unknown type {result_type!r}", raw=result.text)
    output = ToolOutput(result, settings.render, settings.max_result_bytes)
    if result.is_error:
        text = output.text or "mcp: tool returned an error"
        raise ToolFailure(text, output=output, remote=True, cause=ToolReturnedError())
    return output
