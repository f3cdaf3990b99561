"""Streams for the tests of the core: what a peer may write, and all that can be seen of what was read."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from hypothesis import strategies as st

from tests.core.texts import broken, values
from toolwire import _core

LIMIT: Final = 4096


class Seen(NamedTuple):
    """A frame as far as Python can look at it."""

    kind: str
    id: int | str | None
    answers: int
    text: bytes
    fault: str | None
    method: str | None
    params: bytes | None
    result: bytes | None
    error: tuple[int, str, bytes | None] | None
    mended: bytes
    id_json: bytes | None
    progress: tuple[int, float, float | None, str | None]


def seen(frame: _core.Frame) -> Seen:
    return Seen(
        frame.kind, frame.id, frame.answers, frame.text, frame.fault, frame.method, frame.params, frame.result,
        frame.error, frame.mended(), frame.id_json, frame.progress(),
    )  # fmt: skip


class Read(NamedTuple):
    """Everything that came out of a stream."""

    frames: list[Seen]
    counters: dict[str, int]
    noise: list[bytes]
    lsp_framing: bool


def read(chunks: Iterable[bytes], *, limit: int = LIMIT) -> Read:
    inbound = _core.Inbound(limit)
    frames = [seen(frame) for chunk in chunks for frame in inbound.feed(chunk)]
    frames += [seen(frame) for frame in inbound.finish()]
    assert inbound.finish() == []
    return Read(frames, inbound.counters, inbound.noise, inbound.lsp_framing)


def pieces(stream: bytes, size: int) -> Iterator[bytes]:
    return (stream[start : start + size] for start in range(0, len(stream), size))


def one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")


JSONRPC: Final = [*['"jsonrpc":"2.0"'] * 4, '"jsonrpc": 2', '"json\\u0072pc":"2.0"']
IDS: Final = ["1", "7.0", '"7"', "1e9", "-3", "null", '"a"', "7.5", "true", "[1]", "1" * 30, '"\\ud800"', "1000000007"]
METHODS: Final = ['"method":"m"', '"method":"notifications/progress"', '"method":5', '"method":null']
BODIES: Final = [
    '"params":{}',
    '"result":{}',
    '"result":{{"content":[{}]}}',
    '"error":{}',
    '"error":{{"code":-1,"message":{}}}',
]
CODES: Final = ["-1", "1.0", '"E"', "1e3"]
ODD: Final = ['"params":{"progressToken":1,"progress":0.5,"message":"m"}', '"result":null', '"error":null', '"x":[]']
NOISE: Final = [
    "", " ", "{", "}", "[", "]", "{}", "[]", "ready", "[INFO] db ok", '{"level":"info"}', "42", "log {x} {", '"',
    '{"a":', "Content-Length: 45", "\ufeff", '{"id":7,', '"result":{}',
]  # fmt: skip


@st.composite
def members(draw: st.DrawFn) -> str:
    """One member of an envelope."""
    match draw(st.integers(0, 6)):
        case 0:
            return draw(st.sampled_from(JSONRPC))
        case 1 | 2:
            return f'"id":{draw(st.sampled_from(IDS))}'
        case 3:
            return draw(st.sampled_from(METHODS))
        case 4:
            return draw(st.sampled_from(ODD))
        case 5:
            return f'"error":{{"code":{draw(st.sampled_from(CODES))},"message":{one_line(draw(values))}}}'
    return draw(st.sampled_from(BODIES)).format(one_line(draw(values)))


@st.composite
def envelopes(draw: st.DrawFn) -> str:
    """An object with members of an envelope in any number and order; most have a version."""
    version = ['"jsonrpc":"2.0"'] if draw(st.integers(0, 5)) else []
    return "{" + ",".join(version + draw(st.lists(members(), max_size=5))) + "}"


@st.composite
def noise(draw: st.DrawFn) -> str:
    """What a server prints beside its messages, or makes of them."""
    return draw(st.one_of(st.sampled_from(NOISE), broken(envelopes())))


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A line, or what was meant as one."""
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(noise())
    line = draw(envelopes())
    match kind:
        case 1:
            return draw(st.sampled_from(["\ufeff", "  ", "\t", "loading... ", "{x} "])) + line
        case 2:
            return line + draw(st.sampled_from(["", " ", " done", "}", ","])) + draw(envelopes())
        case 3:
            return f"[{line},{draw(envelopes())}]"
        case 4:
            return line.replace(",", ",\n ").replace("{", "{\n")
        case 5:
            return line + "x" * LIMIT
    return line


endings = st.sampled_from([b"\n"] * 6 + [b"\r\n", b"\n\n", b"\r\n\r\n", b""])
scraps = st.sampled_from([b"", b"", b"", b"", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\0", b"\r"])


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    """Lines of all kinds, some with bytes that are no text, and the ends between them."""
    stream = b""
    for line in draw(st.lists(lines(), max_size=5)):
        raw = line.encode()
        at = draw(st.integers(0, len(raw)))
        stream += raw[:at] + draw(scraps) + raw[at:] + draw(endings)
    return stream
