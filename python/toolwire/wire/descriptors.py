"""The server's own end of a pipe: standard input and output as a channel, and kept for the protocol alone.

While it is open, file descriptor 1 is stderr and 0 is the null device: what a handler or its child prints can't break
the stream, and nobody reads the client's messages but the wire.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections import deque

import anyio
import anyio.from_thread
import anyio.to_thread

from toolwire.wire.channel import Listener
from toolwire.wire.limits import FLUSH_TIMEOUT, READ_CHUNK, READS_A_TURN, WRITE_HIGH_WATER
from toolwire.wire.runtime import Runtime, Watch

__all__ = ["DescriptorChannel", "claimed_stdio"]


class DescriptorChannel:
    """Two descriptors of a peer: what it wrote is read from one, what it should read is written to the other."""

    exit_code = None
    stderr_tail = b""

    def __init__(self, runtime: Runtime, source: int, sink: int) -> None:
        self._runtime = runtime
        self._source = source
        self._sink = sink
        self._listener: Listener
        self._reading: Watch | None = None
        self._writing: Watch | None = None
        self._unwritten: deque[bytes] = deque()
        self._unwritten_bytes = 0
        self._flush_scheduled = False
        self._ended = False
        self._broken = False
        self._paused = False
        self._flushed = anyio.Event()
        self._was_blocking = [(descriptor, os.get_blocking(descriptor)) for descriptor in (source, sink)]

    @property
    def full(self) -> bool:
        """More than the high-water mark is unwritten."""
        return self._unwritten_bytes > WRITE_HIGH_WATER

    @property
    def unwritten(self) -> int:
        """Bytes that the peer has not taken yet."""
        return self._unwritten_bytes

    async def open(self, listener: Listener, /) -> None:
        """Starts to read."""
        self._listener = listener
        self._flushed.set()
        os.set_blocking(self._sink, stat.S_ISREG(os.fstat(self._sink).st_mode))
        if stat.S_ISREG(os.fstat(self._source).st_mode):
            # A file is always readable, and no loop can watch it; it is also never endless.
            self._runtime.soon(self._read_file)
            return
        os.set_blocking(self._source, False)
        self.resume()

    def pause(self) -> None:
        """Reads no more for now."""
        self._paused = True
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def resume(self) -> None:
        """Reads again."""
        self._paused = False
        if self._reading is None and not self._ended:
            self._reading = self._runtime.readable(self._source, self._read)

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
                self._end()
                return
            self._listener.received(chunk)
            if len(chunk) < READ_CHUNK:
                return

    def _read_file(self) -> None:
        chunk = os.read(self._source, READ_CHUNK)
        if chunk:
            self._listener.received(chunk)
            self._runtime.soon(self._read_file)
        else:
            self._end()

    def _end(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
        if not self._ended:
            self._ended = True
            self._listener.ended("the client closed its output")

    def write(self, line: bytes, /, *, now: bool = False) -> None:
        """Accepts bytes to send; those of one turn leave together."""
        if self._broken:
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
        was_full = self.full
        while self._unwritten:
            batch = self._unwritten.popleft() if len(self._unwritten) == 1 else b"".join(self._unwritten)
            self._unwritten.clear()
            try:
                written = os.write(self._sink, batch)
            except BlockingIOError:
                written = 0
            except OSError:
                self._broken = True
                self._unwritten_bytes = 0
                break
            self._unwritten_bytes -= written
            if written < len(batch):
                self._unwritten.append(batch[written:])
                if self._writing is None:
                    self._flushed = anyio.Event()
                    self._writing = self._runtime.writable(self._sink, self._flush)
                break
        if not self._unwritten:
            if self._writing is not None:
                self._writing.cancel()
                self._writing = None
            self._flushed.set()
        if was_full and not self.full:
            self._listener.writable()

    async def aclose(self) -> None:
        """Writes what is left, for a moment, and gives the descriptors back as they were."""
        self._ended = True
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
        if not self._broken:
            self._flush()
        with anyio.move_on_after(FLUSH_TIMEOUT):
            await self._flushed.wait()
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
        self._broken = True
        for descriptor, blocking in self._was_blocking:
            os.set_blocking(descriptor, blocking)


_claim = threading.Lock()


class claimed_stdio:  # noqa: N801 - a context manager, used as one
    """Descriptors 0 and 1 for the wire alone: gives private copies, and puts the null device and stderr in their places.

    Raises RuntimeError when they are claimed already.
    """

    def __enter__(self) -> tuple[int, int]:
        if not _claim.acquire(blocking=False):
            raise RuntimeError("standard input and output serve another session already")
        sys.stdout.flush()
        self._source, self._sink = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        return self._source, self._sink

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()
        os.dup2(self._source, 0)
        os.dup2(self._sink, 1)
        os.close(self._source)
        os.close(self._sink)
        _claim.release()
