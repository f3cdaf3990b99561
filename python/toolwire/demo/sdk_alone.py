"""The other column of `toolwire demo`: the official SDK's client by itself, used the way its documentation shows.

The demo compares with the SDK, so this one file of the package imports it outside the rooms that build on it. It knows
nothing of toolwire, and nothing of toolwire's own work may come to depend on it.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp import Client, StdioServerParameters
from mcp.types import TextContent


class SdkAlone:
    """An open SDK client. Arguments go in as a model writes them, as JSON text; so do results come out."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, name: str, arguments: bytes) -> tuple[str, str]:
        """Call a tool; give its first text block, and its structured value as JSON text (`""` where there is none).

        The SDK takes and gives Python values, so the text is decoded and encoded on the way, by `json`.
        """
        result = await self._client.call_tool(name, json.loads(arguments))
        text = next((block.text for block in result.content if isinstance(block, TextContent)), "")
        if result.structured_content is None:
            return text, ""
        return text, json.dumps(result.structured_content, separators=(",", ":"))

    async def schema(self, name: str) -> str:
        """List the tools; give the input schema of one as JSON text."""
        listing = await self._client.list_tools()
        return next(json.dumps(tool.input_schema, separators=(",", ":")) for tool in listing.tools if tool.name == name)


@asynccontextmanager
async def sdk_alone(argv: list[str]) -> AsyncIterator[SdkAlone]:
    """Start a server and connect to it with the SDK's own client and stdio transport."""
    async with Client(StdioServerParameters(command=argv[0], args=argv[1:])) as client:
        yield SdkAlone(client)
