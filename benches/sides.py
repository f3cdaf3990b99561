"""Both sides of a bench: a session of the SDK and a connection of toolwire, each to a process of its own."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import mcp
from mcp import ClientSession, StdioServerParameters

import toolwire

ERAS = {"2025-11-25": "legacy", "2026-07-28": "auto"}
"""Protocol eras, and the mode of the SDK's client that opens each with a server of both."""


@asynccontextmanager
async def sdk(argv: Sequence[str], era: str) -> AsyncIterator[ClientSession]:
    """Open the SDK's session over its own stdio transport."""
    command, *args = argv
    async with mcp.Client(StdioServerParameters(command=command, args=args), mode=ERAS[era]) as client:
        assert client.session.protocol_version == era
        yield client.session


@asynccontextmanager
async def ours(argv: Sequence[str], era: str) -> AsyncIterator[toolwire.Connection]:
    """Open toolwire's connection with the deadlines and limits that everybody has."""
    async with toolwire.connect(list(argv), mode=ERAS[era]) as connection:
        assert connection.session.protocol_version == era
        yield connection
