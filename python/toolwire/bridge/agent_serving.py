"""Serving a whole agent: one tool that runs it, and its tools through its own chain (spec one-session 1.9)."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

import anyio

from toolwire import _core
from toolwire.agent.agent import Agent
from toolwire.agent.output import NAME as SUBMIT_OUTPUT
from toolwire.agent.subagent import PROMPT_SCHEMA, subagent
from toolwire.bridge.exporting import AnyServer, add_tools
from toolwire.contract.arguments import refused_input
from toolwire.contract.current import Request, current_request, serving
from toolwire.contract.decoding import decode
from toolwire.contract.local_tool import LocalDefinition
from toolwire.contract.output import ToolOutput
from toolwire.contract.policies import Settings
from toolwire.contract.signature import Signature
from toolwire.contract.tool_object import Tool
from toolwire.errors import RegistrationError, ToolError, quoted

__all__ = ["ServableAgent", "serve_agent"]


class ServableAgent(Protocol):
    """What an agent of any framework needs to be served."""

    @property
    def name(self) -> str:
        """What its tool is called."""
        ...

    @property
    def tools(self) -> Sequence[Tool]:
        """What is listed beside it, once, when it is served."""
        ...

    async def run(self, prompt: str, *, on_event: Callable[[Any], object] | None = None) -> str:
        """One run. Events are told of as toolwire's: `.kind` is `step_start` (`.step`) or `tool_finish` (`.name`)."""
        ...

    async def call_tool(self, name: str, args: Any, *, call_id: str | None = None) -> ToolOutput:
        """One call of a listed tool; `args` are the client's bytes. Raises ToolError."""
        ...


def serve_agent(server: AnyServer, agent: Agent | ServableAgent, description: str) -> None:
    """Puts an agent and its tools on an SDK server: the agent under its own name, each tool through the agent's chain.

    A call that needs approval is answered with a text that says so; the agent's timeout and cap do not apply. A client
    that asks for progress hears of each step and each tool. Raises RegistrationError before anything is added.
    """
    if agent is None:
        raise RegistrationError("toolwire: serve_agent called with a nil agent")
    if not agent.name:
        raise RegistrationError(
            "toolwire: serve_agent: the agent has no name; set one with name= — "
            "the exposed tool is named after the agent"
        )
    served = [_agent_tool(agent, description)]
    taken = {agent.name}
    numbers = itertools.count(1)
    entries: Sequence[Tool | None] = agent.tools
    for entry in entries:
        if entry is None or (isinstance(agent, Agent) and agent.output is not None and entry.name == SUBMIT_OUTPUT):
            continue
        if entry.name in taken:
            raise RegistrationError(
                f"toolwire: serve_agent: tool {quoted(entry.name)} collides with the agent tool or an earlier tool"
            )
        taken.add(entry.name)
        served.append(_through_chain(agent, entry, numbers))
    add_tools(server, *served)


def _through_chain(agent: Any, entry: Tool, numbers: Any) -> Tool:
    definition: Any = entry.definition
    settings = Settings(
        origin=entry.origin,
        sequential_by_policy=entry.settings.sequential_by_policy,
        annotations=entry.settings.annotations,
    )
    return Tool(entry.name, definition, settings, _ChainCaller(agent, entry, numbers))


class _ChainCaller:
    """Carries the calls of one tool of an agent, under ids of this serving."""

    def __init__(self, agent: Any, entry: Tool, numbers: Any) -> None:
        self.needs_sdk_context = bool(getattr(entry.caller, "needs_sdk_context", False))
        self._agent = agent
        self._entry = entry
        self._numbers = numbers

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        call_id = f"mcp_call_{next(self._numbers)}"
        agent = self._agent
        if isinstance(agent, Agent):
            # The definition that was listed, whatever a tool source says by now.
            return await agent.call_tool(tool.name, arguments, call_id=call_id, tool=self._entry)
        output = await agent.call_tool(tool.name, arguments, call_id=call_id)
        if isinstance(output, ToolOutput):
            return output
        if not isinstance(output, str):
            raise TypeError(f"call_tool returned {type(output).__name__}: it is a ToolOutput or a str")
        return ToolOutput(output)


