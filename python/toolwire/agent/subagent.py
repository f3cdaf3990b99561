"""An agent as a tool of another (spec one-session 2.10)."""

from __future__ import annotations

import secrets
from typing import Any

from toolwire import _core
from toolwire.agent.agent import Agent
from toolwire.agent.calls import current_run
from toolwire.agent.events import OnEvent
from toolwire.agent.model import Usage
from toolwire.agent.output import submitted
from toolwire.agent.resume import Decisions
from toolwire.agent.run import Run, agents_running
from toolwire.contract.arguments import refused_input
from toolwire.contract.current import current_call
from toolwire.contract.decoding import decode
from toolwire.contract.local_tool import LocalDefinition
from toolwire.contract.output import ToolOutput
from toolwire.contract.policies import Policy, Settings, applied
from toolwire.contract.signature import Signature
from toolwire.contract.tool_object import Tool
from toolwire.errors import RunError, ToolError, ToolwireError, quoted

__all__ = ["PROMPT_SCHEMA", "AgentCaller", "subagent"]

PROMPT_SCHEMA = (
    b'{"type":"object","properties":{"prompt":{"type":"string","description":'
    b'"The task, stated in full: the agent sees only this prompt, not the conversation."}},"required":["prompt"]}'
)


def _prompt(prompt: str = "") -> None:
    """The parameters of a subagent: a missing prompt is the empty one."""


class AgentCaller:
    """Carries the calls of a subagent tool: each is a run of its own, on a fresh transcript."""

    needs_sdk_context = False

    def __init__(self, name: str, agent: Agent) -> None:
        self.agent = agent
        self._signature = Signature(name, _prompt)

    async def call(self, tool: Tool, arguments: bytes | str, listener: OnEvent | None = None) -> ToolOutput:
        """One run, whose events `listener` hears. Raises ToolError with the texts of the spec."""
        try:
            checked = _core.check_arguments(arguments)
        except _core.JsonError as error:
            raise refused_input(tool.name, error.args[0]) from None
        named = decode(self._signature, checked)
        if isinstance(named, str):
            raise refused_input(tool.name, named)
        return await self._run(tool.name, named["prompt"], listener)

    async def _run(self, name: str, prompt: str, listener: OnEvent | None) -> ToolOutput:
        agent = self.agent
        if id(agent) in agents_running.get():
            raise ToolError("SUBAGENT_CYCLE", f"agent {quoted(name)} is already running in this call chain")
        parent, context = current_run.get(), current_call()
        in_run = parent is not None and context is not None
        call_id = context.call_id if context is not None else ""
        run_id = parent.child_id(call_id) if in_run and parent is not None else secrets.token_hex(16)

        def nest(event: Any) -> None:
            if parent is not None:
                parent.nest(call_id, event)

        def spent(usage: Usage) -> None:
            if in_run and parent is not None:
                parent.add_child_usage(call_id, usage)

        spent(Usage())
        run = Run(
            agent,
            (),
            prompt,
            decisions=Decisions(),
            run_id=run_id,
            only_tools=None,
            max_steps=None,
            listener=nest if in_run else listener,
            spent=spent,
        )
        try:
            result = await run.go()
        except RunError as error:
            text = f"agent {quoted(name)} failed at step {error.step}: {error.error}"
            raise ToolError("SUBAGENT_FAILED", text, error) from None
        if result.pending:
            text = f"agent {quoted(name)} ended awaiting approval of {len(result.pending)} call(s)"
            raise ToolError("SUBAGENT_PENDING", text)
        if agent.output is not None:
            raw = submitted(result)
            if raw is not None:
                return ToolOutput(raw.decode("utf-8", "replace"))
        return ToolOutput(result.text)


def subagent(name: str, description: str, agent: Agent, *policies: Policy) -> Tool:
    """`agent` as a tool that takes a prompt and gives its final text, or the bytes that it submitted.

    Its runs count in the parent's usage, and its events arrive as `nested`.
    """
    if agent is None:
        raise ToolwireError(f"toolwire: Subagent {quoted(name)} called with a nil agent")
    if not name:
        raise ToolwireError("toolwire: Tool called with an empty name")
    settings = applied(policies, Settings(origin="subagent"))
    definition = LocalDefinition(name, description, PROMPT_SCHEMA, annotations=settings.annotations)
    return Tool(name, definition, settings, AgentCaller(name, agent))
