"""The ways to a served agent: a low-level server or an MCPServer, toolwire's client or the SDK's own, in both eras."""

import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import mcp
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

import toolwire
from tests.agent_mcp.support import ERAS, PATIENCE

AnyServer = Server[Any] | MCPServer
SERVERS: dict[str, Callable[[str], AnyServer]] = {"lowlevel": Server, "mcpserver": MCPServer}


class Client:
    """What a test asks of a served agent, whoever carries it. Results and entries are decoded JSON."""

    async def call(self, name: str, args: bytes = b"{}", **options: Any) -> dict[str, Any]:
        raise NotImplementedError

    async def entries(self) -> dict[str, dict[str, Any]]:
        raise NotImplementedError

    async def text(self, name: str, args: bytes = b"{}") -> str:
        """The one text block of a result that is no error."""
        found = await self.call(name, args)
        assert not found.get("isError")
        [block] = found["content"]
        assert block["type"] == "text"
        said: str = block["text"]
        return said

    async def error(self, name: str, args: bytes = b"{}") -> str:
        """The one text block of a result that is an error."""
        found = await self.call(name, args)
        assert found["isError"]
        [block] = found["content"]
        assert "structuredContent" not in found
        said: str = block["text"]
        return said


def dumped(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found


class Ours(Client):
    def __init__(self, connection: toolwire.Connection) -> None:
        self.connection = connection

    async def call(self, name: str, args: bytes = b"{}", **options: Any) -> dict[str, Any]:
        if options:
            found = await self.connection.session.call_tool(name, json.loads(args), **options)
            return dumped(found)
        tool = (await toolwire.tools(self.connection))[name]
        try:
            output: Any = await tool.call(args)
        except toolwire.ToolFailure as failure:
            output = failure.output
        decoded: dict[str, Any] = json.loads(output.raw)
        return decoded

    async def entries(self) -> dict[str, dict[str, Any]]:
        return {tool.name: json.loads(tool.definition_json) for tool in await toolwire.tools(self.connection)}


class Theirs(Client):
    def __init__(self, session: mcp.ClientSession) -> None:
        self.session = session

    async def call(self, name: str, args: bytes = b"{}", **options: Any) -> dict[str, Any]:
        return dumped(await self.session.call_tool(name, json.loads(args), **options))

    async def entries(self) -> dict[str, dict[str, Any]]:
        listed = await self.session.list_tools()
        return {tool.name: dumped(tool) for tool in listed.tools}


@dataclass(frozen=True)
class Way:
    """One way."""

    server: str
    client: str
    era: str

    def __str__(self) -> str:
        return f"{self.server}-{self.client}-{self.era}"

    def make(self) -> AnyServer:
        """A server with nothing on it."""
        return SERVERS[self.server]("served")

    @asynccontextmanager
    async def to(self, server: AnyServer) -> AsyncIterator[Client]:
        """A client of that server."""
        mode = ERAS[self.era]
        with anyio.fail_after(PATIENCE):
            if self.client == "toolwire":
                async with toolwire.connect(server, mode=mode) as connection:
                    assert connection.session.protocol_version == self.era
                    yield Ours(connection)
            else:
                async with mcp.Client(server, mode=mode) as client:
                    assert client.session.protocol_version == self.era
                    yield Theirs(client.session)


WAYS = [Way(*way) for way in itertools.product(SERVERS, ("toolwire", "sdk"), ERAS)]
