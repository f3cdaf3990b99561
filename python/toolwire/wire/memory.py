"""A channel inside one process: what one end writes, the other end hears, a turn of the loop later."""

from __future__ import annotations

from collections import deque

from toolwire.wire.channel import Listener
from toolwire.wire.runtime import Runtime

__all__ = ["MemoryChannel", "memory_pair"]


class MemoryChannel:
    """One end. Bytes of one turn arrive together, as they would from a pipe."""

    exit_code = None
    stderr_tail = b""
    full = False
    unwritten = 0

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._listener: Listener | None = None
        self.other: MemoryChannel
        self._arrived: deque[bytes] = deque()
        self._scheduled = False
        self._ended = False

    async def open(self, listener: Listener, /) -> None:
        """Starts to hear."""
        self._listener = listener
        self._schedule()

    def write(self, line: bytes, /, *, now: bool = False) -> None:
        """Sends to the other end."""
        del now
        if not self._ended:
            self.other.hear(line)

    def pause(self) -> None:
        """The other end never waits for this one: there is nothing to hold back."""

    def resume(self) -> None:
        """See `pause`."""

    def hear(self, line: bytes) -> None:
        """The other end has sent this; the listener gets it in the loop's next round."""
        self._arrived.append(line)
        self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled and self._listener is not None and self._arrived:
            self._scheduled = True
            self._runtime.soon(self._deliver)

    def _deliver(self) -> None:
        self._scheduled = False
        if self._listener is not None and self._arrived and not self._ended:
            chunk = b"".join(self._arrived)
            self._arrived.clear()
            self._listener.received(chunk)

    def hear_end(self) -> None:
        """The other end is gone: what it sent before is delivered first."""
        self._deliver()
        if not self._ended:
            self._ended = True
            if self._listener is not None:
                self._listener.ended("the other end was closed")

    async def aclose(self) -> None:
        """Hangs up: the other end hears that this one is gone."""
        if not self._ended:
            self._ended = True
            self._runtime.soon(self.other.hear_end)


def memory_pair(runtime: Runtime) -> tuple[MemoryChannel, MemoryChannel]:
    """The two ends of a channel."""
    one, two = MemoryChannel(runtime), MemoryChannel(runtime)
    one.other, two.other = two, one
    return one, two
