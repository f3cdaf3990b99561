"""The stdio channel over anyio's streams, for loops that have no descriptor watchers of their own: trio."""

from __future__ import annotations

import signal
from collections import deque

import anyio
import anyio.abc

from toolwire.errors import ConnectError
from toolwire.wire.channel import Listener
from toolwire.wire.limits import (
    EXIT_GRACE,
    EXIT_TIMEOUT,
    FLUSH_TIMEOUT,
    KILL_TIMEOUT,
    READ_CHUNK,
    SILENT_AFTER_EXIT,
    TERMINATE_TIMEOUT,
    WRITE_HIGH_WATER,
)
from toolwire.wire.process import Command, Tail, environment, exit_reason, signal_group, start_errors

__all__ = ["StreamChannel"]


class StreamChannel:
    """A server process behind anyio's pipes, moved by three tasks of the wire's group."""

    def __init__(self, command: Command, tasks: anyio.abc.TaskGroup) -> None:
        self._command = command
        self._tasks = tasks
        self._tail = Tail(command.errlog)
        self._listener: Listener
        self._process: anyio.abc.Process | None = None
        self._unwritten: deque[bytes] = deque()
        self._unwritten_bytes = 0
        self._wanted = anyio.Event()
        self._flushed = anyio.Event()
        self._output_ended = anyio.Event()
        self._exited = anyio.Event()
        self._ended = False
        self._heard = 0.0
        self._closing = False
        self._closed = anyio.Event()

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
        self._listener = listener
        command = self._command
        with start_errors(command):
            self._process = await anyio.open_process(
                list(command.argv), env=environment(command), cwd=command.cwd, start_new_session=True
            )
        if self._process.stdout is None or self._process.stderr is None or self._process.stdin is None:
            raise ConnectError(f"the command {command.shown!r} started without pipes")
        self._tasks.start_soon(self._read, self._process.stdout)
        self._tasks.start_soon(self._read_stderr, self._process.stderr)
        self._tasks.start_soon(self._write, self._process.stdin)
        self._tasks.start_soon(self._watch_exit, self._process)

    async def _read(self, stdout: anyio.abc.ByteReceiveStream) -> None:
        try:
            while True:
                chunk = await stdout.receive(READ_CHUNK)
                self._heard = anyio.current_time()
                if not self._ended:
                    self._listener.received(chunk)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        self._output_ended.set()
        with anyio.move_on_after(EXIT_GRACE):
            await self._exited.wait()
        self._end()

    async def _read_stderr(self, stderr: anyio.abc.ByteReceiveStream) -> None:
        try:
            while True:
                self._tail.push(await stderr.receive(READ_CHUNK))
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass

    async def _write(self, stdin: anyio.abc.ByteSendStream) -> None:
        try:
            while True:
                while not self._unwritten:
                    self._wanted = anyio.Event()
                    self._flushed.set()
                    await self._wanted.wait()
                batch = b"".join(self._unwritten)
                self._unwritten.clear()
                was_full = self.full
                await stdin.send(batch)
                self._unwritten_bytes -= len(batch)
                if was_full and not self.full:
                    self._listener.writable()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            self._unwritten_bytes = 0
            self._flushed.set()

    async def _watch_exit(self, process: anyio.abc.Process) -> None:
        await process.wait()
        self._exited.set()
        self._heard = max(self._heard, anyio.current_time())
        # A child may go on serving after its parent; only its silence says that nobody is left to answer.
        while not self._output_ended.is_set():
            silent = anyio.current_time() - self._heard
            if silent >= SILENT_AFTER_EXIT:
                break
            with anyio.move_on_after(SILENT_AFTER_EXIT - silent):
                await self._output_ended.wait()
        self._end()

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._listener.ended(exit_reason(self.exit_code))

    def write(self, line: bytes, /, *, now: bool = False) -> None:
        """Accepts bytes to send; they leave with all that is accepted until the writer's turn."""
        if self._ended:
            return
        self._unwritten.append(line)
        self._unwritten_bytes += len(line)
        self._flushed = anyio.Event()
        self._wanted.set()

    async def aclose(self) -> None:
        """End of input, wait, terminate, kill the group: within five seconds, once."""
        process = self._process
        if process is None:
            return
        if self._closing:
            await self._closed.wait()
            return
        self._closing = self._ended = True
        if self._unwritten:
            await _within(FLUSH_TIMEOUT, self._flushed)
        if process.stdin is not None:
            await process.stdin.aclose()
        if await _within(EXIT_TIMEOUT, self._exited):
            if signal_group(process.pid, signal.SIGTERM):
                await anyio.sleep(0.05)
                signal_group(process.pid, signal.SIGKILL)
        else:
            signal_group(process.pid, signal.SIGTERM)
            await _within(TERMINATE_TIMEOUT, self._exited)
            signal_group(process.pid, signal.SIGKILL)
            await _within(KILL_TIMEOUT, self._exited)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                await stream.aclose()
        self._closed.set()


async def _within(seconds: float, event: anyio.Event) -> bool:
    """Waits for an event, not for ever."""
    with anyio.move_on_after(seconds):
        await event.wait()
    return event.is_set()
