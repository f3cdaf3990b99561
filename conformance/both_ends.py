"""Toolwire at both ends: its client calls the tools of its server, and both wires say which way each request took.

The suite opens a session for nearly every call of a handshake revision, and the first request of a session is always
the SDK's; what an ordinary client does is therefore shown here, where one session makes many calls.
"""

from mcp_types.version import MODERN_PROTOCOL_VERSIONS

import toolwire
from conformance.everything.content import CONTENT_TOOLS
from conformance.lanes import Lanes
from conformance.server import served

__all__ = ["both_ends"]

ROUNDS = 3
"""How often each tool is called."""


async def both_ends(revision: str) -> dict[str, Lanes]:
    """The lanes of the server and of the client, after one listing and some calls of each tool of `content`."""
    mode = "auto" if revision in MODERN_PROTOCOL_VERSIONS else "legacy"
    async with served() as server, toolwire.connect(server.url, mode=mode) as connection:
        tools = await toolwire.tools(connection)
        for tool in CONTENT_TOOLS * ROUNDS:
            try:
                await tools[tool.name].call("{}")
            except toolwire.ToolFailure:
                continue  # the one that fails, always
        wire = connection.wire
        return {"server": server.lanes, "client": Lanes() if wire is None else Lanes.of(wire.counters)}
