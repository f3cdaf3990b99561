"""The echo tool on the SDK's low-level server, over the SDK's own stdio transport."""

import asyncio
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

ECHO = types.Tool(
    name="echo",
    description="Give the text back.",
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)


async def listing(context: Any, params: Any) -> types.ListToolsResult:
    del context, params
    return types.ListToolsResult(tools=[ECHO])


async def call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    del context
    text = (params.arguments or {})["text"]
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def main() -> None:
    server = Server("echo", on_list_tools=listing, on_call_tool=call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
