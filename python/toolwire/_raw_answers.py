"""The answers of a `RawServer` script: bytes with tokens in them, and the steps a peer can take.

Everything that builds a step lives here; `_raw_peer.py` plays them in the other process, where this file is not read.
`toolwire.testing` is the public door to these names.
"""

import json
import re
import signal
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolwire._raw_peer import LONGEST, Step

_TOKEN: Final = re.compile(rb"\{(?:id|args|params)\}")
_SPANS: Final = {
    b"{id}": ["span", "id", "null"],
    b"{params}": ["span", "params", "{}"],
    b"{args}": ["span", "params.arguments", "{}"],
}


@dataclass(frozen=True)
class Steps:
    """What the peer does for one request, in order. Built by the functions of this module, joined by `then`."""

    steps: tuple[Step, ...]


Answer: TypeAlias = bytes | Steps
"""Bytes (a template) or steps. Where a sequence of answers stands, each request takes the next; the last repeats."""


def parts_of(data: bytes, *, verbatim: bool) -> list[list[str]]:
    if verbatim:
        return [["text", data.decode("latin-1")]]
    parts: list[list[str]] = []
    at = 0
    for token in _TOKEN.finditer(data):
        parts += [["text", data[at : token.start()].decode("latin-1")], _SPANS[token.group()]]
        at = token.end()
    return [*parts, ["text", data[at:].decode("latin-1")]]


def raw(data: bytes, *, times: int = 1, verbatim: bool = False) -> Steps:
    """Write these bytes to stdout and nothing else, `times` over (64 MiB need no 64 MiB script)."""
    return Steps((["write", parts_of(data, verbatim=verbatim), times],))


def stderr(data: bytes, *, times: int = 1) -> Steps:
    """Write these bytes to stderr, `times` over."""
    return Steps((["stderr", parts_of(data, verbatim=True), times],))


def result(body: bytes, *, verbatim: bool = False) -> Steps:
    """Answer with one correct frame, newline included, whose `result` is `body` (which is not checked)."""
    head = parts_of(b'{"jsonrpc":"2.0","id":{id},"result":', verbatim=False)
    return Steps((["write", [*head, *parts_of(body, verbatim=verbatim), ["text", "}\n"]], 1],))


def listing(*entries: bytes, cursor: str | None = None) -> Steps:
    """Answer with one `tools/list` page of these raw entries; `cursor` is the next page's, `""` included.

    The members that 2026-07-28 asks of a listing stand behind the tools, where older clients pass over them.
    """
    following = b"" if cursor is None else b',"nextCursor":' + json.dumps(cursor).encode()
    tail = b',"resultType":"complete","ttlMs":0,"cacheScope":"private"'
    return result(b'{"tools":[' + b",".join(entries) + b"]" + following + tail + b"}", verbatim=True)


def error(code: int, message: str, data: bytes | None = None) -> Steps:
    """Answer with one correct JSON-RPC error frame; `data` is raw JSON text."""
    extra = b"" if data is None else b',"data":' + data
    head = parts_of(b'{"jsonrpc":"2.0","id":{id},"error":', verbatim=False)
    body = b'{"code":%d,"message":%s%s}' % (code, json.dumps(message).encode(), extra)
    return Steps((["write", [*head, *parts_of(body, verbatim=True), ["text", "}\n"]], 1],))


def then(*answers: Answer) -> Steps:
    """Do these one after the other. The whole peer waits where one of them waits (`later` is the exception)."""
    return Steps(tuple(step for answer in answers for step in steps_of(answer)))


def silence() -> Steps:
    """Never answer."""
    return Steps(())


def sleep(seconds: float) -> Steps:
    """Stop for `seconds`, reading nothing, before the next step."""
    return Steps((["sleep", seconds],))


def later(seconds: float, answer: Answer) -> Steps:
    """Play `answer` for this request `seconds` from now, and go on with other requests until then."""
    return Steps((["later", seconds, steps_of(answer)],))


def park(data: bytes) -> Steps:
    """Keep this templated text back until a `release`: answers in any order without a clock."""
    return Steps((["park", parts_of(data, verbatim=False)],))


def release(*, backwards: bool = False) -> Steps:
    """Write what was parked, oldest first or newest first."""
    return Steps((["release", backwards],))


def wait_for(needle: bytes) -> Steps:
    """Go on once a line that contains `needle` has come in behind this request (it is answered later in its turn)."""
    return Steps((["wait_for", needle.decode("latin-1")],))


def wait_eof() -> Steps:
    """Go on once stdin has ended."""
    return Steps((["wait_eof"],))


def linger(seconds: float = LONGEST) -> Steps:
    """Stay, deaf and mute, for at most a minute: with `ignore_sigterm`, a server that only a kill ends."""
    return Steps((["linger", seconds],))


def close_stdout() -> Steps:
    """Close stdout and live on."""
    return Steps((["close", 1],))


def close_stdin() -> Steps:
    """Close stdin: the client's next write fails."""
    return Steps((["close", 0],))


def ignore_sigterm() -> Steps:
    """Ignore SIGTERM from here on; a child spawned afterwards ignores it too."""
    return Steps((["ignore", int(signal.SIGTERM)],))


def spawn(*, own_group: bool = False, seconds: float = LONGEST) -> Steps:
    """Start a child that holds stdin, stdout and stderr open, in this process group or in one of its own."""
    return Steps((["spawn", own_group, seconds],))


def die(code: int, stderr: bytes = b"") -> Steps:
    """Write `stderr` and exit with `code` at once; a negative code is a death by that signal."""
    last_words = [["stderr", parts_of(stderr, verbatim=True), 1]] if stderr else []
    return Steps((*last_words, ["exit", code]))


def steps_of(answer: Answer) -> list[Step]:
    return list(raw(answer).steps if isinstance(answer, bytes) else answer.steps)


def opening(era: str) -> dict[str, Steps]:
    """Give the answers that open a session of `era`: `server/discover` for 2026-07-28, `initialize` for older ones."""
    tools = b'{"tools":{"listChanged":true}}'
    server = b'{"name":"raw","version":"1"}'
    version = json.dumps(era).encode()
    ping = {"ping": result(b"{}")}
    if era < "2026":
        opened = b'{"protocolVersion":%s,"capabilities":%s,"serverInfo":%s}' % (version, tools, server)
        return {"initialize": result(opened), **ping}
    stamp = b'{"io.modelcontextprotocol/serverInfo":%s}' % server
    facts = b'{"supportedVersions":[%s],"capabilities":%s,"resultType":"complete"' % (version, tools)
    cache = b',"ttlMs":0,"cacheScope":"private","_meta":%s}' % stamp
    refused = error(-32022, "Unsupported protocol version", b'{"supported":[%s]}' % version)
    return {"server/discover": result(facts + cache), "initialize": refused, **ping}
