"""The echo tool on FastMCP 4, over its own stdio transport."""

from fastmcp import FastMCP

server = FastMCP("echo")


@server.tool(output_schema=None)
async def echo(text: str) -> str:
    """Give the text back."""
    return text


if __name__ == "__main__":
    server.run("stdio", show_banner=False, log_level="ERROR")
