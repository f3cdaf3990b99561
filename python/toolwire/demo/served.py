"""The demo's echo as toolwire serves it: `toolwire serve toolwire.demo.served:TOOLS`. Bytes in are bytes out."""

from typing import Final

from toolwire import Tool, ToolOutput
from toolwire._raw_peer import members
from toolwire.demo.shelf import ENTRIES


async def _echo(arguments: bytes) -> ToolOutput:
    return ToolOutput(arguments.decode(), structured=arguments)


def _made(entry: str) -> Tool:
    start, end = members(entry)["inputSchema"]
    return Tool.raw("echo", "Gives its arguments back, byte for byte, as text and value.", entry[start:end], _echo)


TOOLS: Final = [_made(ENTRIES[0].decode())]
