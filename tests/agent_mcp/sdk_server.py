"""A server of the SDK alone, on the SDK's own stdio: its tool `grow` adds a tool, and tells in both eras' ways."""

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("grows")


@server.tool(structured_output=False)
async def grow(ctx: Context) -> str:
    """Add one more."""
    name = f"grown_{len(await server.list_tools())}"
    server.add_tool(lambda: name, name=name, structured_output=False)
    await ctx.session.send_tool_list_changed()
    await ctx.notify_tools_changed()
    return name


if __name__ == "__main__":
    server.run("stdio")
