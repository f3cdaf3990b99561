"""The demo's echo as the official SDK serves it: `python -m toolwire.demo.sdk_server`.

Like `sdk_alone` it is the other side of a comparison, written the way the SDK's documentation shows.
"""

import asyncio
import json
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from toolwire.demo.shelf import ENTRIES


async def _list(context: Any, params: Any) -> types.ListToolsResult:
    del context, params
    return types.ListToolsResult(tools=[types.Tool.model_validate_json(ENTRIES[0])])


async def _call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    del context
    arguments = params.arguments or {}
    text = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=arguments)


async def _main() -> None:
    server = Server("demo", on_list_tools=_list, on_call_tool=_call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(_main())
