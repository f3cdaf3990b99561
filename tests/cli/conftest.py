"""The installed `toolwire` command, run as a person runs it: a process, its words, its exit code."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).with_name("toolwire"))
PATIENCE = 60


@dataclass(frozen=True)
class Ran:
    """What one run of the command left behind. No case of these tests may end in a traceback."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def said(self) -> str:
        """What stderr says, its line breaks taken out: a message is not pinned to the width of a terminal."""
        return " ".join(self.err.decode().split())


Run = Callable[..., Ran]


@pytest.fixture
def toolwire() -> Run:
    def run(*words: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Ran:
        environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "FORCE_COLOR")}
        done = subprocess.run(
            [COMMAND, *words],
            input=stdin,
            capture_output=True,
            env={**environment, **(env or {})},
            timeout=PATIENCE,
            check=False,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def on_terminal() -> Callable[..., bytes]:
    """Run the command with a terminal for stdout and stderr, and give everything that the terminal got."""

    def run(*words: str) -> bytes:
        ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
        environment.pop("NO_COLOR", None)
        with subprocess.Popen(
            [COMMAND, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment
        ) as child:
            os.close(theirs)
            got: list[bytes] = []
            with suppress(OSError):  # Linux ends a terminal without writers with EIO
                while chunk := os.read(ours, 65536):
                    got.append(chunk)
            os.close(ours)
            assert child.wait(PATIENCE) == 0
        return b"".join(got)

    return run
