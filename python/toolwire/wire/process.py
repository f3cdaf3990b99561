"""One server process: how it starts, why it did not, what is kept of its stderr. How it ends stands in `exit.py`.

Its own session and process group, so that its children end with it (fault I4).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from mcp.client.stdio import get_default_environment

from toolwire.errors import ConnectError
from toolwire.wire.limits import PIPE_SIZE, STDERR_TAIL

__all__ = ["Command", "Tail", "spawn"]


@dataclass(frozen=True, slots=True)
class Command:
    """A server as a command: `env` is merged over the variables that the SDK inherits by default."""

    argv: Sequence[str]
    env: Mapping[str, str] | None = None
    cwd: str | Path | None = None
    errlog: IO[Any] | None = None

    @property
    def shown(self) -> str:
        """The command for an error text."""
        return " ".join(self.argv)


class Tail:
    """The last bytes of a server's stderr, passed on to `errlog` as they come."""

    def __init__(self, errlog: IO[Any] | None) -> None:
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._pass_on = _writer(errlog)

    def push(self, chunk: bytes) -> None:
        """Keeps a chunk, and forgets what has become too old."""
        self._chunks.append(chunk)
        self._size += len(chunk)
        while self._size - len(self._chunks[0]) >= STDERR_TAIL:
            self._size -= len(self._chunks.popleft())
        if self._pass_on is not None:
            # A log that cannot be written to is the caller's trouble, never the session's, whatever it raises.
            with contextlib.suppress(Exception):
                self._pass_on(chunk)

    def __bytes__(self) -> bytes:
        return b"".join(self._chunks)[-STDERR_TAIL:]


def _writer(errlog: IO[Any] | None) -> Callable[[bytes], Any] | None:
    if errlog is None:
        return None
    buffer = getattr(errlog, "buffer", None)

    def write(chunk: bytes) -> None:
        if buffer is not None:
            buffer.write(chunk)
            buffer.flush()
            return
        try:
            errlog.write(chunk)
        except TypeError:
            errlog.write(chunk.decode("utf-8", "replace"))
        errlog.flush()

    return write


def environment(command: Command) -> dict[str, str]:
    """The environment of the server: the SDK's choice of ours, and the caller's over it."""
    return get_default_environment() | dict(command.env or {})


def spawn(command: Command) -> subprocess.Popen[bytes]:
    """Starts the server with three pipes in a session of its own. Raises ConnectError with what to do."""
    with _start_errors(command):
        process = subprocess.Popen(  # noqa: S603 - the caller's own command is what a wire is for
            list(command.argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment(command),
            cwd=command.cwd,
            start_new_session=True,
        )
    if process.stdout is not None:
        _widen(process.stdout.fileno())
    return process


def _widen(pipe: int) -> None:
    """Lets a long message come in a few large pieces, each of which costs a wake-up at either end."""
    resize = getattr(fcntl, "F_SETPIPE_SZ", None)
    if resize is not None:
        # Without privileges a user who has very many pipes is refused: then it stays as it is.
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, resize, PIPE_SIZE)


@contextlib.contextmanager
def _start_errors(command: Command) -> Iterator[None]:
    """Turns what the system says about a command that did not start into a text for a person."""
    if not command.argv or not all(isinstance(word, str) for word in command.argv):
        raise ConnectError(f"the command must be a list of strings, got {command.argv!r}")
    try:
        yield
    except (OSError, ValueError) as error:
        raise ConnectError(_start_failure(command, error)) from error


def _start_failure(command: Command, error: Exception) -> str:
    program, cwd = command.argv[0], command.cwd
    if cwd is not None and not _holds(Path(cwd).is_dir):
        return f"the directory {str(cwd)!r} does not exist or is no directory: pass cwd= a directory"
    if cwd is not None and not os.access(cwd, os.X_OK):
        return f"the directory {str(cwd)!r} may not be entered: check its permissions"
    if isinstance(error, FileNotFoundError) and "/" in program and _holds(Path(program).is_file):
        return f"the command {program!r} did not start: the interpreter that its first line names was not found"
    if isinstance(error, FileNotFoundError):
        return f"the command {program!r} was not found: check its spelling and the PATH, or install it"
    if isinstance(error, PermissionError):
        return f"the command {program!r} may not be run: check that it is an executable file"
    return f"the command {program!r} did not start: {error}"


def _holds(question: Callable[[], bool]) -> bool:
    """A question to the file system; where a folder on the way may not be searched, the answer is no."""
    try:
        return question()
    except OSError:
        return False
