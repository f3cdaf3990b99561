"""Tools that talk with the client in the middle of a call, by the SDK's own context: they take its lane."""

import json
from typing import Any

import anyio
import mcp_types as types
from mcp.server.mcpserver import Context

import toolwire

__all__ = ["ASKING_TOOLS"]

PAUSE = 0.05
"""Seconds between two messages: the suite wants to see them come one by one."""

AWAY = 0.2
"""Seconds that the client gets to come back to a stream that was closed under it: twice the server's `retry`."""


@toolwire.tool(name="test_tool_with_logging")
async def with_logging(context: Context) -> str:
    """Logs what it does, three times."""
    for step in ("started", "goes on", "is done"):
        await context.info(f"The tool {step}")
        await anyio.sleep(PAUSE)
    return "Logged three times"


@toolwire.tool(name="test_sampling")
async def sampling(prompt: str, context: Context) -> str:
    """Asks the client's model."""
    question = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
    # Related to the call: it goes out on the call's own stream, whether or not the client listens on another.
    answer = await context.session.create_message([question], max_tokens=100, related_request_id=context.request_id)
    said = answer.content.text if isinstance(answer.content, types.TextContent) else answer.content.type
    return f"LLM response: {said}"


@toolwire.tool(name="test_elicitation")
async def elicitation(message: str, context: Context) -> str:
    """Asks the client's user."""
    return await _asked(context, message, {"response": {"type": "string", "description": "The user's answer"}})


@toolwire.tool(name="test_elicitation_sep1034_defaults")
async def defaults(context: Context) -> str:
    """Asks with a default of every primitive type."""
    properties = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return await _asked(context, "Who are you?", properties, required=False)


@toolwire.tool(name="test_elicitation_sep1330_enums")
async def choices(context: Context) -> str:
    """Asks with every form of a choice."""
    values = [f"value{number}" for number in (1, 2, 3)]
    titled = [{"const": value, "title": value.capitalize()} for value in values]
    properties = {
        "untitledSingle": {"type": "string", "enum": values},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": values, "enumNames": [each["title"] for each in titled]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": values}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await _asked(context, "Which of them?", properties)


@toolwire.tool(name="test_reconnection")
async def reconnection(context: Context) -> str:
    """Closes its stream in the middle of the call; a server that stores events answers on the next one."""
    await context.close_sse_stream()
    await anyio.sleep(AWAY)
    return "The client came back"


async def _asked(context: Context, message: str, properties: dict[str, Any], *, required: bool = True) -> str:
    schema = {"type": "object", "properties": properties, "required": [*properties] if required else []}
    answer = await context.session.elicit_form(message, schema, related_request_id=context.request_id)
    return f"User response: action={answer.action}, content={json.dumps(answer.content or {})}"


ASKING_TOOLS = (with_logging, sampling, elicitation, defaults, choices, reconnection)
