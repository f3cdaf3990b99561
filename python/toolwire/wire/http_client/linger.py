"""The rest of a stream behind its answer: read for a moment, so that its connection can carry the next request."""

from __future__ import annotations

from typing import Final

import anyio
import anyio.abc

from toolwire.wire.http_client.engine import Lost, Reply

__all__ = ["LINGERERS", "Linger"]

MOMENT: Final = 1.0
"""Seconds for a server to end a stream that it has answered on."""
REST: Final = 64 * 1024
"""Bytes of it that are read: what is still said there is said to nobody."""
LINGERERS: Final = 64
"""Streams that are waited for at any time, beside the calls in flight: a server may end none of them."""


class Linger:
    """Reads responses to their end, if that comes soon, and gives their connections back."""

    def __init__(self, tasks: anyio.abc.TaskGroup) -> None:
        self._tasks = tasks
        self._count = 0

    def takes(self, reply: Reply) -> bool:
        """Takes a response over; False where it has ended, or there are enough: then it is its reader's to close."""
        if reply.ended or self._count >= LINGERERS or self._tasks.cancel_scope.cancel_called:
            return False
        self._count += 1
        self._tasks.start_soon(self._read, reply)
        return True

    async def _read(self, reply: Reply) -> None:
        rest = 0
        try:
            with anyio.move_on_after(MOMENT):
                while rest < REST and (part := await reply.chunk()):
                    rest += len(part)
        except Lost:
            pass
        finally:
            self._count -= 1
            with anyio.CancelScope(shield=True):
                await reply.aclose()
