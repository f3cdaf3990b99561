"""A client of raw bytes: it starts a server, writes what a test gives it, and reads lines with a deadline on each."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PATIENCE = 60.0
"""Seconds of silence after which a test gives up."""
LOOK, STILL = 0.2, 6
"""Seconds between two looks at the processor time of a server; so many without any, and it stands still."""
PROGRAM = str(Path(__file__).with_name("program.py"))
ERAS = ("2025-11-25", "2026-07-28")
KINDS = ("lowlevel", "mcpserver")
BACKENDS = ("asyncio", "trio")
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "peer", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def argv(kind: str = "lowlevel", backend: str = "asyncio", way: str = "run", *more: str) -> list[str]:
    return [sys.executable, PROGRAM, kind, backend, way, *more]


class Peer:
    """One server process. Its stderr is read all the time, so that it never waits for us to read that."""

    def __init__(
        self, command: Sequence[str], era: str = "2025-11-25", *, stdin: Any = None, stdout: Any = None
    ) -> None:
        self.era = era
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if stdin is None else stdin,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            bufsize=0,
            # What is printed is buffered, as it is for a person's server behind a pipe.
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        )
        self.output = self.process.stdout.fileno() if self.process.stdout is not None else -1
        self.input = self.process.stdin.fileno() if self.process.stdin is not None else -1
        self._rest = b""
        self._told: list[str] = []
        self._heard = threading.Condition()
        self.noise = b""
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._heard:
                if line.startswith(b">> "):
                    self._told.append(line[3:-1].decode())
                else:
                    self.noise += line
                self._heard.notify_all()
        with self._heard:
            self._told.append("")
            self._heard.notify_all()

    def told(self, text: str, times: int = 1) -> None:
        """Wait until the program has said `text` about itself."""
        with self._heard:
            found = self._heard.wait_for(lambda: self._told.count(text) >= times or "" in self._told, PATIENCE)
            assert found, f"the server did not say {text!r}, but {self._told}"
            assert self._told.count(text) >= times, f"the server said {self._told} and {self.noise.decode()}"

    @property
    def said(self) -> list[str]:
        return [text for text in self._told if text]

    # Writing

    def send(self, *chunks: bytes) -> None:
        """Write, and wait if the server does not read."""
        for chunk in chunks:
            rest = memoryview(chunk)
            while rest:
                ready = select.select([], [self.input], [], PATIENCE)[1]
                assert ready, "the server does not read"
                rest = rest[os.write(self.input, rest[:65536]) :]

    def open(self) -> None:
        """Open the session as this era does, and make the express lane certain of it."""
        if self.era == "2025-11-25":
            info = {"protocolVersion": self.era, "capabilities": {}, "clientInfo": {"name": "peer", "version": "1"}}
            assert "result" in self.ask("initialize", info)
            self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        else:
            assert "result" in self.ask("server/discover", {})
        assert self.call("echo", text="opened") == "opened"

    def request(self, method: str, params: dict[str, Any], identifier: Any = 1) -> bytes:
        if self.era != "2025-11-25":
            params = {**params, "_meta": {**ENVELOPE, **params.get("_meta", {})}}
        message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
        return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"

    def tool(self, name: str, identifier: Any = 1, /, **arguments: Any) -> bytes:
        """Write a call down."""
        return self.request("tools/call", {"name": name, "arguments": arguments}, identifier)

    # Reading

    def line(self) -> bytes:
        """Read the next line; empty at the end of the stream."""
        parts, newline = [self._rest], self._rest.find(b"\n")
        while newline < 0:
            assert select.select([self.output], [], [], PATIENCE)[0], "the server is silent"
            parts.append(os.read(self.output, 1 << 20))
            if not parts[-1]:
                self._rest = b""
                return b"".join(parts)
            newline = parts[-1].find(b"\n")
        *before, last = parts
        self._rest = last[newline + 1 :]
        return b"".join([*before, last[: newline + 1]])

    def lines(self) -> Iterator[bytes]:
        """Read to the end of the stream."""
        while line := self.line():
            yield line

    def answer(self) -> Any:
        """Read the next message, which has to be one."""
        line = self.line()
        assert line, f"the server has closed its output; {self.noise.decode()}"
        return json.loads(line)

    def ask(self, method: str, params: dict[str, Any], identifier: Any = 0) -> Any:
        self.send(self.request(method, params, identifier))
        answer = self.answer()
        assert answer["id"] == identifier
        return answer

    def call(self, name: str, /, **arguments: Any) -> str:
        """Call a tool and give its text."""
        self.send(self.tool(name, "call", **arguments))
        answer = self.answer()
        assert answer["id"] == "call"
        return text(answer)

    def peak_when_still(self) -> int:
        """Wait until the process does nothing, since it waits for us; the most bytes that it ever had in memory."""
        folder = Path("/proc") / str(self.process.pid)
        worked, looks = "", 0
        while looks < STILL:
            assert self.process.poll() is None, self.noise.decode()
            select.select([], [], [], LOOK)
            now = " ".join((folder / "stat").read_text().rpartition(")")[2].split()[11:13])
            looks = looks + 1 if now == worked else 0
            worked = now
        return int((folder / "status").read_text().partition("VmHWM:")[2].split()[0]) * 1024

    def facts(self) -> dict[str, int]:
        found: dict[str, int] = json.loads(self.call("facts"))
        return found

    # The end

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.input = -1

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds: float = PATIENCE) -> int:
        code = self.process.wait(seconds)
        self._listener.join(PATIENCE)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._listener.join(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


def text(answer: Any) -> str:
    """Give the text of an answer to a call."""
    assert "error" not in answer, answer
    found: str = answer["result"]["content"][0]["text"]
    return found


def write_slowly(descriptor: int, chunk: bytes) -> threading.Thread:
    """Write beside the test, as a client does that does not read meanwhile."""

    def write() -> None:
        rest = memoryview(chunk)
        while rest:
            try:
                rest = rest[os.write(descriptor, rest) :]
            except OSError:
                return

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    return writer
