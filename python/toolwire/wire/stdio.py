"""The stdio channel: a server process behind pipes that the event loop itself watches, no stream and no task between.

Reads go straight from the pipe into the listener. How requests leave stands in `outflow.py`, how the process starts in
`process.py`, how it ends in `exit.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO

import anyio

from toolwire.wire.channel import Listener
from toolwire.wire.exit import Exit
from toolwire.wire.limits import (
    COMPANY,
    EXIT_GRACE,
    FLUSH_TIMEOUT,
    READ_CHUNK,
    READS_A_TURN,
    SILENT_AFTER_EXIT,
    VIGIL_REQUESTS,
)
from toolwire.wire.outflow import Outflow
from toolwire.wire.process import Command, Tail, spawn
from toolwire.wire.runtime import Runtime, Watch
from toolwire.wire.vigil import Vigil

__all__ = ["PipeChannel"]


class PipeChannel:
    """A server process behind pipes. `waiting` counts who waits for an answer: then silence means an end."""

    def __init__(self, command: Command, runtime: Runtime, waiting: Callable[[], int]) -> None:
        self._command = command
        self._runtime = runtime
        self._waiting = waiting
        self._tail = Tail(command.errlog)
        self._vigil = Vigil(runtime.now, runtime.soon) if runtime.turns_are_cheap else None
        self._listener: Listener
        self._out: Outflow
        self._pipes: list[IO[bytes]] = []
        self._exit: Exit
        self._stdout = self._stderr = -1
        self._reading: Watch
        self._reading_stderr: Watch
        self._timer: Watch | None = None
        self._heard = 0.0
        self._expects_silence = False
        self._output_ended = False
        self._deaf = False
        self._ended = False
        self._closing = False
        self._closed = anyio.Event()

    @property
    def exit_code(self) -> int | None:
        """The exit code of the process, once it has one."""
        return self._exit.code if self._pipes else None

    @property
    def stderr_tail(self) -> bytes:
        """The last 64 KiB of the server's stderr."""
        return bytes(self._tail)

    async def open(self, listener: Listener, /) -> None:
        """Starts the process. Raises ConnectError."""
        # Nothing is awaited here: a cancellation between the start and the return would leave the process behind.
        self._listener = listener
        process = spawn(self._command)
        self._pipes = [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe is not None]
        self._exit = Exit(process, self._runtime, self._exited)
        stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in self._pipes)
        for descriptor in (stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._out = Outflow(
            self._runtime,
            stdin,
            sent=self._sent,
            drained=listener.writable,
            broken=self._reads_no_more,
            company=COMPANY,
        )
        self._reading = self._runtime.readable(self._stdout, self._read)
        self._reading_stderr = self._runtime.readable(self._stderr, self._read_stderr)

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
                self._reading.cancel()
                self._output_has_ended()
                return
            self._heard = self._runtime.now()
            if self._vigil is not None:
                self._vigil.heard()
            if not self._ended:
                self._listener.received(chunk)
            if len(chunk) < READ_CHUNK:
                # The pipe was emptied; to ask it once more would cost a system call that mostly says so.
                return

    def _read_stderr(self) -> None:
        for _ in range(READS_A_TURN):
            try:
                chunk = os.read(self._stderr, READ_CHUNK)
            except BlockingIOError:
                return
            except OSError:
                chunk = b""
            if not chunk:
                self._reading_stderr.cancel()
                return
            self._tail.push(chunk)

    # The end of the server

    def _exited(self) -> None:
        if self._output_ended:
            self._end()
        else:
            self._expect_silence()

    def _output_has_ended(self) -> None:
        """The exit code follows within moments, or never."""
        self._output_ended = True
        if self._exit.reap():
            self._end()
        else:
            self._later(self._runtime.now() + EXIT_GRACE, self._end)

    def _expect_silence(self) -> None:
        """A child may serve after its parent; only unanswered silence says that nobody is left."""
        self._expects_silence = True
        self._heard = self._runtime.now()
        self._watch_silence()

    def _watch_silence(self) -> None:
        if self._ended or self._output_ended:
            return
        now = self._runtime.now()
        due = self._heard + SILENT_AFTER_EXIT
        if now >= due and self._waiting():
            self._end()
        else:
            self._later(due if now < due else now + SILENT_AFTER_EXIT, self._watch_silence)

    def _end(self) -> None:
        if self._ended:
            return
        self._ended = True
        self._later(None, self._end)
        self._read_stderr()
        self._stop_writing()
        self._listener.ended(self._exit.reason or f"the server closed its {'input' if self._deaf else 'output'}")

    def _later(self, when: float | None, call: Callable[[], object]) -> None:
        """Calls at `when`, in place of what was to be called; `None` calls nothing."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if when is None else self._runtime.at(when, call)

    # Writing

    @property
    def full(self) -> bool:
        """More than the high-water mark is unwritten, or the server reads no more."""
        return self._out.full

    def write(self, line: bytes, /, *, now: bool = False) -> None:
        """Accepts bytes to send; `now` writes at once when nothing stands before them."""
        if self._ended:
            return
        if self._expects_silence:
            # A new request has its own time to be answered in.
            self._heard = self._runtime.now()
        self._out.write(line, now=now)

    def _sent(self) -> None:
        if self._vigil is not None and 0 < self._waiting() <= VIGIL_REQUESTS:
            self._vigil.begin()

    def _reads_no_more(self) -> None:
        """What the server still has to say is read until it falls silent."""
        self._deaf = True
        self._stop_writing()
        self._expect_silence()

    def _stop_writing(self) -> None:
        self._out.stop()
        self._pipes[0].close()

    # Closing

    async def aclose(self) -> None:
        """End of input, wait, terminate, kill the group: within five seconds, once."""
        if not self._pipes:
            return
        if self._closing:
            await self._closed.wait()
        else:
            self._closing = self._ended = True
            await self._runtime.sheltered(self._close, self._give_up)

    async def _close(self) -> None:
        await self._out.emptied(FLUSH_TIMEOUT)
        self._stop_writing()
        await self._exit.bring_about()
        self._release()

    def _give_up(self) -> None:
        """The event loop itself is going away, and with it every other chance to end the server."""
        self._exit.kill()
        self._release()

    def _release(self) -> None:
        self._closed.set()
        self._stop_writing()
        self._later(None, self._end)
        self._exit.forget()
        for watch, pipe in zip((self._reading, self._reading_stderr), self._pipes[1:], strict=True):
            watch.cancel()
            pipe.close()
