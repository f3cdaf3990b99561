r"""For tests: `RawServer` and `HttpPeer`, servers that speak exactly the bytes they are given, and `Script`, a model.

A `RawServer` is a stdio MCP server in its own process.
What a real server can get wrong is written down as answers, and nothing here corrects it:

    tools = listing(b'{"name":"t","inputSchema":{"type":"object"}}')
    calls = [result(b'{"content":[]}'), raw(b'{"id":{id},"result":[}\n'), die(3, b"segv")]
    with RawServer({"tools/list": tools, "tools/call": calls}) as server:
        async with toolwire.connect(server.argv) as connection: ...
        assert server.requests("tools/call")[0].endswith(b'"arguments":{"q":1.50}}}')

An answer is plain bytes or the steps that `result`, `raw`, `then` and the others build. In plain bytes these tokens are
replaced: `{id}` by the request's id as it was spelled (`null` where there is none), `{params}` and `{args}` by the raw
text of its params and of `params.arguments` (`{}` where there are none). `verbatim=True` keeps every byte.

An `HttpPeer` is the same over HTTP, with the replies, streams and broken connections of `http`:

    calls = [http.reply(status=503), http.sse(http.event(result(b'{"content":[]}'))), http.reset()]
    async with HttpPeer({"tools/list": tools, "tools/call": calls}) as peer:
        async with toolwire.connect(peer.url) as connection: ...
        assert peer.requests("tools/call")[0].header("accept") is not None
"""

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio

from toolwire import _http_answers as http
from toolwire._http_answers import HttpSteps
from toolwire._http_connection import HttpRequest
from toolwire._http_peer import HttpAnswer, HttpPeer, HttpTable
from toolwire._raw_answers import (
    Answer,
    Steps,
    close_stdin,
    close_stdout,
    die,
    error,
    ignore_sigterm,
    later,
    linger,
    listing,
    opening,
    park,
    raw,
    release,
    result,
    silence,
    sleep,
    spawn,
    stderr,
    steps_of,
    then,
    wait_eof,
    wait_for,
)
from toolwire._raw_peer import Request
from toolwire._scripted_model import (
    Call,
    Fail,
    MaxTokens,
    Raw,
    RecordedRequest,
    Say,
    SayThenFail,
    Script,
    Think,
    ToolCalls,
    Turn,
    golden,
)

__all__ = [
    "Answer",
    "Call",
    "Fail",
    "HttpAnswer",
    "HttpPeer",
    "HttpRequest",
    "HttpSteps",
    "HttpTable",
    "Launch",
    "MaxTokens",
    "Raw",
    "RawServer",
    "RecordedRequest",
    "Say",
    "SayThenFail",
    "Script",
    "Steps",
    "Think",
    "ToolCalls",
    "Turn",
    "close_stdin",
    "close_stdout",
    "die",
    "error",
    "golden",
    "http",
    "ignore_sigterm",
    "later",
    "linger",
    "listing",
    "park",
    "raw",
    "release",
    "result",
    "silence",
    "sleep",
    "spawn",
    "stderr",
    "then",
    "wait_eof",
    "wait_for",
]

_to_stderr = stderr  # the constructor of `RawServer` has an argument of that name


@dataclass(frozen=True)
class Launch:
    """One process of the server. `kind` is `"start"`, or `"child"` for what `spawn` started."""

    kind: str
    pid: int
    group: int
    cwd: str
    env: dict[str, str]


class RawServer:
    """A stdio server that answers by a table of exact bytes. A context manager, or `close()` it.

    `answers` maps a JSON-RPC method, or `METHOD:NAME` (looked up first; NAME is `params.name`), to an answer or a
    sequence of them. It may name notifications too, and `""` stands for a client's own answers. Without an entry,
    `initialize` (or, for `era="2026-07-28"`, `server/discover`) and `ping` answer as they should, any other request
    `-32601`, and the rest is only recorded. `prelude` and `stderr` are written before anything is read; `at_start`
    plays after them, and `at_eof` when stdin ends (the peer then exits with 0). With `split`, every write to stdout is
    cut into pieces of that many bytes, one `os.write` each. Each start of the process begins the sequences anew.
    """

    def __init__(
        self,
        answers: Mapping[str, Answer | Sequence[Answer]] | None = None,
        *,
        era: str = "2025-11-25",
        split: int | None = None,
        prelude: bytes = b"",
        stderr: bytes = b"",
        at_start: Answer = b"",
        at_eof: Answer = b"",
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="toolwire-raw-"))
        script = {
            "split": split,
            "at_start": steps_of(then(raw(prelude, verbatim=True), _to_stderr(stderr), at_start)),
            "at_eof": steps_of(at_eof),
            "unknown": steps_of(error(-32601, "Method not found")),
            "answers": {
                method: [steps_of(answer)] if isinstance(answer, bytes | Steps) else [steps_of(each) for each in answer]
                for method, answer in {**opening(era), **(answers or {})}.items()
            },
        }
        (self._folder / "script.json").write_text(json.dumps(script, ensure_ascii=False), encoding="utf-8")
        for name in ("received", "launches"):
            (self._folder / name).touch()

    @property
    def argv(self) -> list[str]:
        """The command that starts one process of this server, for `toolwire.connect`."""
        peer = Path(__file__).with_name("_raw_peer.py")
        return [sys.executable, "-I", "-S", "-E", str(peer), str(self._folder)]

    @property
    def received(self) -> list[bytes]:
        """Every complete line that any process of this server has read, without its newline, in order."""
        return (self._folder / "received").read_bytes().split(b"\n")[:-1]

    @property
    def received_bytes(self) -> bytes:
        """Every byte that any process of this server has read."""
        return (self._folder / "received").read_bytes()

    def requests(self, method: str) -> list[bytes]:
        """Pick the received lines, requests or notifications, whose `method` is this one."""
        return [line for line in self.received if Request(line).method == method]

    @property
    def launches(self) -> list[Launch]:
        """Every process that ran: the starts and the children that `spawn` made, dead ones included."""
        return [Launch(**json.loads(line)) for line in (self._folder / "launches").read_bytes().splitlines()]

    @property
    def starts(self) -> int:
        """How many times the server was started."""
        return sum(launch.kind == "start" for launch in self.launches)

    def alive(self) -> list[int]:
        """List the process ids of this server that still run: none once a client has cleaned up. Needs /proc."""
        return [launch.pid for launch in self.launches if self._is_ours(launch.pid)]

    async def arrived(self, method: str, count: int = 1) -> list[bytes]:
        """Wait until `count` lines of `method` have come in, and return them. The caller sets the deadline."""
        while len(lines := self.requests(method)) < count:  # noqa: ASYNC110 - the other side is a process; only its file tells
            await anyio.sleep(0.002)
        return lines

    def close(self) -> None:
        """Kill what still runs of this server and remove its folder. May be called again."""
        if self._folder.exists():
            _kill(self.alive())
            shutil.rmtree(self._folder, ignore_errors=True)

    def _is_ours(self, pid: int) -> bool:
        # A process id can have been given to somebody else; our folder in the command line can't.
        try:
            return os.fsencode(self._folder) in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
