"""One call through the chain: agent middleware, tool middleware, approval, decode, handler.

Here failures are raised; the run turns them into what the model reads (`outcome_of`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from toolwire.agent.errors import ApprovalRequired, CallPanicked, NoSuchTool
from toolwire.agent.middleware import Call, Middleware, chain
from toolwire.contract.current import current_call
from toolwire.contract.output import ToolOutput
from toolwire.contract.tool_object import Tool
from toolwire.errors import ToolError, ToolFailure

__all__ = ["contained", "dispatch"]


async def dispatch(
    call: Call, tools: Mapping[str, Tool], middleware: Sequence[Middleware], *, strict: bool, approved: bool
) -> ToolOutput:
    """Runs one call. Raises ToolError and whatever a middleware raises."""
    tool = tools.get(call.name)
    layers = [*middleware, *(tool.settings.middleware if tool is not None else ())]

    async def base(call: Call) -> ToolOutput:
        if tool is None:
            raise NoSuchTool(call.name)
        if needs_approval(tool, call) and not approved:
            raise ApprovalRequired(call.name)
        return await carrier(tool, strict).call(tool, call.args)

    return await chain(layers, base)(Call(call.id, call.name, call.args, tool))


def needs_approval(tool: Tool, call: Call) -> bool:
    """The tool's policy asks for an approval of this call."""
    settings = tool.settings
    if not settings.require_approval:
        return False
    rule = settings.approval_rule
    return True if rule is None else bool(rule(ApprovalCase(tool, call)))


class ApprovalCase:
    """What an approval rule may look at."""

    __slots__ = ("_tool", "args", "name")

    def __init__(self, tool: Tool, call: Call) -> None:
        self._tool = tool
        self.name = call.name
        self.args = call.args

    @property
    def annotations(self) -> bytes | None:
        """The tool's annotations, exact JSON. Hints of its owner."""
        return self._tool.annotations

    @property
    def fingerprint(self) -> str:
        """The tool's fingerprint."""
        return self._tool.fingerprint


def carrier(tool: Tool, strict: bool) -> Any:
    """Who carries the tool's calls: the strict form of a function where the agent wants strict input."""
    caller: Any = tool.caller
    return caller.strict(tool.name) if strict and hasattr(caller, "strict") else caller


async def contained(call: Call, job: Any) -> ToolOutput | ToolError:
    """What a call came to: its output, or the error that the model reads. Cancellation and KeyboardInterrupt go on."""
    try:
        output: ToolOutput = await job(call)
        return output
    except ToolError as error:
        return error
    except Exception as error:
        return ToolFailure(str(error) or type(error).__name__, cause=error)
    except (anyio.get_cancelled_exc_class(), KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        return CallPanicked(call.name, error)


def approved_here(call: Call) -> bool:
    """The running call of the run is this one, and somebody approved it. A call inside a call inherits nothing."""
    context = current_call()
    return context is not None and context.approved and context.call_id == call.id
