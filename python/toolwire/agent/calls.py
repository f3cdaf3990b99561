"""The calls of one step: each under its deadline and its cap, contained; its result is for the model and for hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING

from toolwire.agent.detached import DeadlineReached, within
from toolwire.agent.dispatch import NONE_APPROVED, NONE_GOES_ON, contained, dispatch
from toolwire.agent.errors import ApprovalRequired, InputAsked, ModelRetry
from toolwire.agent.middleware import Call
from toolwire.agent.result import PendingCall
from toolwire.agent.scheduling import BESIDE, Overlap, run_all
from toolwire.contract.caps import Cap
from toolwire.contract.current import CallContext, calling
from toolwire.contract.durations import spelled
from toolwire.contract.input_round import Continuation
from toolwire.contract.message import ToolCallPart, ToolResultPart
from toolwire.contract.output import ToolOutput
from toolwire.contract.tool_object import Tool
from toolwire.errors import RemoteCallError, ToolError, ToolFailure, quoted

if TYPE_CHECKING:
    from toolwire.agent.run import Run

__all__ = ["StepCalls", "current_run"]

current_run: ContextVar[Run | None] = ContextVar("toolwire.run", default=None)
"""The run whose call this is: how a subagent finds its parent."""


class StepCalls:
    """Runs the calls of one step of `run` over the tools that were offered.

    `approved` are ids with the digest of what was approved, `continuations` answers to what a call asked.
    """

    def __init__(
        self,
        run: Run,
        tools: Mapping[str, Tool],
        approved: Mapping[str, str] = NONE_APPROVED,
        continuations: Mapping[str, Continuation] = NONE_GOES_ON,
    ) -> None:
        agent = run.agent
        self._run = run
        self._tools = tools
        self._decided = {*approved, *continuations}
        self._default_cap = Cap(agent.max_result_bytes)
        self._chain = partial(
            dispatch,
            tools=tools,
            middleware=agent.middleware,
            strict=agent.strict_input,
            approved=approved,
            continuations=continuations,
        )

    async def execute(self, calls: Sequence[ToolCallPart]) -> list[ToolResultPart]:
        """The results in call order. Calls that wait for approval are on the run's `pending` instead, in call order."""
        results = await run_all(calls, self._overlap, self._start, self._one, self._run.agent.parallelism)
        order = {call.id: index for index, call in enumerate(calls)}
        self._run.pending.sort(key=lambda pending: order.get(pending.id, -1))
        return [result for result in results if result is not None]

    def _overlap(self, call: ToolCallPart) -> Overlap:
        tool = self._tools.get(call.name)
        return BESIDE if tool is None else self._run.agent.overlap(tool, call)

    def _start(self, call: ToolCallPart) -> None:
        run = self._run
        if run.events.heard:
            run.events.emit("tool_start", step=run.step, call_id=call.id, name=call.name, args=call.args)

    async def _one(self, call: ToolCallPart) -> ToolResultPart | None:
        run, tool = self._run, self._tools.get(call.name)
        here = calling.set(CallContext(run.id, run.step, call.id, call.name, call.id in self._decided))
        above = current_run.set(run)
        run.calls_running.add(call.id)
        try:
            outcome = await self._outcome(call, tool)
        finally:
            run.calls_running.discard(call.id)
            current_run.reset(above)
            calling.reset(here)
        if isinstance(outcome, ApprovalRequired):
            fingerprint = tool.fingerprint if tool is not None else ""
            args = call.args if outcome.arguments is None else outcome.arguments
            run.pending.append(PendingCall(call.id, call.name, args, fingerprint))
            return None
        if isinstance(outcome, InputAsked):
            fingerprint = tool.fingerprint if tool is not None else ""
            asked = PendingCall(call.id, call.name, call.args, fingerprint, "input", outcome.request)
            run.pending.append(asked)
            return None
        run.count_retry(call.name, isinstance(outcome, ModelRetry))
        result = self.answer(call, tool, outcome)
        if run.events.heard:
            run.events.emit(
                "tool_finish",
                step=run.step,
                call_id=call.id,
                name=call.name,
                content=result.content,
                is_error=result.is_error,
            )
        return result

    async def _outcome(self, call: ToolCallPart, tool: Tool | None) -> ToolOutput | ToolError:
        own = tool.settings.timeout if tool is not None else None
        limit = (self._run.agent.timeout if own is None else own) or None
        request, job = Call(call.id, call.name, call.args), self._chain
        if limit is None:
            return await contained(request, job)
        try:
            outcome = await within(limit, partial(contained, request, job))
        except DeadlineReached:
            return _timed_out(call.name, limit)
        # An imported tool's own timeout also stands in the call itself, which may be the first to notice.
        if own is not None and isinstance(outcome, RemoteCallError) and isinstance(outcome.cause, TimeoutError):
            return _timed_out(call.name, limit)
        return outcome

    def answer(self, call: ToolCallPart, tool: Tool | None, outcome: ToolOutput | ToolError | str) -> ToolResultPart:
        """What answers a call: the text under its cap, and the whole output beside it."""
        output: ToolOutput | None = None
        if isinstance(outcome, ToolOutput):
            output, text = outcome, outcome.whole_text
        else:
            text = str(outcome)
            if isinstance(outcome, ToolFailure) and isinstance(outcome.output, ToolOutput):
                output = outcome.output
                if text == output.text:
                    text = output.whole_text
        settings = tool.settings if tool is not None else None
        cap = self._default_cap
        if settings is not None and settings.max_result_bytes is not None:
            cap = Cap(settings.max_result_bytes, settings.keep, settings.spill_path)
        is_error = isinstance(outcome, ToolError) or (isinstance(outcome, ToolOutput) and outcome.is_error)
        return ToolResultPart(call.id, call.name, cap.apply(text), is_error, output)


def _timed_out(name: str, limit: float) -> ToolError:
    return ToolError(f"tool {quoted(name)} timed out after {spelled(limit)}", "", TimeoutError())
