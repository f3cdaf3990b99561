"""The echo tool on an SDK low-level server, served by toolwire."""

import asyncio

from mcp.server.lowlevel import Server

import toolwire


@toolwire.tool
async def echo(text: str) -> str:
    """Give the text back."""
    return text


server = Server("echo")
toolwire.add_tools(server, echo)

if __name__ == "__main__":
    asyncio.run(toolwire.run_stdio(server))
