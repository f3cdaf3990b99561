"""Registration that leaks nothing: a definite failure is a result, all else one fixed error (many-sources 5.2, 6.1)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from mcp_types import INTERNAL_ERROR

from toolwire import _core
from toolwire.bridge.exporting import AnyServer, exported_on
from toolwire.bridge.result_encoding import result_json
from toolwire.bridge.served_tool import ExpressRequest, goes_on
from toolwire.bridge.tracing import Mark, server_span
from toolwire.bridge.turns import Turns
from toolwire.contract.authorization import AuthorizationError
from toolwire.contract.binding import Binding, Registry
from toolwire.contract.current import serving
from toolwire.contract.input_round import InputRequest
from toolwire.contract.invocation import InputValidationDefect, InvalidInvocation
from toolwire.contract.local_tool import LocalDefinition
from toolwire.contract.output import ToolOutput
from toolwire.contract.tool_object import Tool
from toolwire.errors import (
    NilServerError,
    RegistrationError,
    ToolFailure,
    ToolwireError,
    UnexpectedFailure,
    quoted,
)
from toolwire.wire.served_calls import Answered, Asked

__all__ = ["FIXED", "RegisteredTool", "register"]

logger = logging.getLogger("toolwire.bridge")

FIXED = "tool call did not produce a valid result"
"""All that a client hears of what is no definite outcome."""

_WRAPPED = 64
"""Wrappers around a failure that are looked through."""


def register(server: AnyServer, *tools: Any) -> None:
    """Serves admitted tools: Bindings, Tools, or objects with `definition()` and `call()`, which are bound here.

    The whole batch is checked first; a batch that is refused adds nothing. Arguments that are not admitted and a
    ToolFailure that a tool raises, wrapped or not, are results that the client's model reads; anything else that it
    raises is error -32603 with a fixed text, and goes to the log of `toolwire.bridge` at debug level. Raises
    NilServerError, RegistrationError.
    """
    if server is None:
        raise NilServerError
    registry = Registry()
    try:
        registry.register(*tools)
    except ToolwireError as error:
        raise RegistrationError(f"mcp: register tools: {error}") from error
    exported = exported_on(server)
    taken = exported.taken()
    for binding in registry:
        name = quoted(binding.contract.name)
        if binding.contract.name in taken:
            raise RegistrationError(f"mcp: register tools: toolwire: duplicate tool: {name} is already registered")
        if isinstance(binding.tool, Tool) and binding.tool.settings.require_approval:
            raise RegistrationError(
                f"mcp: register tools: tool {name} requires approval and MCP has no approval channel; "
                "expose it through serve_agent, whose dispatch answers gated calls with the approval error"
            )
    ordered = sorted(registry, key=lambda binding: binding.contract.name.encode())
    exported.add([RegisteredTool(binding) for binding in ordered])


class RegisteredTool:
    """One admitted tool on a server. Its descriptor is what its contract froze: name, description, input schema."""

    def __init__(self, binding: Binding) -> None:
        self._binding = binding
        contract = binding.contract
        self.name = contract.name
        self._entry = LocalDefinition(contract.name, contract.description, contract.input_schema).text
        tool = binding.tool if isinstance(binding.tool, Tool) else None
        self.needs_sdk_context = tool is not None and bool(getattr(tool.carrier, "needs_sdk_context", False))
        self._turns = Turns() if tool is not None and tool.settings.sequential_by_policy else nullcontext()

    def members(self) -> Mapping[str, bytes]:
        """The listing entry's members, each with its exact bytes."""
        return _core.members(self._entry)

    async def run(self, asked: Asked, call: _core.ServedCall, stamp: bytes | None, /) -> bytes:
        """One call on the express lane: the line that answers it."""
        serving.set(ExpressRequest(asked, call))
        return _core.answer(call.id_json, await self.result(call.arguments or b"{}", stamp))

    async def result(self, arguments: bytes, stamp: bytes | None) -> bytes:
        """The result of one call. Raises Answered for what is no definite outcome."""
        try:
            with server_span(self.name) as mark:
                return await self._outcome(arguments, stamp, mark)
        except BaseException as error:
            if goes_on(error):
                raise
            # Whatever it is, not a word of it leaves the house: not as a text, a cause or a context.
            logger.debug("registered tool %r gave no valid result", self.name, exc_info=error)
        raise Answered(INTERNAL_ERROR, FIXED)

    async def _outcome(self, arguments: bytes, stamp: bytes | None, mark: Mark) -> bytes:
        try:
            invocation = self._binding.contract.prepare(arguments, call_id=f"mcp/{self.name}")
        except InputValidationDefect:
            raise
        except InvalidInvocation as error:
            mark(error)
            return _core.text_result(str(error), None, True, stamp)
        try:
            async with self._turns:
                output = await self._binding.call(invocation)
        except Exception as error:
            failure = _definite(error)
            if failure is None:
                raise
            output = _output_of(failure)
            mark(failure)
            return result_json(output, is_error=True, stamp=stamp)
        if not isinstance(output, ToolOutput):
            raise ToolwireError("toolwire: invalid tool output: it is none")
        return result_json(output, is_error=False, stamp=stamp)


def _definite(error: BaseException) -> ToolFailure | None:
    """The failure in a chain of wrappers: `raise … from failure` keeps its outcome.

    What happened while a failure was handled is no wrapper of it, and what a guard could not decide is none either.
    """
    seen: BaseException | None = error
    for _ in range(_WRAPPED):
        if seen is None or isinstance(seen, AuthorizationError | InputRequest):
            return None
        if isinstance(seen, ToolFailure) and not isinstance(seen, UnexpectedFailure):
            return seen
        seen = seen.cause if isinstance(seen, UnexpectedFailure) else seen.__cause__
    return None


_KINDS = ("failed", "rejected", "invalid_input")


def _output_of(failure: ToolFailure) -> ToolOutput:
    """All that a failure shows. Raises ToolwireError for one that says nothing, or is of no kind."""
    if failure.kind not in _KINDS:
        raise ToolwireError(f"toolwire: invalid failure: kind {quoted(str(failure.kind))}")
    output = failure.output
    if isinstance(output, ToolOutput):
        return output
    if output is not None:
        raise ToolwireError("toolwire: invalid failure: output: it is none")
    text = str(failure)
    if not text:
        raise ToolwireError("toolwire: invalid failure: failed outcome requires a cause")
    return ToolOutput(text)
