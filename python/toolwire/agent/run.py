"""The loop: ask the model, run its calls, answer them, until nothing is left to do (spec one-session 2.7).

A tool's failure is data that the model reads; what ends a run is a RunError that carries the run so far.
"""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from toolwire.agent.detached import DeadlineReached, within
from toolwire.agent.dispatch import contained, dispatch
from toolwire.agent.errors import ApprovalRequired, MaxSteps, ModelRetry, run_error
from toolwire.agent.events import Event, Events, OnEvent
from toolwire.agent.middleware import Call
from toolwire.agent.model import ModelRequest, ModelTool, Usage
from toolwire.agent.result import PendingCall, RunResult, Step, digest_of
from toolwire.agent.resume import INTERRUPTED, Decisions, open_calls, still_stands
from toolwire.agent.scheduling import Overlap, run_all
from toolwire.agent.stream import Answer, ask
from toolwire.contract.caps import Cap
from toolwire.contract.current import CallContext, calling
from toolwire.contract.durations import spelled
from toolwire.contract.message import Message, ToolCallPart, ToolResultPart, without_marks
from toolwire.contract.output import ToolOutput
from toolwire.contract.tool_object import Tool
from toolwire.errors import RemoteCallError, ToolError, ToolwireError, quoted

if TYPE_CHECKING:
    from toolwire.agent.agent import Agent

__all__ = ["Run", "agents_running", "current_run"]

current_run: ContextVar[Run | None] = ContextVar("toolwire.run", default=None)
"""The run whose call this is: how a subagent finds its parent."""

agents_running: ContextVar[tuple[int, ...]] = ContextVar("toolwire.agents_running", default=())
"""The agents whose runs this is inside of, by identity: how a cycle is seen before it costs a model call."""


