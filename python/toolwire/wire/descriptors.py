"""The server's own end of a pipe: two descriptors as a channel. What they are is not asked: pipes, sockets, files.

Reads go straight into the listener; how answers leave stands in `outflow.py`.
"""

import os
import select
import stat
from contextlib import suppress

from toolwire.wire.channel import HeldListener
from toolwire.wire.limits import FLUSH_TIMEOUT, READ_CHUNK, READS_A_TURN
from toolwire.wire.outflow import Outflow
from toolwire.wire.runtime import Runtime, Watch
from toolwire.wire.vigil import Vigil

__all__ = ["DescriptorChannel"]


class DescriptorChannel:
    """A peer that writes to one descriptor and reads from another. They are given back as they were, not closed."""

    def __init__(self, runtime: Runtime, source: int, sink: int) -> None:
        self._runtime = runtime
        self._source = source
        self._sink = sink
        self._listener: HeldListener
        self._out: Outflow
        self._watched = _is_watchable(source)
        self._reading: Watch | None = None
        self._read_scheduled = False
        self._paused = True
        self._ended = False
        self._vigil = Vigil(runtime.now, runtime.soon) if runtime.turns_are_cheap else None

    async def open(self, listener: HeldListener, /) -> None:
        """Start to read."""
        self._listener = listener
        self._out = Outflow(
            self._runtime, self._sink, sent=self._sent, drained=listener.writable, broken=self._reads_no_more
        )
        self._were_blocking = [(one, os.get_blocking(one)) for one in (self._source, self._sink)]
        for descriptor in (self._source, self._sink):
            os.set_blocking(descriptor, False)
        self.resume()

    # Reading

    def pause(self) -> None:
        """Read no more for now."""
        self._paused = True
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def resume(self) -> None:
        """Read again."""
        if not self._paused or self._ended:
            return
        self._paused = False
        if self._watched:
            self._reading = self._runtime.readable(self._source, self._read)
        else:
            self._read_soon()

    def _read_soon(self) -> None:
        # Files and the null device are always readable, and no loop can watch them; they also have an end.
        if not self._read_scheduled and not self._paused:
            self._read_scheduled = True
            self._runtime.soon(self._read_on)

    def _read_on(self) -> None:
        self._read_scheduled = False
        self._read()
        self._read_soon()

    def _read(self) -> None:
        for _ in range(READS_A_TURN):
            if self._paused:
                return
            try:
                chunk = os.read(self._source, READ_CHUNK)
            except BlockingIOError:
                return
            except OSError:
                chunk = b""
            if not chunk:
                self._end("the client closed its output")
                return
            if self._vigil is not None:
                self._vigil.heard()
            self._listener.received(chunk)
            if len(chunk) < READ_CHUNK:
                # It was emptied; to ask it once more would cost a system call that mostly says so.
                return

    def _end(self, reason: str) -> None:
        self.pause()
        if not self._ended:
            self._ended = True
            self._listener.ended(reason)

    # Writing

    @property
    def full(self) -> bool:
        """More than the high-water mark is unwritten, or the client reads no more."""
        return self._out.full

    @property
    def unwritten(self) -> int:
        """Bytes that the peer has not taken yet."""
        return self._out.unwritten

    def write(self, line: bytes, /, *, now: bool = False) -> None:
        """Accept bytes to send; those of one turn leave together."""
        self._out.write(line, now=now)

    def _sent(self) -> None:
        if self._vigil is not None and self._listener.idle:
            self._vigil.begin()

    def _reads_no_more(self) -> None:
        """Nothing that the peer still asks for is worth doing, since it will read nothing any more."""
        self._end("the client closed its input")

    # Closing

    async def aclose(self) -> None:
        """Write what is left, as long as the peer takes it, and give the descriptors back."""
        self._ended = True
        self.pause()
        self._out.flush()
        left = self._out.unwritten
        while not await self._out.emptied(FLUSH_TIMEOUT) and self._out.unwritten < left:
            left = self._out.unwritten
        self._out.stop()
        for descriptor, blocking in self._were_blocking:
            with suppress(OSError):
                os.set_blocking(descriptor, blocking)


def _is_watchable(descriptor: int) -> bool:
    """Tell whether a loop can wait for a descriptor: it can't for what is always ready."""
    if not hasattr(select, "epoll"):
        return not stat.S_ISREG(os.fstat(descriptor).st_mode)
    with select.epoll() as waiting:
        try:
            waiting.register(descriptor)
        except PermissionError:
            return False
    return True
