"""The child half of `toolwire.testing.RawServer`: a stdio peer that writes exactly the bytes its script says.

Run as `python -I -S _raw_peer.py FOLDER`. It imports nothing of toolwire (a start costs some 15 ms), knows nothing of
MCP, and never corrects what it is told to write: everything that a real server could get wrong comes from the script.
`FOLDER/script.json` goes in. `FOLDER/received` (every byte read) and `FOLDER/launches` (a JSON line a start) come out,
written before the peer answers, so whoever has an answer can read what led to it.

JSON text is handled as latin-1 (one character a byte), so that a span of it is a span of the wire's own bytes.
"""

import heapq
import json
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from typing import Any, Final, NoReturn

Step = list[Any]
"""`[operation, *operands]`; the operations are the `do_…` methods of `Peer`."""

SPACE: Final = " \t\r\n"
CHUNK: Final = 1 << 20
LONGEST: Final = 60.0
"""Seconds after which a peer that was told to stay for ever leaves: a test that dies may not leak one."""

# Numbers stay text: Python refuses to convert an integer of more than 4,300 digits, and nobody here needs its value.
_scan = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False).raw_decode


def members(text: str, start: int = 0) -> dict[str, tuple[int, int]]:
    """Map each member name of the JSON object at `start` to the span of its value, exactly as spelled.

    A repeated name keeps its last span. Raises `ValueError` when there is no complete object at `start`.
    """
    spans: dict[str, tuple[int, int]] = {}
    try:
        at = _skip(text, start)
        if text[at] != "{":
            raise ValueError(f"no object at {at}")
        at = _skip(text, at + 1)
        while text[at] != "}":
            if text[at] != '"':
                raise ValueError(f"no member name at {at}")
            name, at = _scan(text, at)
            at = _skip(text, at)
            if text[at] != ":":
                raise ValueError(f"no colon at {at}")
            value = _skip(text, at + 1)
            _, at = _scan(text, value)
            spans[name] = (value, at)
            at = _skip(text, at)
            if text[at] == ",":
                at = _skip(text, at + 1)
            elif text[at] != "}":
                raise ValueError(f"no comma at {at}")
    except (IndexError, RecursionError) as error:
        raise ValueError(f"no complete object: {type(error).__name__}") from error
    return spans


def _skip(text: str, at: int) -> int:
    while text[at] in SPACE:
        at += 1
    return at


class Request:
    """One received line, its parts cut out on demand. `method` is `""` for an answer or for what is no message."""

    def __init__(self, line: bytes) -> None:
        self.text = line.decode("latin-1")
        try:
            self.spans = members(self.text)
            method = json.loads(self.raw("method") or '""')
        except ValueError:
            self.spans, method = {}, ""
        self.method = method if isinstance(method, str) else ""
        self.inner: dict[str, tuple[int, int]] | None = None

    def raw(self, name: str) -> str:
        """Give the raw text of a member of the message, or of its params as `params.NAME`; `""` where there is none."""
        if name.startswith("params."):
            if self.inner is None:
                start = self.spans.get("params", (0, 0))[0]
                self.inner = members(self.text, start) if start and self.text[start] == "{" else {}
            start, end = self.inner.get(name[7:], (0, 0))
        else:
            start, end = self.spans.get(name, (0, 0))
        return self.text[start:end]

    def key(self) -> str:
        """`METHOD:NAME` for a request with a `params.name` of text, else the method."""
        try:
            name = json.loads(self.raw("params.name") or "null")
        except ValueError:
            name = None
        return f"{self.method}:{name}" if isinstance(name, str) else self.method


