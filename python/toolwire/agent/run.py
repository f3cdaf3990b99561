"""The loop: ask the model, run its calls, answer them, until nothing is left to do (spec one-session 2.7).

A tool's failure is data that the model reads; what ends a run is a RunError that carries the run so far.
"""

from __future__ import annotations

import inspect
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING

import anyio.lowlevel

from toolwire.agent.calls import StepCalls
from toolwire.agent.errors import MaxSteps, run_error
from toolwire.agent.events import Event, Events, OnEvent
from toolwire.agent.model import ModelRequest, ModelTool, Usage
from toolwire.agent.output import NAME as SUBMIT_OUTPUT
from toolwire.agent.result import PendingCall, RunResult, Step
from toolwire.agent.resume import INTERRUPTED, Decisions, decided, open_calls
from toolwire.agent.stream import Answer, ask
from toolwire.contract.message import Message, ToolCallPart, ToolResultPart, without_marks
from toolwire.contract.tool_object import Tool
from toolwire.errors import RunError, ToolwireError, quoted

if TYPE_CHECKING:
    from toolwire.agent.agent import Agent

__all__ = ["Run", "agents_running"]

logger = logging.getLogger("toolwire.agent")

agents_running: ContextVar[tuple[int, ...]] = ContextVar("toolwire.agents_running", default=())
"""The agents whose runs this is inside of, by identity: how a cycle is seen before it costs a model call."""


