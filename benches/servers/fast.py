"""The echo tool on FastMCP 4, over its own stdio transport."""

from fastmcp import FastMCP

server = FastMCP("echo")


async def echo(text: str) -> str:
    """Give the text back."""
    return text


# Not as a decorator: without FastMCP installed that would leave the function without its types.
server.tool(output_schema=None)(echo)


if __name__ == "__main__":
    server.run("stdio", show_banner=False, log_level="ERROR")
