"""The agent: a model, instructions and tools under one policy. Immutable, and usable by concurrent runs."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import anyio

from toolwire.agent.dispatch import dispatch
from toolwire.agent.events import OnEvent
from toolwire.agent.middleware import Call, Middleware
from toolwire.agent.model import Model
from toolwire.agent.output import OutputSubmitted, submit_output
from toolwire.agent.result import PendingCall, RunResult
from toolwire.agent.resume import Decisions
from toolwire.agent.run import Run
from toolwire.agent.run_stream import RunStream
from toolwire.agent.scheduling import ALONE, BESIDE, Overlap
from toolwire.contract.arguments import Arguments, encoded
from toolwire.contract.current import CallContext, calling
from toolwire.contract.decorator import tool as make_tool
from toolwire.contract.message import Message, ToolCallPart
from toolwire.contract.output import ToolOutput
from toolwire.contract.tool_object import Tool
from toolwire.errors import ToolwireError, quoted
from toolwire.loops import held_up, loop_here, no_loop_runs

__all__ = ["Agent"]

ToolSource = Callable[[], Any]
MAX_RESULT_BYTES = 65536
"""The cap on what the model reads of a call, in UTF-8 bytes (spec one-session 2.7)."""


class Agent:
    """A model with tools. `await agent.run("prompt")` gives its text, `await agent.generate("prompt")` everything.

    `tools` are Tools or functions; `tool_source` is asked for the tools of each step instead. `timeout` (seconds, per
    call; 0 for none), `max_result_bytes`, `strict_input` and `middleware` are defaults that a tool's own policies
    override or follow. `parallelism` bounds the calls of a step that run at once; `sequential` makes it 1.

    `output` is a type that the model has to submit. `stop_when` are conditions over the run so far; `usage_limit`
    (tokens), `max_model_retries` (in a row, of one tool) and `detect_loops` (the same calls that many times) end a run
    with a RunError. `prepare_step(step, request)` may give another request, `on_run_end(outcome)` watches the end.
    """

    def __init__(
        self,
        model: Model,
        *,
        name: str = "",
        instructions: str = "",
        tools: Iterable[Tool | Callable[..., Any]] = (),
        tool_source: ToolSource | None = None,
        output: type[Any] | None = None,
        max_steps: int = 10,
        parallelism: int = 4,
        sequential: bool = False,
        timeout: float | None = None,
        max_result_bytes: int = MAX_RESULT_BYTES,
        max_model_retries: int = 3,
        strict_input: bool = False,
        middleware: Middleware | Sequence[Middleware | None] = (),
        wrap_model: Callable[[Model], Model] | Sequence[Callable[[Model], Model]] = (),
        stop_when: Callable[[RunResult], bool] | Sequence[Callable[[RunResult], bool]] = (),
        usage_limit: int | None = None,
        detect_loops: int = 0,
        prepare_step: Callable[[int, Any], Any] | None = None,
        on_run_end: Callable[[Any], Any] | None = None,
    ) -> None:
        if model is None:
            raise ToolwireError("toolwire: Agent called with a nil Model")
        self.model = model
        self.running_model = model
        for wrap in _given(wrap_model):
            self.running_model = wrap(self.running_model)
            if self.running_model is None:
                raise ToolwireError("toolwire: model middleware returned a nil Model")
        self.name = name
        self.instructions = instructions
        self.max_steps = max_steps
        self.parallelism = 1 if sequential else max(1, parallelism)
        self.sequential = sequential
        self.timeout = timeout if timeout is not None and timeout > 0 else None
        self.max_result_bytes = max_result_bytes if max_result_bytes >= 0 else MAX_RESULT_BYTES
        self.max_model_retries = max_model_retries
        self.strict_input = strict_input
        self.middleware: tuple[Middleware, ...] = _given(middleware)
        self.usage_limit = usage_limit
        self.detect_loops = detect_loops
        self.prepare_step = prepare_step
        self.on_run_end = on_run_end
        self.output = output
        self.tool_source = tool_source
        conditions = _given(stop_when)
        registered = [_registered(entry) for entry in tools]
        if output is not None:
            registered.append(submit_output(output))
            conditions = (*conditions, OutputSubmitted())
        self.stop_when = conditions
        self.tools: tuple[Tool, ...] = tuple(registered)
        self._by_name = _by_name(self.tools, "toolwire: duplicate tool name {}", origins=True)

    # What a run asks

    async def snapshot(self) -> Mapping[str, Tool]:
        """The tools of one step: the registered ones, or what the tool source says now. Raises ToolwireError."""
        if self.tool_source is None:
            return self._by_name
        listed = self.tool_source()
        listed = await listed if inspect.isawaitable(listed) else listed
        if isinstance(listed, str) or not isinstance(listed, Iterable):
            raise ToolwireError(f"toolwire: the tool source gave {type(listed).__name__}, not a list of tools")
        own = [tool for tool in self.tools if self.output is not None and tool.name == "submit_output"]
        entries = [*listed, *own]
        for index, entry in enumerate(entries):
            if entry is None:
                raise ToolwireError(f"toolwire: nil tool in tool source snapshot: entry {index}")
        entries = [_registered(entry) for entry in entries]
        return _by_name(entries, "toolwire: duplicate tool name from tool source: {}")

    def overlap(self, tool: Tool, call: ToolCallPart) -> Overlap:
        """How a call may run beside others: its tool's concurrency policy, or its sequential flag."""
        policy = tool.settings.concurrency
        if policy is None:
            return ALONE if tool.settings.sequential else BESIDE
        try:
            key, concurrent = policy(call.args)
        except Exception:  # noqa: BLE001 - a policy that fails is never read as permission (many-sources 2.8)
            return ALONE
        return Overlap(exclusive=not concurrent, key=key)

    # Running

    async def generate(
        self,
        prompt: str | None = None,
        *,
        messages: Sequence[Message] = (),
        run_id: str | None = None,
        approve: Iterable[str | PendingCall] = (),
        deny: Mapping[str, str] | Iterable[str] = (),
        resolve: Mapping[str, Any] | None = None,
        only_tools: Sequence[str] | None = None,
        max_steps: int | None = None,
        on_event: OnEvent | None = None,
    ) -> RunResult:
        """Runs to the end and gives the result; `.pending` holds calls that wait for approval.

        `messages` is a transcript to go on from, with decisions on its open calls: `approve` ids or PendingCalls,
        `deny` ids with reasons, `resolve` ids with results (a text, a ToolOutput, or a value that is shown as JSON).
        `only_tools` are the names that are offered, and dispatched. Raises RunError, with the run so far.
        """
        run = Run(
            self,
            messages,
            prompt,
            decisions=Decisions.of(approve, deny, resolve or {}),
            run_id=run_id,
            only_tools=only_tools,
            max_steps=max_steps,
            listener=on_event,
        )
        return await run.go()

    async def run(self, prompt: str, *, on_event: OnEvent | None = None) -> str:
        """Runs a prompt; the final text."""
        return (await self.generate(prompt, on_event=on_event)).text

    def stream(self, prompt: str | None = None, **options: Any) -> RunStream:
        """The run of `generate` as an async iterator of events."""
        return RunStream(lambda heard: self.generate(prompt, on_event=heard, **options))

    def generate_sync(self, prompt: str | None = None, **options: Any) -> RunResult:
        """`generate` for a script: in this thread, or in one of its own where an event loop runs in this one.

        That loop stands still meanwhile, so a tool whose connection lives in it fails with a text: await `generate`.
        """
        outcome: list[Any] = []

        def work() -> None:
            try:
                outcome.append(anyio.run(lambda: self.generate(prompt, **options)))
            except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
                outcome.append(error)

        if no_loop_runs():
            work()
        else:
            waiting = (*held_up.get(), loop_here())

            def beside() -> None:
                held_up.set(waiting)
                work()

            thread = threading.Thread(target=beside)
            thread.start()
            thread.join()
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        result: RunResult = outcome[0]
        return result

    async def call_tool(
        self, name: str, args: Arguments = None, *, call_id: str | None = None, tool: Tool | None = None
    ) -> ToolOutput:
        """One call through the agent's chain, outside the loop: middleware, approval, decode, handler (spec 2.8).

        No timeout, no cap, no events. Inside a handler the call has an id of its own and inherits no approval. `tool`
        names the definition to dispatch to. Raises ToolError.
        """
        tools = {name: tool} if tool is not None else await self.snapshot()
        outer = calling.get()
        identifier = call_id if call_id is not None else f"call_{name}"
        token = calling.set(CallContext(outer.run_id if outer else "", outer.step if outer else 0, identifier, name))
        try:
            raw = encoded(name, args)
            call = Call(identifier, name, raw.encode() if isinstance(raw, str) else raw)
            return await dispatch(call, tools, self.middleware, strict=self.strict_input)
        finally:
            calling.reset(token)

    def __repr__(self) -> str:
        return f"Agent({self.name!r}, tools={[tool.name for tool in self.tools]!r})"


def _given(entries: Any) -> tuple[Any, ...]:
    """One of them or several; `None` is passed over."""
    return tuple(entry for entry in ((entries,) if callable(entries) else entries or ()) if entry is not None)


def _registered(entry: Any) -> Tool:
    if entry is None:
        raise ToolwireError("toolwire: nil tool passed to Agent")
    return entry if isinstance(entry, Tool) else make_tool(entry)


def _by_name(tools: Sequence[Tool], duplicate: str, *, origins: bool = False) -> dict[str, Tool]:
    found: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in found:
            text = duplicate.format(quoted(tool.name))
            if origins:
                text += f" (origins: {found[tool.name].origin}, {tool.origin})"
            raise ToolwireError(text)
        found[tool.name] = tool
    return found
