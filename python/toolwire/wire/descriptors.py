"""The server's own end of a pipe: two descriptors as a channel. What they are is not asked: pipes, sockets, files.

Reads go straight into the listener; writes of one turn of the loop leave together.
"""

import os
import select
import stat
from collections import deque
from contextlib import suppress

import anyio

from toolwire.wire.channel import Listener
from toolwire.wire.limits import FLUSH_TIMEOUT, READ_CHUNK, READS_A_TURN, WRITE_CHUNK, WRITE_HIGH_WATER
from toolwire.wire.runtime import Runtime, Watch

__all__ = ["DescriptorChannel"]


class DescriptorChannel:
    """A peer that writes to one descriptor and reads from another. They are given back as they were, not closed."""

    exit_code = None
    stderr_tail = b""

    def __init__(self, runtime: Runtime, source: int, sink: int) -> None:
        self._runtime = runtime
        self._source = source
        self._sink = sink
        self._listener: Listener
        self._watched = _is_watchable(source)
        self._reading: Watch | None = None
        self._read_scheduled = False
        self._paused = True
        self._ended = False
        self._unwritten: deque[bytes | memoryview] = deque()
        self._unwritten_bytes = 0
        self._writing: Watch | None = None
        self._flush_scheduled = False
        self._was_full = False
        self._deaf = False
        self._flushed: anyio.Event | None = None

    @property
    def full(self) -> bool:
        """More than the high-water mark is unwritten."""
        return self._unwritten_bytes > WRITE_HIGH_WATER

    @property
    def unwritten(self) -> int:
        """Bytes that the peer has not taken yet."""
        return self._unwritten_bytes

    async def open(self, listener: Listener, /) -> None:
        """Start to read."""
        self._listener = listener
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

    def write(self, line: bytes, /, *, now: bool = False) -> None:
        """Accept bytes to send; those of one turn leave together."""
        if self._deaf:
            return
        self._unwritten.append(line)
        self._unwritten_bytes += len(line)
        if self._writing is not None or self._flush_scheduled:
            return
        if now:
            self._flush()
        else:
            self._flush_scheduled = True
            self._runtime.soon(self._flush)

    def _flush(self) -> None:
        self._flush_scheduled = False
        self._was_full = self._was_full or self.full
        while self._unwritten:
            batch = self._batch()
            try:
                written = os.write(self._sink, batch)
            except BlockingIOError:
                written = 0
            except OSError:
                self._go_deaf()
                return
            self._unwritten_bytes -= written
            if written < len(batch):
                self._unwritten.appendleft(memoryview(batch)[written:])
                if self._writing is None:
                    self._writing = self._runtime.writable(self._sink, self._flush)
                break
        else:
            self._all_written()
        if self._was_full and not self.full:
            self._was_full = False
            self._listener.writable()

    def _batch(self) -> bytes | memoryview:
        """What leaves next: small messages together, a large one alone."""
        batch = self._unwritten.popleft()
        if not self._unwritten or len(batch) >= WRITE_CHUNK:
            return batch
        parts, size = [batch], len(batch)
        while self._unwritten and size < WRITE_CHUNK:
            size += len(self._unwritten[0])
            parts.append(self._unwritten.popleft())
        return b"".join(parts)

    def _all_written(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
        if self._flushed is not None:
            self._flushed.set()

    def _go_deaf(self) -> None:
        """The peer will read nothing any more, so nothing that it still asks for is worth doing."""
        self._deaf = True
        self._unwritten.clear()
        self._unwritten_bytes = 0
        self._all_written()
        self._end("the client closed its input")

    # Closing

    async def aclose(self) -> None:
        """Write what is left, as long as the peer takes it, and give the descriptors back."""
        self._ended = True
        self.pause()
        if self._unwritten:
            self._flush()
        while self._unwritten:
            before = self._unwritten_bytes
            self._flushed = anyio.Event()
            with anyio.move_on_after(FLUSH_TIMEOUT):
                await self._flushed.wait()
            if self._unwritten_bytes == before:
                break
        self._deaf = True
        self._unwritten.clear()
        self._all_written()
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
