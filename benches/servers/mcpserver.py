"""The echo tool on the SDK's MCPServer, over the SDK's own stdio transport."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("echo", log_level="ERROR")


@server.tool(structured_output=False)
async def echo(text: str) -> str:
    """Give the text back."""
    return text


if __name__ == "__main__":
    server.run("stdio")
