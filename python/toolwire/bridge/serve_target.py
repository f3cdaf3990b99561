"""What a name in a module stands for when it is to be served: a server as it is, tools on a server made for them."""

import inspect
from collections.abc import Sequence
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from toolwire.bridge.exporting import add_tools
from toolwire.contract.tool_object import Tool

__all__ = ["server_of"]


def server_of(target: object, name: str) -> Server[Any] | MCPServer:
    """Give the server that `target` is, or one called `name` with the tools that it is.

    Tools are Tools, or functions that become Tools, alone or in a list or tuple. Raises TypeError for anything else,
    whose text goes on behind the name, and RegistrationError and SchemaError as `add_tools` and `tool` do.
    """
    if isinstance(target, Server | MCPServer):
        return target
    entries: Sequence[object] = target if isinstance(target, list | tuple) else [target]
    if not entries:
        raise TypeError(" is empty: a list of tools to serve needs one at least")
    for position, entry in enumerate(entries):
        if not isinstance(entry, Tool) and (inspect.isclass(entry) or not callable(entry)):
            where = f"[{position}]" if entries is target else ""
            what = f"the class {entry.__name__}" if inspect.isclass(entry) else f"an object of {type(entry).__name__}"
            raise TypeError(
                f"{where} is {what}; what can be served is an SDK server, a tool, a function, or a list of them"
            )
    server: Server[Any] = Server(name)
    add_tools(server, *entries)  # type: ignore[arg-type]  # the loop above has looked at each
    return server
