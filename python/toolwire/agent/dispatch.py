"""One call through the chain: agent middleware, tool middleware, approval, decode, handler.

Here failures are raised; the run turns them into what the model reads (`outcome_of`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from toolwire.agent.errors import ApprovalRequired, CallPanicked, InputAsked, NoSuchTool
from toolwire.agent.middleware import Call, Middleware, chain
from toolwire.agent.result import digest_of
from toolwire.contract.input_round import Continuation, InputRequest
from toolwire.contract.local_calls import text_of
from toolwire.contract.output import ToolOutput
from toolwire.contract.tool_object import Tool
from toolwire.errors import ToolError, ToolFailure
from toolwire.loops import goes_on

__all__ = ["contained", "dispatch"]

NONE_APPROVED: Mapping[str, str] = MappingProxyType({})
NONE_GOES_ON: Mapping[str, Continuation] = MappingProxyType({})


async def dispatch(
    call: Call,
    tools: Mapping[str, Tool],
    middleware: Sequence[Middleware],
    *,
    strict: bool,
    approved: Mapping[str, str] = NONE_APPROVED,
    continuations: Mapping[str, Continuation] = NONE_GOES_ON,
) -> ToolOutput:
    """Runs one call, or goes on with one that asked for input. Raises ToolError and whatever a middleware raises.

    `approved` are ids with the digest of what was approved: anything else under the id needs an approval of its own.
    """
    tool = tools.get(call.name)
    base = partial(_base, tool, strict, approved, continuations)
    layers = middleware if tool is None else (*middleware, *tool.settings.middleware)
    return await chain(layers, base)(Call(call.id, call.name, call.args, tool)) if layers else await base(call)


async def _base(
    tool: Tool | None, strict: bool, approved: Mapping[str, str], continuations: Mapping[str, Continuation], call: Call
) -> ToolOutput:
    if tool is None:
        raise NoSuchTool(call.name)
    if call.id in continuations:
        return await tool.resume(continuations[call.id])
    if call.id in approved:
        # Here, behind all middleware: what was approved is what is sent.
        if digest_of(tool.name, call.args, tool.fingerprint) != approved[call.id]:
            raise ApprovalRequired(call.name, args=call.args)
    elif tool.settings.require_approval and needs_approval(tool, call):
        raise ApprovalRequired(call.name, args=call.args)
    output: ToolOutput = await carrier(tool, strict).call(tool, call.args)
    return output


def needs_approval(tool: Tool, call: Call) -> bool:
    """The tool's policy asks for an approval of this call."""
    rule = tool.settings.approval_rule
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
    except InputRequest as request:
        return InputAsked(call.name, request)
    except Exception as error:  # noqa: BLE001 - whatever a handler or a middleware raises is data
        return ToolFailure(text_of(error), cause=error)
    except BaseException as error:
        # Design 4.5: SystemExit and a panic of Rust are data too, and a cancellation that nobody asked for.
        if goes_on(error):
            raise
        return CallPanicked(call.name, text_of(error), error)
