"""The server under test, everything that the suite asks for. `python -m conformance.server PORT` serves it by hand.

Its tools are toolwire's wherever toolwire has what they need; the rest is MCPServer's, on the same server. Resumable,
it stores events, so that a stream which is closed under a call goes on later; nothing goes express then.
"""

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer

import toolwire
from conformance.everything.asking import ASKING_TOOLS
from conformance.everything.content import CONTENT_TOOLS
from conformance.everything.readings import add_readings
from conformance.everything.requests import Events, add_requests
from conformance.everything.rounds import add_rounds
from conformance.lanes import Lanes
from toolwire import _sdk

__all__ = ["Served", "app", "served"]

RETRY = 100
"""Milliseconds after which a client comes back to a closed stream."""


def app(*, resumable: bool = False) -> Any:
    """The server as an app."""
    server = MCPServer("toolwire-everything", version="1", log_level="CRITICAL")
    toolwire.add_tools(server, *CONTENT_TOOLS, *ASKING_TOOLS)
    add_rounds(server)
    add_readings(server)
    # MCPServer has no public door for a method; the way to the server under it stands in one file of toolwire.
    add_requests(server, _sdk.lowlevel_of(server))
    stored = {"event_store": Events(), "retry_interval": RETRY} if resumable else {}
    return toolwire.http_app(server, **stored)


@dataclass(frozen=True)
class Served:
    """A server that runs: its address and the app."""

    url: str
    app: Any

    @property
    def lanes(self) -> Lanes:
        """The requests that it has had so far."""
        return Lanes.of(self.app.state.toolwire.counters)


@asynccontextmanager
async def served(*, resumable: bool = False) -> AsyncIterator[Served]:
    """The app under uvicorn at a free port of this machine."""
    serving = app(resumable=resumable)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        # Streams that a client left open must not hold the end.
        config = uvicorn.Config(serving, log_level="critical", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            yield Served(f"http://localhost:{listening.getsockname()[1]}/mcp", serving)
            server.should_exit = True


def main() -> None:
    """Serves it until the process is ended."""
    port, *options = sys.argv[1:]
    uvicorn.run(app(resumable="--resumable" in options), port=int(port))


if __name__ == "__main__":
    main()
