"""What is neither a tool nor a thing to read: listing changes, completion, log levels, subscriptions, stored events."""

from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore

import toolwire

__all__ = ["Events", "add_requests"]


def add_requests(server: MCPServer, lowlevel: Server[Any]) -> None:
    """Puts them on a server, and on the low-level server under it, where MCPServer has no door for a method."""

    @toolwire.tool(name="test_trigger_tool_change")
    async def change_tools() -> str:
        """Adds a tool and takes it away again, of which whoever listens is told by that alone."""
        toolwire.add_tools(server, passing_by)
        toolwire.remove_tools(server, passing_by.name)
        return "The tools have changed"

    @toolwire.tool(name="test_trigger_prompt_change")
    async def change_prompts(context: Context) -> str:
        """Adds a prompt and takes it away again."""
        server.add_prompt(Prompt.from_function(lambda: "Hello", name="test_passing_by", description="Passes by."))
        server.remove_prompt("test_passing_by")
        await context.notify_prompts_changed()
        return "The prompts have changed"

    toolwire.add_tools(server, change_tools, change_prompts)
    lowlevel.add_request_handler("completion/complete", types.CompleteRequestParams, _completed)
    lowlevel.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _accepted)
    lowlevel.add_request_handler("resources/subscribe", types.SubscribeRequestParams, _accepted)
    lowlevel.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, _accepted)


@toolwire.tool(name="test_passing_by")
async def passing_by() -> str:
    """Is there for a moment."""
    return "Here"


async def _completed(context: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
    del context
    values = [word for word in ("paris", "park") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))


async def _accepted(context: Any, params: Any) -> types.EmptyResult:
    del context, params
    return types.EmptyResult()


class Events(EventStore):
    """The events of every stream, so that a client whose stream was closed gets what it missed."""

    def __init__(self) -> None:
        self._stored: list[tuple[str, types.JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        """Keeps an event; its id is its place."""
        self._stored.append((stream_id, message))
        return str(len(self._stored) - 1)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Sends what came after an event on its stream; `None` for an id that is nobody's."""
        if not last_event_id.isdecimal() or int(last_event_id) >= len(self._stored):
            return None
        last = int(last_event_id)
        stream = self._stored[last][0]
        for place, (where, message) in enumerate(self._stored):
            if place > last and where == stream and message is not None:
                await send_callback(EventMessage(message, str(place)))
        return stream
