"""Registration that leaks nothing: a definite failure is a result, everything else one fixed error (spec many-sources 5.2, 6.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from mcp_types import INTERNAL_ERROR

from toolwire import _core
from toolwire.bridge.exporting import AnyServer, exported_on
from toolwire.bridge.result_encoding import encode_parts
from toolwire.bridge.served_tool import ExpressRequest
from toolwire.bridge.tracing import server_span
from toolwire.contract.binding import Binding, Registry
from toolwire.contract.current import serving
from toolwire.contract.invocation import InputValidationDefect, InvalidInvocation
from toolwire.contract.local_tool import LocalDefinition
from toolwire.contract.output import ToolOutput
from toolwire.errors import NilServerError, RegistrationError, ToolFailure, ToolwireError, quoted
from toolwire.wire.served_calls import Answered
from toolwire.wire.server import ServerWire

__all__ = ["RegisteredTool", "register"]

FIXED = "tool call did not produce a valid result"
"""All that a client hears of what is no definite outcome."""


def register(server: AnyServer, *tools: Any) -> None:
    """Serves admitted tools: Bindings, Tools, or objects with `definition()` and `call()`, which are bound here.

    The whole batch is checked first; a batch that is refused adds nothing. Arguments that are not admitted and a
    ToolFailure are results that the client's model reads; anything else is error −32603 with a fixed text. Raises
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
        if binding.contract.name in taken:
            raise RegistrationError(
                f"mcp: register tools: toolwire: duplicate tool: {quoted(binding.contract.name)} is already registered"
            )
    ordered = sorted(registry, key=lambda binding: binding.contract.name.encode())
    exported.add([RegisteredTool(binding) for binding in ordered])


class RegisteredTool:
    """One admitted tool on a server. Its descriptor is what its contract froze: name, description, input schema."""

    needs_sdk_context = False

    def __init__(self, binding: Binding) -> None:
        self._binding = binding
        self.name = binding.contract.name
        contract = binding.contract
        self._entry = LocalDefinition(contract.name, contract.description, contract.input_schema).text

    def members(self) -> Mapping[str, bytes]:
        """The listing entry's members, each with its exact bytes."""
        return _core.members(self._entry)

    async def run(self, wire: ServerWire, call: _core.ServedCall, stamp: bytes | None, /) -> bytes:
        """One call on the express lane: the line that answers it."""
        serving.set(ExpressRequest(wire, call))
        return _core.answer(call.id_json, await self.result(call.arguments or b"{}", stamp))

    async def result(self, arguments: bytes, stamp: bytes | None) -> bytes:
        """The result of one call. Raises Answered for what is no definite outcome."""
        try:
            with server_span(self.name):
                return await self._outcome(arguments, stamp)
        except (anyio.get_cancelled_exc_class(), KeyboardInterrupt, GeneratorExit, Answered):
            raise
        except BaseException:  # noqa: BLE001 - whatever it is, not a word of it leaves the house
            raise Answered(INTERNAL_ERROR, FIXED) from None

    async def _outcome(self, arguments: bytes, stamp: bytes | None) -> bytes:
        try:
            invocation = self._binding.contract.prepare(arguments, call_id=f"mcp/{self.name}")
        except InputValidationDefect:
            raise
        except InvalidInvocation as error:
            return _core.text_result(str(error), None, True, stamp)
        try:
            output = await self._binding.call(invocation)
        except BaseException as error:
            failure = _definite(error)
            if failure is None:
                raise
            return _encoded(failure.output, stamp, is_error=True)
        return _encoded(output, stamp, is_error=False)


def _definite(error: BaseException) -> ToolFailure | None:
    """The failure in a chain of wrappers: wrapping one keeps its outcome."""
    seen: BaseException | None = error
    for _ in range(64):
        if seen is None or isinstance(seen, ToolFailure):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None


def _encoded(output: Any, stamp: bytes | None, *, is_error: bool) -> bytes:
    if not isinstance(output, ToolOutput):
        raise ToolwireError("toolwire: invalid tool output: it is none")
    content, structured = encode_parts(output)
    carried = structured if stamp is not None or (structured or b"").lstrip()[:1] == b"{" else None
    return _core.content_result(content, carried, is_error, None, stamp)
