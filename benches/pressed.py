"""Programs that make calls when they are told to: the raw client, and the Rust SDK's. One is one session."""

import json
import subprocess
from collections.abc import Sequence
from types import TracebackType
from typing import Self


class Pressed:
    """A session that calls `echo`. `first` is what the program printed of its first answer: a line, or a text."""

    def __init__(self, program: str, era: str, server: Sequence[str]) -> None:
        command = [program, era, *server]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.first = self._read()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"{self._process.args!r} has ended"
        return line.removesuffix("\n")

    @property
    def content(self) -> object:
        """The content of the first answer."""
        content = json.loads(self.first)["result"]["content"]
        return [{name: value for name, value in block.items() if value is not None} for block in content]

    def seconds(self, calls: int, in_flight: int) -> float:
        """Time one call: `calls` of them, `in_flight` at any time."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{in_flight} {calls}\n")
        self._process.stdin.flush()
        return int(self._read()) / 1e9 / calls

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.__exit__(kind, error, trace)  # it closes the pipes, and the program goes at the end of its input
