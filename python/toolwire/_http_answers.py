r"""The answers of an `HttpPeer` script: whole replies, streams of events, and the bytes and breaks they are made of.

`toolwire.testing.http` is the public door to these names. Where a body or an event stands, bytes are a template as they
are for a `RawServer` (`{id}`, `{params}`, `{args}`), and `result`, `error` and `listing` give one correct message:

    http.reply(result(b'{"content":[]}'))                                   200, application/json, a length
    http.reply(b"slow down", status=429, headers={"Retry-After": "7"})
    http.sse(http.event(b"", id="1"), http.event(result(b'{"content":[]}')))    a stream of events, in chunks
    http.then(http.sse(end=False), http.chunk(b"data: {"), http.reset())    broken off in the middle of an event
    http.cut(http.reply(result(b"{}")), 40)                                 its first 40 bytes, and the connection ends
    http.then(http.hold("go"), http.reply(result(b"{}")))                   kept back until `peer.release("go")`
    http.send(b"HTTP/1.1 200 OK\r\nContent-Le", piece=1)                    exact bytes, one at a time
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from toolwire._raw_answers import Answer, Steps, parts_of

__all__ = [
    "Framing",
    "HttpSteps",
    "Piece",
    "chunk",
    "close",
    "cut",
    "event",
    "hold",
    "last_chunk",
    "read",
    "reply",
    "reset",
    "send",
    "silence",
    "sse",
    "then",
]

Framing: TypeAlias = Literal["length", "chunked", "close"]
"""How a body ends: by its `Content-Length`, by its last chunk, or with the connection."""

Piece: TypeAlias = int | Sequence[int] | None
"""How bytes are cut, one send each: all in this size; in these sizes and then the rest; or, with `None`, not at all."""

Headers: TypeAlias = Mapping[str, str] | Sequence[tuple[str, str]]

Parts: TypeAlias = list[list[str]]

LAST_CHUNK: Final = b"0\r\n\r\n"


@dataclass(frozen=True)
class HttpSteps:
    """What the peer does for one request, in order. Built by the functions of this module, joined by `then`."""

    steps: tuple[list[Any], ...]


def text_of(answer: Answer, *, verbatim: bool = False) -> Parts:
    """The text of a template or of one message, without the line end that a message has over stdio."""
    if isinstance(answer, bytes):
        return parts_of(answer, verbatim=verbatim)
    parts: Parts = []
    for operation, *operands in answer.steps:
        if operation != "write":
            raise TypeError(f"{operation!r} is a step of a process: over HTTP use the steps of toolwire.testing.http")
        parts += operands[0] * operands[1]
    if parts and parts[-1][0] == "text":
        parts[-1] = ["text", parts[-1][1].removesuffix("\n")]
    return parts


def reply(
    body: Answer = b"",
    *,
    status: int = 200,
    media: str | None = "application/json",
    headers: Headers = (),
    framing: Framing = "length",
    piece: Piece = None,
    verbatim: bool = False,
) -> HttpSteps:
    """A whole response; `media` is its `Content-Type`, None for none.

    A `Content-Length` among `headers` is sent as it is, however long the body.
    """
    named = [("Content-Type", media)] if media is not None else []
    named += list(headers.items() if isinstance(headers, Mapping) else headers)
    return HttpSteps((["reply", status, named, text_of(body, verbatim=verbatim), framing, piece],))


def event(
    data: Answer,
    *,
    id: str | None = None,  # noqa: A002 - the field's own name
    name: str | None = "message",
    retry: int | None = None,
    newline: str = "\n",
) -> Steps:
    """The text of one event, for `sse` and `chunk`. Line feeds in `data` make several data lines."""
    head = [] if name is None else [f"event: {name}"]
    head += [] if id is None else [f"id: {id}"]
    head += [] if retry is None else [f"retry: {retry}"]
    lines = newline + "data: "
    body = [[part[0], part[1].replace("\n", lines), *part[2:]] if part[0] == "text" else part for part in text_of(data)]
    before = newline.join([*head, "data: "])
    return Steps((["write", [["text", before], *body, ["text", newline + newline]], 1],))


def sse(
    *events: Answer,
    end: bool = True,
    status: int = 200,
    headers: Headers = (),
    framing: Framing = "chunked",
    piece: Piece = None,
) -> HttpSteps:
    """A stream of these events, each in a chunk of its own; without `end` it goes on with `chunk` and `last_chunk`."""
    named = [("Content-Type", "text/event-stream")]
    named += list(headers.items() if isinstance(headers, Mapping) else headers)
    texts = [_whole(each) for each in events]
    return HttpSteps((["stream", status, named, texts, end, framing, piece],))


def _whole(answer: Answer) -> Parts:
    # An event's own line ends are part of it.
    return text_of(answer) if isinstance(answer, bytes) else [part for step in answer.steps for part in step[1]]


def send(data: Answer, *, piece: Piece = None, times: int = 1, verbatim: bool = False) -> HttpSteps:
    """Write these bytes to the socket and nothing else, `times` over."""
    return HttpSteps((["send", text_of(data, verbatim=verbatim), piece, times],))


def chunk(data: Answer, *, piece: Piece = None, times: int = 1) -> HttpSteps:
    """Write one chunk of a chunked body, `times` over."""
    return HttpSteps((["chunk", _whole(data), piece, times],))


def last_chunk() -> HttpSteps:
    """End a chunked body."""
    return send(LAST_CHUNK)


def hold(name: str) -> HttpSteps:
    """Wait until the test calls `peer.release(name)`; `peer.held(name)` waits until a request has come this far."""
    return HttpSteps((["hold", name],))


def read(count: int) -> HttpSteps:
    """Wait until this many bytes have come in on the connection, from its beginning."""
    return HttpSteps((["read", count],))


def silence() -> HttpSteps:
    """Write nothing until the client leaves."""
    return HttpSteps((["silence"],))


def cut(answer: bytes | Steps | HttpSteps, at: int, *, broken: bool = False) -> HttpSteps:
    """Write the first `at` bytes of an answer, or all of it, and end the connection: `broken` is with RST."""
    return HttpSteps((["cut", steps_of(answer), at, broken],))


def close() -> HttpSteps:
    """Close the connection."""
    return HttpSteps((["close"],))


def reset() -> HttpSteps:
    """Break the connection off with RST: the client's next read fails, and so may its write."""
    return HttpSteps((["reset"],))


def then(*answers: bytes | Steps | HttpSteps) -> HttpSteps:
    """Do these one after the other."""
    return HttpSteps(tuple(step for answer in answers for step in steps_of(answer)))


def steps_of(answer: bytes | Steps | HttpSteps) -> list[list[Any]]:
    """Bytes go to the socket as they are; a message becomes a reply in JSON, and a server's silence this one's."""
    if isinstance(answer, bytes):
        answer = send(answer)
    elif isinstance(answer, Steps):
        answer = reply(answer) if answer.steps else silence()
    return list(answer.steps)