class Peer:
    """Reads lines from fd 0, plays the script's steps on fd 1. One thread; only `later` steps overlap others."""

    def __init__(self, folder: str) -> None:
        with open(f"{folder}/script.json", encoding="utf-8") as file:  # noqa: PTH123 - pathlib would double the start
            script = json.load(file)
        self.answers: dict[str, list[list[Step]]] = script["answers"]
        self.at_start: list[Step] = script["at_start"]
        self.at_eof: list[Step] = script["at_eof"]
        self.unknown: list[Step] = script["unknown"]
        self.piece: int | None = script["split"]
        self.by_name = any(":" in key for key in self.answers)
        self.used: dict[str, int] = {}
        self.launches = os.open(f"{folder}/launches", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.record = os.open(f"{folder}/received", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.lines: deque[bytes] = deque()
        self.partial: list[bytes] = []
        self.output: list[bytes] = []
        self.parked: list[bytes] = []
        self.timers: list[tuple[float, int, list[Step], Request]] = []
        self.timer_count = 0
        self.eof = False

    def run(self) -> NoReturn:
        """Play `at_start`, answer each line in turn, play `at_eof`, exit 0."""
        self.enter_launch("start", os.getpid())
        nobody = Request(b"")
        self.play(self.at_start, nobody)
        while True:
            if self.lines:
                self.answer(Request(self.lines.popleft()))
            elif self.eof:
                break
            else:
                self.flush()
                self.fill()
        while self.timers:
            self.fire(wait=True)
        self.play(self.at_eof, nobody)
        self.leave(0)

    def answer(self, request: Request) -> None:
        """Play the next answer to this request's `METHOD:NAME` or method; the last one of a list repeats."""
        key = request.key() if self.by_name else request.method
        if key not in self.answers:
            key = request.method
        turns = self.answers.get(key)
        if turns:
            turn = self.used.get(key, 0)
            self.used[key] = turn + 1
            self.play(turns[min(turn, len(turns) - 1)], request)
        elif request.method and request.raw("id"):
            self.play(self.unknown, request)

    def play(self, steps: list[Step], request: Request) -> None:
        """Do the steps in order. Only `write` leaves its bytes in the buffer; every other step flushes first."""
        for operation, *operands in steps:
            if operation not in ("write", "park", "release"):
                self.flush()
            getattr(self, f"do_{operation}")(request, *operands)

    # Reading

    def fill(self) -> None:
        """Wait for input or for the next timer, whichever is first; a read ends at whatever the pipe holds."""
        if self.timers:
            patience = max(0.0, self.timers[0][0] - time.monotonic())
            if not select.select([0], [], [], patience)[0]:
                self.fire(wait=False)
                return
        chunk = os.read(0, CHUNK)
        if not chunk:
            self.eof = True
            return
        os.write(self.record, chunk)
        *lines, rest = chunk.split(b"\n")
        if lines:
            self.lines.append(b"".join(self.partial) + lines[0])
            self.lines.extend(lines[1:])
            self.partial = []
        if rest:
            self.partial.append(rest)

    def fire(self, *, wait: bool) -> None:
        """Play the steps of every timer that is due, waiting for the first one if `wait`."""
        if wait:
            time.sleep(max(0.0, self.timers[0][0] - time.monotonic()))
        while self.timers and self.timers[0][0] <= time.monotonic():
            _, _, steps, request = heapq.heappop(self.timers)
            self.play(steps, request)
        self.flush()

    # Writing

    def flush(self) -> None:
        """Write what is buffered: in one piece, or in pieces of `split` bytes with one write each."""
        data, self.output = b"".join(self.output), []
        size = self.piece or CHUNK
        try:
            for at in range(0, len(data), size):
                view = memoryview(data)[at : at + size]
                while view:
                    view = view[os.write(1, view) :]
        except OSError:
            self.leave(0)  # the reader is gone, and nothing is left to say

    def render(self, parts: list[list[str]], request: Request) -> bytes:
        """Join literal parts (`["text", TEXT]`) and spans of the request (`["span", NAME, DEFAULT]`)."""
        texts = (part[1] if part[0] == "text" else request.raw(part[1]) or part[2] for part in parts)
        return "".join(texts).encode("latin-1")

    def slices(self, data: bytes, times: int) -> Iterator[bytes]:
        """Give `data` repeated `times` over, in slices of about 1 MiB: a flood costs the peer no memory."""
        batch = max(1, CHUNK // max(1, len(data)))
        for done in range(0, times, batch):
            yield data * min(batch, times - done)

    # The operations. Each takes the request it answers (the empty one at start and at end of input) and its operands.

    def do_write(self, request: Request, parts: list[list[str]], times: int = 1) -> None:
        for piece in self.slices(self.render(parts, request), times):
            self.output.append(piece)
            if times > 1:
                self.flush()

    def do_stderr(self, request: Request, parts: list[list[str]], times: int = 1) -> None:
        for piece in self.slices(self.render(parts, request), times):
            view = memoryview(piece)
            while view:
                view = view[os.write(2, view) :]

    def do_park(self, request: Request, parts: list[list[str]]) -> None:
        self.parked.append(self.render(parts, request))

    def do_release(self, _: Request, backwards: int) -> None:
        self.output.extend(reversed(self.parked) if backwards else self.parked)
        self.parked = []

    def do_sleep(self, _: Request, seconds: float) -> None:
        time.sleep(seconds)

    def do_later(self, request: Request, seconds: float, steps: list[Step]) -> None:
        self.timer_count += 1
        heapq.heappush(self.timers, (time.monotonic() + seconds, self.timer_count, steps, request))

    def do_wait_for(self, _: Request, needle: str) -> None:
        wanted, seen = needle.encode("latin-1"), 0
        while True:
            if any(wanted in line for line in list(self.lines)[seen:]) or self.eof:
                return
            seen = len(self.lines)
            self.fill()

    def do_wait_eof(self, _: Request) -> None:
        while not self.eof:
            self.fill()

    def do_linger(self, _: Request, seconds: float) -> None:
        time.sleep(min(seconds, LONGEST))

    def do_close(self, _: Request, descriptor: int) -> None:
        os.close(descriptor)

    def do_ignore(self, _: Request, number: int) -> None:
        signal.signal(number, signal.SIG_IGN)

    def do_spawn(self, _: Request, own_group: int, seconds: float) -> None:
        child = os.fork()
        if child == 0:
            time.sleep(min(seconds, LONGEST))
            os._exit(0)
        if own_group:
            os.setpgid(child, child)
        self.enter_launch("child", child)

    def do_exit(self, _: Request, code: int) -> None:
        if code < 0:
            os.kill(os.getpid(), -code)
        self.leave(code)

    def leave(self, code: int) -> NoReturn:
        """Exit at once; `os._exit` because a closed stdout would make the interpreter's own end print an error."""
        if code == 0 and self.output:
            self.flush()
        os._exit(code)

    def enter_launch(self, kind: str, pid: int) -> None:
        """Add a process to `FOLDER/launches`."""
        cwd = os.getcwd()  # noqa: PTH109 - pathlib would double the start
        facts = {"kind": kind, "pid": pid, "group": os.getpgid(pid), "cwd": cwd, "env": dict(os.environ)}
        os.write(self.launches, json.dumps(facts).encode() + b"\n")


if __name__ == "__main__":
    Peer(sys.argv[1]).run()
