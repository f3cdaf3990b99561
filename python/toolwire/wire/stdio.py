"""The stdio channel on asyncio: pipes watched by the event loop itself, no stream and no task between.

Reads go straight from the pipe into the listener; writes of one turn of the loop leave together, and a write that
has no company leaves at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections import deque

import anyio

from toolwire.errors import ToolwireError
from toolwire.wire.channel import Listener
from toolwire.wire.limits import (
    EXIT_GRACE,
    EXIT_TIMEOUT,
    FLUSH_TIMEOUT,
    KILL_TIMEOUT,
    READ_CHUNK,
    READS_A_TURN,
    SILENT_AFTER_EXIT,
    TERMINATE_TIMEOUT,
    WRITE_HIGH_WATER,
)
from toolwire.wire.process import Command, Tail, exit_reason, signal_group, spawn

__all__ = ["PipeChannel"]


class PipeChannel:
    """A server process behind two pipes."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._tail = Tail(command.errlog)
        self._loop: asyncio.AbstractEventLoop
        self._listener: Listener
        self._process: subprocess.Popen[bytes] | None = None
        self._stdin = self._stdout = self._stderr = self._pidfd = -1
        self._unwritten: deque[bytes] = deque()
        self._unwritten_bytes = 0
        self._flush_scheduled = False
        self._blocked = False
        self._was_full = False
        self._ended = False
        self._exited = asyncio.Event()
        self._flushed = asyncio.Event()
        self._heard = 0.0
        self._closing: asyncio.Task[None] | None = None

    @property
    def full(self) -> bool:
        """More than the high-water mark is unwritten."""
        return self._unwritten_bytes > WRITE_HIGH_WATER

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process, once it has one."""
        return None if self._process is None else self._process.returncode

    @property
    def stderr_tail(self) -> bytes:
        """The last 64 KiB of the server's stderr."""
        return bytes(self._tail)

    async def open(self, listener: Listener, /) -> None:
        """Starts the process. Raises ConnectError."""
        self._loop = asyncio.get_running_loop()
        self._listener = listener
        process = self._process = spawn(self._command)
        assert process.stdin and process.stdout and process.stderr
        self._stdin, self._stdout, self._stderr = (os.dup(pipe.fileno()) for pipe in (process.stdin, process.stdout, process.stderr))
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._loop.add_reader(self._stdout, self._read)
        self._loop.add_reader(self._stderr, self._read_stderr)
        self._watch_exit()

    # Reading

    def _read(self) -> None:
        for _ in range(READS_A_TURN):
            try:
                chunk = os.read(self._stdout, READ_CHUNK)
            except BlockingIOError:
                return
            except OSError:
                chunk = b""
            if not chunk:
                self._loop.remove_reader(self._stdout)
                self._end_with_exit_code(self._loop.time() + EXIT_GRACE)
                return
            self._heard = self._loop.time()
            if not self._ended:
                self._listener.received(chunk)
            if len(chunk) < READ_CHUNK:
                # The pipe was emptied; to ask it once more would cost a system call that mostly says so.
                return

    def _read_stderr(self) -> None:
        with contextlib.suppress(BlockingIOError):
            for _ in range(READS_A_TURN):
                try:
                    chunk = os.read(self._stderr, READ_CHUNK)
                except BlockingIOError:
                    return
                except OSError:
                    chunk = b""
                if not chunk:
                    self._loop.remove_reader(self._stderr)
                    return
                self._tail.push(chunk)

    # The end of the server

    def _watch_exit(self) -> None:
        assert self._process is not None
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):
                self._pidfd = os.pidfd_open(self._process.pid)
                self._loop.add_reader(self._pidfd, self._reap)
                return
        self._poll_exit()

    def _poll_exit(self) -> None:
        if not self._reap():
            self._loop.call_later(0.02, self._poll_exit)

    def _reap(self) -> bool:
        if self._exited.is_set():
            return True
        if self._process is None or self._process.poll() is None:
            return False
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1
        self._exited.set()
        self._heard = max(self._heard, self._loop.time())
        self._watch_silence()
        return True

    def _watch_silence(self) -> None:
        # A child may go on serving after its parent; only its silence says that nobody is left to answer.
        if self._ended or self._closing is not None:
            return
        silent = self._loop.time() - self._heard
        if silent >= SILENT_AFTER_EXIT:
            self._end()
        else:
            self._loop.call_later(SILENT_AFTER_EXIT - silent, self._watch_silence)

    def _end_with_exit_code(self, deadline: float) -> None:
        """The output has ended: the exit code follows within moments, or never."""
        if self._reap() or self._loop.time() >= deadline:
            self._end()
        else:
            self._loop.call_later(0.005, self._end_with_exit_code, deadline)

    def _end(self) -> None:
        if self._ended:
            return
        self._ended = True
        if self._stderr >= 0:
            self._read_stderr()
        self._drop_unwritten()
        self._listener.ended(exit_reason(self.exit_code))

    # Writing

    def write(self, line: bytes, /, *, now: bool = False) -> None:
        """Accepts bytes to send; `now` writes at once when nothing stands before them."""
        if self._ended or self._stdin < 0:
            return
        self._unwritten.append(line)
        self._unwritten_bytes += len(line)
        if self._blocked or self._flush_scheduled:
            return
        if now:
            self._flush()
        else:
            self._flush_scheduled = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_scheduled = False
        if self._stdin < 0:
            return
        self._was_full = self._was_full or self.full
        while self._unwritten:
            batch = self._unwritten.popleft() if len(self._unwritten) == 1 else b"".join(self._unwritten)
            self._unwritten.clear()
            try:
                written = os.write(self._stdin, batch)
            except BlockingIOError:
                written = 0
            except OSError:
                # The server reads no more. What it still has to say is read; its end of output ends the session.
                self._blocked = False
                self._drop_unwritten()
                return
            self._unwritten_bytes -= written
            if written < len(batch):
                self._unwritten.append(batch[written:] if written else batch)
                if not self._blocked:
                    self._blocked = True
                    self._loop.add_writer(self._stdin, self._flush)
                break
        else:
            if self._blocked:
                self._blocked = False
                self._loop.remove_writer(self._stdin)
            self._flushed.set()
        if self._was_full and not self.full:
            self._was_full = False
            self._listener.writable()

    def _drop_unwritten(self) -> None:
        if self._blocked and self._stdin >= 0:
            self._loop.remove_writer(self._stdin)
            self._blocked = False
        self._unwritten.clear()
        self._unwritten_bytes = 0
        self._flushed.set()
        if self._stdin >= 0:
            os.close(self._stdin)
            self._stdin = -1

    # Closing

    async def aclose(self) -> None:
        """End of input, wait, terminate, kill the group: within five seconds, once."""
        if self._process is None:
            return
        if self._closing is None:
            # A task of its own: a caller that is cancelled cannot leave a server behind.
            self._closing = self._loop.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        assert self._process is not None
        self._ended = True
        pid = self._process.pid
        if self._unwritten:
            self._flushed.clear()
            await _within(FLUSH_TIMEOUT, self._flushed)
        self._drop_unwritten()
        if await _within(EXIT_TIMEOUT, self._exited):
            # It went by itself; what it left in its group has nobody to serve.
            if signal_group(pid, signal.SIGTERM):
                await asyncio.sleep(0.05)
                signal_group(pid, signal.SIGKILL)
        else:
            signal_group(pid, signal.SIGTERM)
            await _within(TERMINATE_TIMEOUT, self._exited)
            signal_group(pid, signal.SIGKILL)
            await _within(KILL_TIMEOUT, self._exited)
        for descriptor in (self._stdout, self._stderr, self._pidfd):
            if descriptor >= 0:
                self._loop.remove_reader(descriptor)
                os.close(descriptor)
        self._stdout = self._stderr = self._pidfd = -1
        if not self._exited.is_set():
            raise ToolwireError(f"process {pid} survived SIGKILL for {KILL_TIMEOUT} s and was abandoned")


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Waits for an event, not for ever."""
    with anyio.move_on_after(seconds):
        await event.wait()
    return event.is_set()
