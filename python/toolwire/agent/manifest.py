"""What agents are, as a document: deterministic JSON for review and diff (spec one-session 2.11), and the tools record.

Schemas stand in it as they are, laid out again and otherwise untouched.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from pathlib import Path
from typing import Any

from toolwire.agent.agent import Agent
from toolwire.agent.subagent import AgentCaller
from toolwire.contract.durations import spelled
from toolwire.contract.local_calls import FunctionCaller
from toolwire.contract.tool_object import Tool
from toolwire.errors import ToolwireError, quoted

__all__ = ["catalog_hash", "manifest", "tools_record"]


def manifest(*agents: Agent) -> str:
    """The manifest of `agents`: two-space indent, a final newline.

    Raises ToolwireError for an agent that is None, unnamed, or named twice.
    """
    seen: set[str] = set()
    for index, agent in enumerate(agents):
        if agent is None:
            raise ToolwireError(f"toolwire: Manifest: agent {index} is nil")
        if not agent.name:
            raise ToolwireError(f"toolwire: Manifest: agent {index} has no name (set one with the name option)")
        if agent.name in seen:
            raise ToolwireError(f"toolwire: Manifest: duplicate agent name {quoted(agent.name)}")
        seen.add(agent.name)
    document = {"toolwire": 1, "agents": [_agent(agent) for agent in agents]}
    return _laid_out(_text(document)) + "\n"


class _Raw:
    """Raw JSON, which is laid out and otherwise as it is."""

    def __init__(self, text: bytes) -> None:
        self.text = text.decode("utf-8", "replace")


def _text(document: Any) -> str:
    """Compact JSON with raw parts: a description may hold anything, so no text of it is taken for a mark."""
    if isinstance(document, _Raw):
        return document.text
    if isinstance(document, dict):
        return "{" + ",".join(f"{_text(name)}:{_text(value)}" for name, value in document.items()) + "}"
    if isinstance(document, list):
        return "[" + ",".join(map(_text, document)) + "]"
    return json.dumps(document, ensure_ascii=False)


def _agent(agent: Agent) -> dict[str, Any]:
    policy: dict[str, Any] = {
        "parallelism": agent.parallelism,
        "max_steps": agent.max_steps,
        "max_result_bytes": agent.max_result_bytes,
    }
    if agent.timeout is not None:
        policy["timeout"] = spelled(agent.timeout)
    if agent.strict_input:
        policy["strict_input"] = True
    if agent.stop_when:
        policy["stop_when"] = [
            getattr(condition, "name", getattr(condition, "__name__", "stop_when")) for condition in agent.stop_when
        ]
    if agent.usage_limit is not None:
        policy["usage_limit"] = agent.usage_limit
    policy["max_model_retries"] = agent.max_model_retries
    if agent.detect_loops:
        policy["detect_loops"] = agent.detect_loops
    document: dict[str, Any] = {
        "name": agent.name,
        "model": {"provider": agent.model.provider, "name": agent.model.name},
    }
    if agent.instructions:
        document["instructions"] = agent.instructions
    document["policy"] = policy
    if agent.tools:
        document["tools"] = [_tool(tool) for tool in agent.tools]
    return document


def _tool(tool: Tool) -> dict[str, Any]:
    settings = tool.settings
    document: dict[str, Any] = {"name": tool.name}
    if tool.description:
        document["description"] = tool.description
    document["input_schema"] = _Raw(tool.input_schema.raw)
    if tool.output_schema is not None:
        document["output_schema"] = _Raw(tool.output_schema.raw)
    if settings.timeout is not None:
        document["timeout"] = spelled(settings.timeout)
    if settings.max_result_bytes is not None:
        document["max_result_bytes"] = settings.max_result_bytes
    if settings.strict_input:
        document["strict_input"] = True
    if settings.sequential:
        document["sequential"] = True
    if settings.require_approval:
        document["require_approval"] = True
    if settings.replay == "safe":
        document["replay_policy"] = "safe"
    if settings.prompt_snippet:
        document["prompt_snippet"] = settings.prompt_snippet
    source = _source(tool)
    if source:
        document["source"] = source
    if isinstance(tool.carrier, AgentCaller):
        document["subagent"] = tool.carrier.agent.name
    return document


def _source(tool: Tool) -> str:
    """Where a function is defined, as `file:line`; nothing for a tool that is no function."""
    if not isinstance(tool.carrier, FunctionCaller):
        return ""
    function = inspect.unwrap(tool.carrier.function)
    try:
        return f"{Path(inspect.getsourcefile(function) or '').name}:{inspect.getsourcelines(function)[1]}"
    except (OSError, TypeError):
        return ""


_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"]+')


def _laid_out(text: str) -> str:
    """JSON text with two spaces a level; its tokens stay as they are."""
    out: list[str] = []
    depth = 0
    pieces = _TOKEN.findall(text)
    for index, piece in enumerate(pieces):
        following = pieces[index + 1] if index + 1 < len(pieces) else ""
        if piece in "{[":
            depth += 1
            out.append(piece if following in "}]" else f"{piece}\n{'  ' * depth}")
        elif piece in "}]":
            depth -= 1
            empty = index > 0 and pieces[index - 1] in "{["
            out.append(piece if empty else f"\n{'  ' * depth}{piece}")
        elif piece == ",":
            out.append(f",\n{'  ' * depth}")
        else:
            out.append(": " if piece == ":" else piece)
    return "".join(out)


def tools_record(agent: Agent) -> dict[str, Any]:
    """The observability record `toolwire.tools`: `{"hash": …, "tools": […]}`, entries sorted by name, schemas decoded.

    `source` is where a tool comes from (`local`, `subagent`, `mcp`, or what the origin policy says), `timeout_ms` 0
    where there is none.
    """
    entries = []
    for tool in sorted(agent.tools, key=lambda tool: tool.name):
        settings = tool.settings
        timeout = settings.timeout if settings.timeout is not None else agent.timeout
        cap = settings.max_result_bytes if settings.max_result_bytes is not None else agent.max_result_bytes
        entries.append(
            {
                "name": tool.name,
                "description": tool.description,
                "schema": tool.input_schema.value,
                "timeout_ms": round((timeout or 0) * 1000),
                "approval": settings.require_approval,
                "replay": settings.replay,
                "max_result_bytes": cap,
                "sequential": settings.sequential,
                "source": tool.origin,
            }
        )
    return {"hash": catalog_hash(agent.tools), "tools": entries}


def catalog_hash(tools: tuple[Tool, ...]) -> str:
    """SHA-256 over name, description and schema of every tool, sorted by name, keys sorted; `""` without tools."""
    if not tools:
        return ""
    catalog = [
        {"description": tool.description, "name": tool.name, "schema": tool.input_schema.value}
        for tool in sorted(tools, key=lambda tool: tool.name)
    ]
    text = json.dumps(catalog, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