class Run:
    """One run of an agent. Used once."""

    def __init__(
        self,
        agent: Agent,
        messages: Sequence[Message],
        prompt: str | None,
        *,
        decisions: Decisions,
        run_id: str | None,
        only_tools: Sequence[str] | None,
        max_steps: int | None,
        listener: OnEvent | None,
        parent: Run | None,
    ) -> None:
        self.agent = agent
        self.id = run_id or secrets.token_hex(16)
        self.parent = parent
        self.events = Events(self.id, listener)
        self.messages = list(messages)
        self.steps: list[Step] = []
        self.usage = Usage()
        self.child_usage: dict[str, Usage] = {}
        self.pending: list[PendingCall] = []
        self._prompt = prompt
        self._decisions = decisions
        self._only = None if only_tools is None else set(only_tools)
        limits = [limit for limit in (agent.max_steps, max_steps) if limit is not None]
        self._max_steps = min(limits)
        self._step = 0
        self._where = "0"
        self._retries: dict[str, int] = {}
        self._repeats = 0
        self._last_calls: list[tuple[str, bytes]] = []

    def result(self, stop_reason: str) -> RunResult:
        """The run so far."""
        return RunResult(
            self.id, stop_reason, tuple(self.messages), tuple(self.steps), self.usage, tuple(self.pending)
        )

    async def go(self) -> RunResult:
        """Runs to the end. Raises RunError; cancellation goes through."""
        self.events.emit("run_start")
        token = agents_running.set((*agents_running.get(), id(self.agent)))
        try:
            result = await self._loop()
        except (ToolwireError, ValueError, OSError) as error:
            failure = run_error(self._step, error, self.result("error"))
            self.events.emit("run_finish", result=failure.result)
            await _tell(self.agent.on_run_end, failure)
            raise failure from error
        finally:
            agents_running.reset(token)
        self.events.emit("run_finish", result=result)
        await _tell(self.agent.on_run_end, result)
        return result

    async def _loop(self) -> RunResult:
        tools = await self.agent.snapshot()
        await self._resume(tools)
        if self._prompt is not None:
            self.messages.append(Message("user", self._prompt))
        if self.pending:
            return self.result("pending")
        while True:
            if self._step >= self._max_steps:
                raise MaxSteps
            if self._step > 0:
                tools = await self.agent.snapshot()
            reason = await self._one_step(tools)
            self._step += 1
            self._where = str(self._step)
            if reason is not None:
                return self.result(reason)
            self._check_budget()

    async def _one_step(self, tools: Mapping[str, Tool]) -> str | None:
        self.events.emit("step_start", step=self._step)
        before = self.usage
        self.child_usage = {}
        answer = await self._ask(tools)
        self.usage += answer.usage
        results: Message | None = None
        if answer.message.parts:
            self.messages.append(answer.message)
        calls = answer.message.calls
        if calls:
            results = await self._run_calls(calls, tools, answer)
        used = Usage(
            self.usage.input_tokens - before.input_tokens, self.usage.output_tokens - before.output_tokens
        )
        self.steps.append(Step(self._step, answer.message, used, results, dict(self.child_usage)))
        self.events.emit("step_finish", step=self._step)
        if self.pending:
            return "pending"
        view = self.result("")
        for condition in self.agent.stop_when:
            if condition(view):
                return str(getattr(condition, "name", getattr(condition, "__name__", "stop_when")))
        if not calls:
            return "max_tokens" if answer.reason == "max_tokens" else "stop"
        return None

    async def _ask(self, tools: Mapping[str, Tool]) -> Answer:
        agent = self.agent
        offered = [tool for tool in tools.values() if self._only is None or tool.name in self._only]
        system = "\n\n".join(
            text for text in (agent.instructions, *(tool.settings.prompt_snippet for tool in offered)) if text
        )
        request = ModelRequest(
            system,
            [without_marks(message) for message in self.messages],
            [ModelTool(tool.name, tool.description, tool.input_schema.raw) for tool in offered],
            sequential_tools=agent.sequential,
        )
        if agent.prepare_step is not None:
            prepared = agent.prepare_step(self._step, request)
            prepared = await prepared if inspect.isawaitable(prepared) else prepared
            request = prepared or request
        step = self._step
        return await ask(agent.running_model, request, lambda kind, text: self.events.emit(kind, step=step, text=text))

    # Calls

    async def _run_calls(
        self, calls: Sequence[ToolCallPart], tools: Mapping[str, Tool], answer: Answer
    ) -> Message | None:
        if answer.reason == "max_tokens":
            cut_off = "tool call {} was not executed: the response hit the output token limit"
            results = [ToolResultPart(call.id, call.name, cut_off.format(call.name), True) for call in calls]
        else:
            done = await self._execute(calls, tools, approved=frozenset())
            results = [result for result in done if result is not None]
            self._watch(calls)
        marks = {call.id: call.digest for call in self.pending}
        if marks:
            assistant = self.messages[-1]
            self.messages[-1] = assistant.with_parts(
                ToolCallPart(part.id, part.name, part.args, marks.get(part.id, ""))
                if isinstance(part, ToolCallPart)
                else part
                for part in assistant.parts
            )
        if not results:
            return None
        message = Message("tool", results)
        self.messages.append(message)
        return message

    async def _execute(
        self, calls: Sequence[ToolCallPart], tools: Mapping[str, Tool], approved: frozenset[str]
    ) -> list[ToolResultPart | None]:
        def overlap(call: ToolCallPart) -> Overlap:
            tool = tools.get(call.name)
            return self.agent.overlap(tool, call) if tool is not None else Overlap()

        def start(call: ToolCallPart) -> None:
            self.events.emit("tool_start", step=self._step, call_id=call.id, name=call.name, args=call.args)

        async def run(call: ToolCallPart) -> ToolResultPart | None:
            return await self._one_call(call, tools, call.id in approved)

        order = {call.id: index for index, call in enumerate(calls)}
        results = await run_all(calls, overlap, start, run, self.agent.parallelism)
        self.pending.sort(key=lambda pending: order.get(pending.id, -1))
        return results

    async def _one_call(
        self, call: ToolCallPart, tools: Mapping[str, Tool], approved: bool
    ) -> ToolResultPart | None:
        tool = tools.get(call.name)
        limit = self._timeout_of(tool)
        calling.set(CallContext(self.id, self._step, call.id, call.name, approved))
        current_run.set(self)
        job = partial(
            dispatch,
            tools=tools,
            middleware=self.agent.middleware,
            strict=self.agent.strict_input,
            approved=approved,
        )
        request = Call(call.id, call.name, call.args)
        outcome: ToolOutput | ToolError
        try:
            if limit is None:
                outcome = await contained(request, job)
            else:
                outcome = await within(limit, partial(contained, request, job))
        except DeadlineReached:
            outcome = _timed_out(call.name, limit or 0.0)
        if isinstance(outcome, RemoteCallError) and limit is not None and isinstance(outcome.cause, TimeoutError):
            outcome = _timed_out(call.name, limit)
        if isinstance(outcome, ApprovalRequired):
            self.pending.append(PendingCall(call.id, call.name, call.args, tool.fingerprint if tool else ""))
            return None
        self._count_retry(call.name, isinstance(outcome, ModelRetry))
        is_error = isinstance(outcome, ToolError)
        text = self._cap_of(tool).apply(str(outcome) if isinstance(outcome, ToolError) else outcome.text)
        self.events.emit(
            "tool_finish", step=self._step, call_id=call.id, name=call.name, content=text, is_error=is_error
        )
        return ToolResultPart(call.id, call.name, text, is_error)

    def _timeout_of(self, tool: Tool | None) -> float | None:
        own = tool.settings.timeout if tool is not None else None
        limit = self.agent.timeout if own is None else own
        return limit or None

    def _cap_of(self, tool: Tool | None) -> Cap:
        settings = tool.settings if tool is not None else None
        if settings is None or settings.max_result_bytes is None:
            return Cap(self.agent.max_result_bytes)
        return Cap(settings.max_result_bytes, settings.keep, settings.spill_path)

    # Resuming

    async def _resume(self, tools: Mapping[str, Tool]) -> None:
        found = open_calls(self.messages)
        if found is None:
            if self._decisions:
                word, ids = next(
                    (word, ids)
                    for word in ("approve", "deny", "resolve")
                    if (ids := getattr(self._decisions, word))
                )
                raise ToolwireError(f"{word}: call {quoted(next(iter(ids)))} is not pending in this run's transcript")
            return
        decisions = self._decisions
        if not decisions:
            repaired = [ToolResultPart(call.id, call.name, INTERRUPTED, True) for call in found.calls]
            self.messages = found.completed(self.messages, repaired, {})
            return
        found.check(decisions)
        self._where = "resume"
        results: list[ToolResultPart] = []
        to_run: list[ToolCallPart] = []
        for call in found.calls:
            tool = tools.get(call.name)
            if call.id in decisions.approve:
                fingerprint = tool.fingerprint if tool is not None else ""
                if still_stands(call, decisions.approve[call.id], fingerprint):
                    to_run.append(call)
                else:
                    # The tool or the bytes are not what somebody looked at: they are asked again.
                    self.pending.append(PendingCall(call.id, call.name, call.args, fingerprint))
            elif call.id in decisions.resolve:
                text = self._cap_of(tool).apply(_resolved(decisions.resolve[call.id]))
                results.append(ToolResultPart(call.id, call.name, text))
            else:
                reason = decisions.deny.get(call.id, "no decision") or "no reason given"
                results.append(ToolResultPart(call.id, call.name, f"DENIED: {reason}", True))
        done = await self._execute(to_run, tools, frozenset(call.id for call in to_run))
        results += [result for result in done if result is not None]
        marks = {call.id: digest_of(call.name, call.args, call.fingerprint) for call in self.pending}
        self.messages = found.completed(self.messages, results, marks)
        self._where = "0"

    # What a subagent's call needs of its parent

    def child_id(self, call_id: str) -> str:
        """The id of the run that the call `call_id` starts."""
        return f"{self.id}/{self._where}/{call_id}"

    def nest(self, call_id: str, event: Event) -> None:
        """A child's event, as one of ours."""
        self.events.emit("nested", step=self._step, call_id=call_id, event=event)

    def add_child_usage(self, call_id: str, usage: Usage) -> None:
        """What a child used counts as ours."""
        self.usage += usage
        self.child_usage[call_id] = self.child_usage.get(call_id, Usage()) + usage

    # Budgets

    def _count_retry(self, name: str, retried: bool) -> None:
        self._retries[name] = self._retries.get(name, 0) + 1 if retried else 0

    def _watch(self, calls: Sequence[ToolCallPart]) -> None:
        now = [(call.name, call.args) for call in calls]
        self._repeats = self._repeats + 1 if now == self._last_calls else 1
        self._last_calls = now

    def _check_budget(self) -> None:
        agent = self.agent
        for name, count in self._retries.items():
            if count > agent.max_model_retries:
                raise ToolwireError(f"tool {quoted(name)} asked for more than {agent.max_model_retries} retries")
        if agent.usage_limit is not None and self.usage.total > agent.usage_limit:
            raise ToolwireError(f"toolwire: run exceeded its usage limit of {agent.usage_limit} tokens")
        if agent.detect_loops and self._repeats >= agent.detect_loops:
            raise ToolwireError(f"toolwire: run is looping: the same calls {self._repeats} times in a row")


def _timed_out(name: str, limit: float) -> ToolError:
    return ToolError(f"tool {quoted(name)} timed out after {spelled(limit)}", "", TimeoutError())


def _resolved(value: Any) -> str:
    return value if isinstance(value, str) else value.text if isinstance(value, ToolOutput) else str(value)


async def _tell(listener: Any, outcome: Any) -> None:
    if listener is not None:
        told = listener(outcome)
        if inspect.isawaitable(told):
            await told


