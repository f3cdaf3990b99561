"""The rest of a stream behind its answer: read for a moment, so that its connection can carry the next request."""

from __future__ import annotations

from typing import Final

import anyio

from toolwire.wire.http_client.engine import Lost, Reply

__all__ = ["drained"]

MOMENT: Final = 1.0
"""Seconds for a server to end a stream that it has answered on."""
REST: Final = 64 * 1024
"""Bytes of it that are read: what is still said there is said to nobody."""


async def drained(reply: Reply) -> None:
    """Reads a response to its end, if that comes soon, and gives its connection back."""
    rest = 0
    try:
        with anyio.move_on_after(MOMENT):
            while rest < REST and (part := await reply.chunk()):
                rest += len(part)
    except Lost:
        pass
    finally:
        with anyio.CancelScope(shield=True):
            await reply.aclose()
