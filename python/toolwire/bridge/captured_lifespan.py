"""A server's lifespan, which also tells what the server is served on: what it yielded, and when that ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token

from toolwire.wire.server import current_wire

__all__ = ["captured_lifespan"]


def captured_lifespan(lifespan: Any) -> Any:
    """The server's lifespan, which also tells the wire what it yielded."""

    @asynccontextmanager
    async def captured(server: Any) -> AsyncIterator[Any]:
        async with lifespan(server) as state:
            wire = current_wire.get()
            if wire is None:
                yield state
                return
            wire.opened(state, get_access_token())
            try:
                yield state
            finally:
                # The SDK joins its handlers before the lifespan ends, and ours use its state too.
                await wire.quiet()

    return captured
