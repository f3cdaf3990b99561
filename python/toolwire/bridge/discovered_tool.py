"""The calls of discovered tools: admitted arguments out, the result held to what was promised (many-sources 5.1).

A result that breaks its promise, or that cannot be read, is an error which still carries the output: nothing is lost
after a side effect.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from toolwire import _core
from toolwire.bridge.discovered_output import DiscoveredOutput
from toolwire.bridge.home import Home
from toolwire.bridge.input_rounds import Round, input_request, resumed
from toolwire.bridge.remote_tool import with_token
from toolwire.bridge.source import Source, call_result
from toolwire.bridge.tracing import client_span
from toolwire.contract.effect import Effect
from toolwire.contract.guarded import call_id
from toolwire.contract.input_round import Continuation
from toolwire.contract.invocation import Invocation, mismatch
from toolwire.contract.output import ToolOutput
from toolwire.contract.per_call import call_meta
from toolwire.contract.policies import Settings
from toolwire.contract.progress import listener_of
from toolwire.contract.tool_object import Tool
from toolwire.errors import RemoteCallError, ResultError, ToolFailure, ToolwireError, quoted

__all__ = ["DiscoveredCaller"]

_RESERVED = "io.modelcontextprotocol/"


class DiscoveredCaller:
    """Carries the calls of one discovered tool, under its raw remote name."""

    __slots__ = (
        "_binding_id",
        "_origin",
        "_output_validator",
        "_request_meta",
        "_tool",
        "concurrency_policy",
        "effect",
        "home",
        "mcp_identity",
    )

    def __init__(
        self,
        origin: Source,
        *,
        source: str,
        remote: str,
        effect: Effect,
        request_meta: Callable[[Invocation], Mapping[str, Any] | None] | None,
        concurrency: Callable[[Invocation], tuple[str, bool]] | None,
        output_validator: _core.Validator | None,
        binding_id: str,
        home: Home,
    ) -> None:
        self.home = home
        self.mcp_identity = (source, remote)
        self.effect = effect
        self.concurrency_policy = concurrency
        self._origin = origin
        self._request_meta = request_meta
        self._output_validator = output_validator
        self._binding_id = binding_id
        self._tool: Tool | None = None

    def adopt(self, tool: Tool) -> None:
        """The tool whose calls these are."""
        self._tool = tool

    def settings(self, settings: Settings) -> Settings:
        """The settings of the tool: without a concurrency policy it runs like a local one."""
        policy = self.concurrency_policy
        if policy is None:
            return settings

        def concurrency(args: bytes) -> tuple[str, bool]:
            tool = self._tool
            if tool is None:
                return "", False
            try:
                admitted = tool.prepare(args, call_id="plan")
            except ToolwireError:
                # What is not admitted is never sent, so it stands in nobody's way.
                return "", True
            return policy(admitted)

        return replace(settings, concurrency=concurrency)

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        """A call of raw arguments, admitted first. Raises InvalidInvocation, and what `run_admitted` raises."""
        return await self.run_admitted(tool, tool.prepare(arguments, call_id=call_id()))

    async def run_admitted(self, tool: Tool, admitted: Invocation | Continuation) -> ToolOutput:
        """One `tools/call`, or the next round of one. Raises ToolFailure, RemoteCallError, InputRequest."""
        if not self.home.is_here():
            return await self.home.visit(lambda: self.run_admitted(tool, admitted))
        remote = self.mcp_identity[1]
        if isinstance(admitted, Continuation):
            next_round = resumed(admitted, remote=remote, binding=self._binding_id)
            admitted = Invocation(admitted.call_id, admitted.name, admitted.arguments, tool.binding.contract)
        else:
            next_round = Round()
        with client_span(remote) as trace:
            meta = {**call_meta(), **self._meta(admitted), **trace}
            try:
                result = await self._send(tool, admitted.arguments, meta, next_round)
            except RemoteCallError as error:
                raise _named(error, remote) from error.cause
            return self._outcome(tool, result, admitted, next_round)

    def _meta(self, invocation: Invocation) -> dict[str, Any]:
        """The host's `_meta` for one call; what the protocol reserves is never the host's."""
        given = None if self._request_meta is None else self._request_meta(invocation)
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"request_meta has to give a mapping at once, and gave {type(given).__name__}")
        return {
            name: value
            for name, value in (given or {}).items()
            if not name.startswith(_RESERVED) and name != "progressToken"
        }

    async def _send(self, tool: Tool, arguments: bytes, meta: Mapping[str, Any], next_round: Round) -> _core.CallResult:
        origin, settings = self._origin, tool.settings
        wire, limits = origin.wire, origin.limits
        timeout = limits.call_timeout if settings.timeout is None else settings.timeout or None
        remote = self.mcp_identity[1]
        # NaN in it is refused here, on every lane, before anything is sent.
        own = (
            json.dumps(meta, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()[1:-1] if meta else b""
        )
        heard = listener_of(tool)
        if wire is None or (not wire.open and wire.end_reason is None):
            return await origin.call(remote, arguments, timeout, meta=meta, more=next_round.params, on_progress=heard)
        entry: Any = tool.definition
        params = b'"name":' + (entry.name_json or b"") + b',"arguments":' + arguments + next_round.params
        lane, idle = wire.sdk, limits.idle_timeout

        def line(number: int) -> bytes:
            carried = lane.envelope if idle is None and heard is None else with_token(lane.envelope, number)
            return _core.request(number, "tools/call", params, b",".join(part for part in (carried, own) if part))

        label = (remote, wire)
        return call_result(await wire.express.send(line, label=label, timeout=timeout, idle=idle, on_progress=heard))

    def _outcome(self, tool: Tool, result: _core.CallResult, invocation: Invocation, next_round: Round) -> ToolOutput:
        source, remote = self.mcp_identity
        kind = result.result_type
        if kind == "input_required":
            raise input_request(
                result.text,
                invocation,
                source=source,
                remote=remote,
                binding=self._binding_id,
                negotiated=self._origin.takes_forms,
                round_number=next_round.number,
            )
        if kind is not None and kind != "complete":
            raise RemoteCallError(f"call tool {quoted(remote)}: a result of an unknown type {kind!r}", raw=result.text)
        settings = tool.settings
        output = DiscoveredOutput(result, settings.render, settings.max_result_bytes)
        if output.fault is not None:
            index, error = output.fault
            raise ResultError(f"tool content[{index}]: {error}", output=output, raw=result.text, error=error) from error
        if result.is_error:
            raise _failure(output, remote)
        if self._output_validator is not None:
            _check(self._output_validator, output, remote)
        return output


def _check(validator: _core.Validator, output: DiscoveredOutput, remote: str) -> None:
    structured = output.structured
    detail = "it is absent" if structured is None else mismatch(validator, structured)
    if detail is not None:
        text = f"tool {quoted(remote)} structured content does not match its output schema: {detail}"
        raise ResultError(text, output=output, raw=output.raw)


def _failure(output: DiscoveredOutput, remote: str) -> ToolFailure:
    cause = ToolwireError(f"mcp: tool {quoted(remote)} reported failure")
    if not output.parts and output.structured is None:
        output = output.with_text(str(cause))
    return ToolFailure(output.text or str(cause), output=output, remote=True, cause=cause)


def _named(error: RemoteCallError, remote: str) -> RemoteCallError:
    """The same error, naming the tool (5.1)."""
    text = "server returned a nil result" if _is_nil(error.raw) else str(error).removeprefix("mcp: ")
    return error.saying(f"call tool {quoted(remote)}: {text}")


def _is_nil(raw: bytes | None) -> bool:
    """The answer, or the result alone where the SDK had the answer, says `null`."""
    if raw is None or len(raw) > _SHORT:
        return False
    try:
        return raw == b"null" or _core.members(raw).get("result") == b"null"
    except ValueError:
        return False


_SHORT = 1024
"""Bytes of an answer with nothing in it but its id, at most."""
