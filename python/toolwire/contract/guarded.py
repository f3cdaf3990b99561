"""Tools with a guard or a validator of their own: whoever calls one, by whatever door, its calls are admitted first."""

from __future__ import annotations

from typing import Any

from toolwire.contract.authorization import authorize
from toolwire.contract.current import current_call
from toolwire.contract.input_round import Continuation, ContinuationBindingError
from toolwire.contract.invocation import Invocation
from toolwire.contract.output import ToolOutput
from toolwire.contract.policies import Settings

__all__ = ["Guarded", "call_id", "run_admitted"]


def call_id() -> str:
    """The id of the call that runs here, for an invocation that nobody gave one."""
    context = current_call()
    return context.call_id if context is not None and context.call_id else "call"


async def run_admitted(caller: Any, tool: Any, admitted: Invocation | Continuation) -> ToolOutput:
    """An admitted call, once its tool's guard allows it.

    Raises AuthorizationError, ToolFailure, and what the caller raises.
    """
    settings: Settings = tool.settings
    if settings.authorizer is not None:
        await authorize(settings.authorizer, tool.name, admitted)
    run = getattr(caller, "run_admitted", None)
    if run is not None:
        output: ToolOutput = await run(tool, admitted)
    elif isinstance(admitted, Continuation):
        raise ContinuationBindingError(tool.name)
    else:
        output = await caller.call(tool, admitted.arguments)
    return output


class Guarded:
    """A caller behind the guard of its tools. What else the caller has is to be had here, too."""

    __slots__ = ("_caller",)

    def __init__(self, caller: Any) -> None:
        self._caller = caller

    async def call(self, tool: Any, arguments: bytes | str) -> ToolOutput:
        """One call of raw arguments. Raises InvalidInvocation, and what `run_admitted` raises."""
        return await run_admitted(self._caller, tool, tool.prepare(arguments, call_id=call_id()))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._caller, name)
        if name == "strict":
            return lambda tool: Guarded(found(tool))
        if name == "run_admitted":
            # The way past the guard: only a tool's own binding has it.
            raise AttributeError(name)
        return found
