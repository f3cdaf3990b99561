"""An SDK session that runs on no wire: memory streams, and behind them a server that answers by a table."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import ClientSession
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import (
    DiscoverResult,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    ServerCapabilities,
)

from tests.bridge.raw import NEW, OLD, PATIENCE

Reply = dict[str, Any] | ErrorData | None
"""A result as the SDK would hand it over, an error, or no answer at all."""
Answers = Mapping[str, Any]
"""A `Reply` a method, or a list of them in turn; the last repeats."""


@dataclass
class Memory:
    """The scripted server: what it answers, and what it has heard."""

    answers: Answers
    heard: list[JSONRPCRequest | JSONRPCNotification] = field(default_factory=list)
    events: dict[tuple[str, int], anyio.Event] = field(default_factory=dict)

    def arrived(self, method: str, count: int = 1) -> anyio.Event:
        """Give the event that is set when `count` messages of `method` have come in."""
        return self.events.setdefault((method, count), anyio.Event())

    def params(self, method: str) -> list[dict[str, Any]]:
        """Pick the params of each request of `method`."""
        return [dict(message.params or {}) for message in self.heard if message.method == method]

    def reply(self, message: JSONRPCRequest) -> Reply:
        given = self.answers[message.method]
        turns: list[Reply] = given if isinstance(given, list) else [given]
        return turns[min(len(self.params(message.method)), len(turns)) - 1]

    async def serve(self, read: Any, write: Any) -> None:
        async for item in read:
            message = item.message
            self.heard.append(message)
            self.arrived(message.method, len(self.params(message.method))).set()
            if not isinstance(message, JSONRPCRequest):
                continue
            reply = self.reply(message)
            if isinstance(reply, ErrorData):
                await write.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=reply)))
            elif reply is not None:
                await write.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=message.id, result=reply)))


OPENED = {"protocolVersion": OLD, "capabilities": {"tools": {}}, "serverInfo": {"name": "memory", "version": "1"}}


@asynccontextmanager
async def memory_session(answers: Answers, *, era: str = OLD) -> AsyncIterator[tuple[Memory, ClientSession]]:
    """Open a `ClientSession` of the SDK over memory streams, in either era."""
    server = Memory({"initialize": OPENED, **answers})
    with anyio.fail_after(PATIENCE):
        async with create_client_server_memory_streams() as (client, (read, write)), anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, read, write)
            async with ClientSession(*client) as session:
                if era == NEW:
                    session.adopt(discovered())
                else:
                    await session.initialize()
                yield server, session
            tasks.cancel_scope.cancel()


def discovered() -> DiscoverResult:
    """Give what a client adopts that knows the server's version already."""
    return DiscoverResult(
        supported_versions=[NEW],
        capabilities=ServerCapabilities(),
        result_type="complete",
        ttl_ms=0,
        cache_scope="public",
    )