class Run:
    """One run of an agent. Used once. `spent` hears of all that it uses, when it does: an abandoned run has no end."""

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
        spent: Callable[[Usage], None] | None = None,
    ) -> None:
        self.agent = agent
        self.id = run_id or secrets.token_hex(16)
        self.events = Events(self.id, listener)
        self.messages = list(messages)
        self.steps: list[Step] = []
        self.usage = Usage()
        self.child_usage: dict[str, Usage] = {}
        self.pending: list[PendingCall] = []
        self.step = 0
        self.calls_running: set[str] = set()
        self._spent = spent
        self._prompt = prompt
        self._decisions = decisions
        self._only = None if only_tools is None else {*only_tools, SUBMIT_OUTPUT}
        self._max_steps = agent.max_steps if max_steps is None else min(agent.max_steps, max_steps)
        self._where = "0"
        self._retries: dict[str, int] = {}
        self._repeats = 0
        self._last_calls: list[tuple[str, bytes]] = []
        self._marked = False
        self._offer: tuple[Mapping[str, Tool], list[ModelTool], str] | None = None

    def result(self, stop_reason: str) -> RunResult:
        """The run so far."""
        return RunResult(self.id, stop_reason, tuple(self.messages), tuple(self.steps), self.usage, tuple(self.pending))

    async def go(self) -> RunResult:
        """Runs to the end. Raises RunError, whatever ended it; cancellation and KeyboardInterrupt go through."""
        token = agents_running.set((*agents_running.get(), id(self.agent)))
        try:
            self.events.emit("run_start")
            result = await self._loop()
            self.events.emit("run_finish", result=result)
        except Exception as error:
            failure = run_error(self.step, error, self.result("error"))
            self._tell_failure(failure)
            await self._run_ended(failure)
            raise failure from error
        finally:
            agents_running.reset(token)
        await self._run_ended(result)
        return result

    def _tell_failure(self, failure: RunError) -> None:
        try:
            self.events.emit("run_finish", result=failure.result)
        except Exception as error:
            if error is not failure.error:
                logger.exception("the listener of a run raised when it was told of the run's failure")

    async def _run_ended(self, outcome: RunResult | RunError) -> None:
        """Tells `on_run_end`. It only watches: what it raises is logged, and the run's outcome stands."""
        listener = self.agent.on_run_end
        if listener is None:
            return
        try:
            told = listener(outcome)
            if inspect.isawaitable(told):
                await told
        except Exception:
            logger.exception("on_run_end raised")

    async def _loop(self) -> RunResult:
        tools = await self.agent.snapshot()
        await self._resume(tools)
        self._marked = any(call.parked for message in self.messages for call in message.calls)
        if self._prompt is not None:
            self.messages.append(Message("user", self._prompt))
        if self.pending:
            return self.result("pending")
        while True:
            if self.step >= self._max_steps:
                raise MaxSteps
            # A handler that swallowed the cancellation of this run costs no further answer of the model.
            await anyio.lowlevel.checkpoint_if_cancelled()
            if self.step > 0:
                tools = await self.agent.snapshot()
            reason = await self._one_step(tools)
            self.step += 1
            self._where = str(self.step)
            if reason is not None:
                return self.result(reason)
            self._check_budget()

    async def _one_step(self, tools: Mapping[str, Tool]) -> str | None:
        self.events.emit("step_start", step=self.step)
        before = self.usage
        self.child_usage = {}
        answer, offered = await self._ask(tools)
        self._spend(answer.usage)
        results: Message | None = None
        if answer.message.parts:
            self.messages.append(answer.message)
        calls = answer.message.calls
        if calls:
            results = await self._run_calls(calls, offered, answer)
        used = Usage(self.usage.input_tokens - before.input_tokens, self.usage.output_tokens - before.output_tokens)
        self.steps.append(Step(self.step, answer.message, used, results, dict(self.child_usage)))
        self.events.emit("step_finish", step=self.step)
        if self.pending:
            return "pending"
        if self.agent.stop_when:
            view = self.result("")
            for condition in self.agent.stop_when:
                if condition(view):
                    return str(getattr(condition, "name", getattr(condition, "__name__", "stop_when")))
        if not calls:
            return "max_tokens" if answer.reason == "max_tokens" else "stop"
        return None

    async def _ask(self, tools: Mapping[str, Tool]) -> tuple[Answer, Mapping[str, Tool]]:
        """The model's answer, and the tools that it was offered: what was advertised is what is dispatched."""
        agent, step = self.agent, self.step
        if self._only is not None:
            tools = {name: tool for name, tool in tools.items() if name in self._only}
        offer, system = self._offered(tools)
        messages = list(map(without_marks, self.messages)) if self._marked else list(self.messages)
        request = ModelRequest(system, messages, offer, sequential_tools=agent.sequential)
        if agent.prepare_step is not None:
            prepared = agent.prepare_step(step, request)
            prepared = await prepared if inspect.isawaitable(prepared) else prepared
            if prepared is not None and prepared is not request:
                request = prepared
                names = {tool.name for tool in request.tools}
                tools = {name: tool for name, tool in tools.items() if name in names}
        tell = None
        if self.events.heard:

            def tell(kind: str, text: str) -> None:
                self.events.emit(kind, step=step, text=text)

        return await ask(agent.running_model, request, tell), tools

    def _offered(self, tools: Mapping[str, Tool]) -> tuple[list[ModelTool], str]:
        """What a model is told of the tools, made once for a set that stays."""
        if self._offer is None or self._offer[0] is not tools:
            snippets = (tool.settings.prompt_snippet for tool in tools.values())
            system = "\n\n".join(text for text in (self.agent.instructions, *snippets) if text)
            offer = [ModelTool(tool.name, tool.description, tool.input_schema.raw) for tool in tools.values()]
            self._offer = tools, offer, system
        return self._offer[1], self._offer[2]

    async def _run_calls(
        self, calls: Sequence[ToolCallPart], tools: Mapping[str, Tool], answer: Answer
    ) -> Message | None:
        if answer.reason == "max_tokens":
            cut_off = "tool call {} was not executed: the response hit the output token limit"
            results = [ToolResultPart(call.id, call.name, cut_off.format(call.name), True) for call in calls]
        else:
            results = await StepCalls(self, tools).execute(calls)
            self._watch(calls)
        if self.pending:
            marks = {call.id: call.digest for call in self.pending}
            self.messages[-1] = self.messages[-1].with_marks(marks)
        if not results:
            return None
        message = Message("tool", results)
        self.messages.append(message)
        return message

    async def _resume(self, tools: Mapping[str, Tool]) -> None:
        """Carries out the decisions on the calls that the transcript leaves open, or answers these as interrupted."""
        found = open_calls(self.messages)
        decisions = self._decisions
        if found is None or decisions:
            decisions.check(found)
        if found is None:
            return
        if not decisions:
            repaired = [ToolResultPart(call.id, call.name, INTERRUPTED, True) for call in found.calls]
            self.messages = found.completed(self.messages, repaired, {})
            return
        self._where = "resume"
        work = decided(found, decisions, tools)
        step = StepCalls(self, tools, work.approved, work.continuations)
        results = [*work.denied, *(step.answer(call, tools.get(call.name), text) for call, text in work.resolved)]
        results += await step.execute(work.run)
        self.messages = found.completed(self.messages, results, {call.id: call.digest for call in self.pending})
        self._where = "0"

    # What a subagent's call needs of its parent

    def child_id(self, call_id: str) -> str:
        """The id of the run that the call `call_id` starts."""
        return f"{self.id}/{self._where}/{call_id}"

    def nest(self, call_id: str, event: Event) -> None:
        """A child's event, as one of ours. Of a child that was abandoned at its deadline nothing is told any more."""
        if call_id in self.calls_running:
            self.events.emit("nested", step=self.step, call_id=call_id, event=event)

    def add_child_usage(self, call_id: str, usage: Usage) -> None:
        """What a child used counts as ours."""
        self._spend(usage)
        self.child_usage[call_id] = self.child_usage.get(call_id, Usage()) + usage

    # Budgets

    def _spend(self, usage: Usage) -> None:
        self.usage += usage
        if self._spent is not None:
            self._spent(usage)

    def count_retry(self, name: str, retried: bool) -> None:
        """A call of `name` ended, and asked the model to try again, or not."""
        if retried or name in self._retries:
            self._retries[name] = self._retries.get(name, 0) + 1 if retried else 0

    def _watch(self, calls: Sequence[ToolCallPart]) -> None:
        if self.agent.detect_loops:
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