def _agent_tool(agent: Agent | ServableAgent, description: str) -> Tool:
    if isinstance(agent, Agent):
        caller: Any = _ProgressCaller(agent, subagent(agent.name, description, agent))
    else:
        caller = _ForeignCaller(agent)
    definition = LocalDefinition(agent.name, description, PROMPT_SCHEMA)
    return Tool(agent.name, definition, Settings(origin="subagent"), caller)


Job = Callable[[Callable[[Any], None] | None], Awaitable[ToolOutput]]


async def _with_progress(job: Job) -> ToolOutput:
    """Runs `job` and tells the client of it, if it asked: 1, 2, 3 … for each step that starts and tool that ends."""
    request = current_request()
    if request is None or not request.wants_progress:
        return await job(None)
    send, receive = anyio.create_memory_object_stream[tuple[int, str]](float("inf"))
    numbers = itertools.count(1)
    outcome: list[ToolOutput | BaseException] = []

    def listen(event: Any) -> None:
        kind = getattr(event, "kind", "")
        if kind == "step_start":
            send.send_nowait((next(numbers), f"step {event.step + 1}"))
        elif kind == "tool_finish":
            send.send_nowait((next(numbers), f"tool {event.name}"))

    async def work() -> None:
        # The numbers are the run's: a tool in it that told of its own progress would make them go back.
        serving.set(_Quiet(request))  # type: ignore[arg-type]  # it is whatever the request is, but for that
        with send:
            try:
                outcome.append(await job(listen))
            except (anyio.get_cancelled_exc_class(), KeyboardInterrupt):
                raise
            except BaseException as error:  # noqa: BLE001 - raised below, outside of the group that would wrap it
                outcome.append(error)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work)
        with receive:
            async for number, message in receive:
                await request.report_progress(number, None, message)
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


class _Quiet:
    """A request whose handlers report no progress."""

    wants_progress = False

    def __init__(self, request: Request) -> None:
        self._request = request

    def __getattr__(self, name: str) -> Any:
        return getattr(self._request, name)

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tells nobody."""


class _ProgressCaller:
    """Carries the calls of an agent tool, and tells of the run's progress."""

    def __init__(self, agent: Agent, inner: Tool) -> None:
        self.needs_sdk_context = any(getattr(tool.caller, "needs_sdk_context", False) for tool in agent.tools)
        self._inner: Any = inner.caller

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        return await _with_progress(lambda listener: self._inner.call(tool, arguments, listener))


def _prompt(prompt: str = "") -> None:
    """The parameters of an agent tool."""


class _ForeignCaller:
    """Carries the calls of an agent of another framework."""

    needs_sdk_context = False

    def __init__(self, agent: ServableAgent) -> None:
        self._agent = agent
        self._signature = Signature(agent.name, _prompt)

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        try:
            checked = _core.check_arguments(arguments)
        except _core.JsonError as error:
            raise refused_input(tool.name, error.args[0]) from None
        named = decode(self._signature, checked)
        if isinstance(named, str):
            raise refused_input(tool.name, named)
        prompt = named["prompt"]

        async def run(listener: Any) -> ToolOutput:
            said: object = await self._agent.run(prompt, on_event=listener)
            if not isinstance(said, str):
                raise TypeError(f"run returned {type(said).__name__}: it is a str")
            return ToolOutput(said)

        try:
            return await _with_progress(run)
        except Exception as error:  # noqa: BLE001 - an agent of another framework may raise anything
            text = f"agent {quoted(tool.name)} failed: {str(error) or type(error).__name__}"
            raise ToolError("SUBAGENT_FAILED", text, error) from None
