"""Server-sent events: whole, one byte at a time and cut at random; two other readers are the judges.

The grammar is WHATWG's: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
Ours are the limit, and the last event: cut off by the end of the stream, it is given if its data is one whole object or
array.
"""

import json
from collections.abc import Iterable
from typing import Final, NamedTuple

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.streams import pieces
from tests.core.texts import examples
from toolwire import _core

LIMIT: Final = 1_000_000
CLIP: Final = 4096
ANSWER: Final = b'{"jsonrpc":"2.0","id":7,"result":{"n":1.50}}'


class Seen(NamedTuple):
    """An event as far as Python can look at it."""

    data: bytes
    name: str = "message"
    id: str | None = None
    cut: bool = False
    fault: str | None = None


class Read(NamedTuple):
    """Everything that came out of a stream."""

    events: list[Seen]
    last_id: str = ""
    retry: int | None = None


def seen(event: _core.Event) -> Seen:
    return Seen(event.data, event.name, event.id, event.cut, event.fault)


def read(chunks: Iterable[bytes], *, limit: int = LIMIT) -> Read:
    stream = _core.EventStream(limit)
    events = [seen(event) for chunk in chunks for event in stream.feed(chunk)]
    events += map(seen, stream.finish())
    assert stream.finish() == []
    return Read(events, stream.last_id, stream.retry)


CASES: Final[dict[str, tuple[bytes, Read]]] = {
    "an answer": (b"event: message\r\ndata: " + ANSWER + b"\r\n\r\n", Read([Seen(ANSWER)])),
    "J5: a comment, an event that primes, an answer": (
        b": ping\n\nid: 1\ndata: \n\nevent: message\ndata: " + ANSWER + b"\n\n",
        Read([Seen(b"", id="1"), Seen(ANSWER)], "1"),
    ),
    "J7: data over two lines": (
        b'data: {"jsonrpc":"2.0",\r\ndata: "id":1,"result":{}}\r\n\r\n',
        Read([Seen(b'{"jsonrpc":"2.0",\n"id":1,"result":{}}')]),
    ),
    "J7: carriage returns alone": (b"data: {}\r\rdata: []\r\r", Read([Seen(b"{}"), Seen(b"[]")])),
    "J7: no blank line at the end": (b"id: 3\ndata: " + ANSWER + b"\n", Read([Seen(ANSWER, id="3", cut=True)], "3")),
    "J7: no line end at the end": (b"data: " + ANSWER, Read([Seen(ANSWER, cut=True)])),
    "an answer of which a byte is missing": (b"id: 3\ndata: " + ANSWER[:-1], Read([])),
    "J8: another name, no message": (b"event: done\ndata: [DONE]\n\n", Read([Seen(b"[DONE]", "done")])),
    "a name that is empty": (b"event: a\nevent:\ndata: 1\n\n", Read([Seen(b"1")])),
    "J13: an id and then nothing": (b"id: 41\n\n", Read([], "41")),
    "an id that is no text": (b"id: \xff\ndata\n\n", Read([Seen(b"", id="\ufffd")], "\ufffd")),
    "an id with NUL": (b"id: a\n\nid: b\0\ndata: x\n\n", Read([Seen(b"x")], "a")),
    "an id that resets": (b"id: a\n\nid\ndata: y\n\n", Read([Seen(b"y", id="")])),
    "a time to wait": (b"retry: 1500\n: x\nretry: soon\n\n", Read([], "", 1500)),
    "a byte order mark": (b"\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n", Read([Seen(b"1")])),
    "bytes that are no UTF-8": (b"data: \xff\xc3\n\n", Read([Seen(b"\xff\xc3")])),
    "exact bytes": (b'data: {"b":1.50,"a":[1e3 , -0]}\n\n', Read([Seen(b'{"b":1.50,"a":[1e3 , -0]}')])),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_case_is_read_the_same_whole_and_in_pieces(name: str) -> None:
    stream, expected = CASES[name]
    assert read([stream]) == expected
    assert read(pieces(stream, 1)) == expected
    assert read([b"", stream[:9], b"", stream[9:], b""]) == expected


@pytest.mark.parametrize("size", [1, 1000, 10**9])
def test_an_event_over_the_limit_names_it_and_the_events_around_it_stand(size: int) -> None:
    long = b'{"jsonrpc":"2.0","result":"' + b"x" * 50_000 + b'","id":7}'
    stream = b"data: before\n\nid: 5\ndata: " + long + b"\n\ndata: after\n\n"
    before, over, after = read(pieces(stream, size), limit=20_000).events
    assert (before, after) == (Seen(b"before"), Seen(b"after"))
    assert over.fault == f"the server's event of {len(long) + 1} bytes is over the limit of 20000 bytes"
    assert (over.id, over.cut, over.data) == ("5", False, long[:CLIP] + long[-CLIP:])


def test_an_event_as_long_as_the_limit_is_whole() -> None:
    assert read([b"id: 12\ndata: 34\ndata: 5\n\n"], limit=6).events == [Seen(b"34\n5", id="12")]
    assert read([b"id: 12\ndata: 34\ndata: 56\n\n"], limit=6).events[0].fault is not None


def test_an_endless_event_is_told_at_the_end_and_not_kept() -> None:
    stream = _core.EventStream(1000)
    assert [event for _ in range(1000) for event in stream.feed(b"data: " + b"x" * 1000 + b"\n")] == []
    (event,) = stream.finish()
    assert event.fault == "the server's event of 1000999 bytes is over the limit of 1000 bytes"
    assert event.cut
    assert len(event.data) == 2 * CLIP


@pytest.mark.parametrize(
    ("piece", "events"),
    [(b"data: x\n", 0), (b"data\r", 0), (b": x\n", 0), (b":", 0), (b"data:", 0), (b"id: 1\n", 0), (b"\r", 0),
     (b"\n", 0), (b"e", 0), (b"data: x\n\n", 111_111)],
)  # fmt: skip
def test_a_flood_ends(piece: bytes, events: int) -> None:
    """A million bytes: a reader that looks at any of them again and again would take many minutes."""
    stream = piece * (1_000_000 // len(piece))
    whole = read(pieces(stream, 65_536), limit=1 << 30)
    assert read(pieces(stream, 1000), limit=1 << 30) == whole
    assert len(whole.events) == events


words = st.sampled_from(
    [b"data: ", b"data:", b"data", b"event: message", b"event: e", b"event", b"id: 1", b"id: \xc3\xa9", b"id:",
     b"id: \0", b"retry: 10", b"retry: x", b": note", b":", b"datas: 1", b" ", b"\n", b"\n", b"\n\n", b"\r", b"\r\n",
     b"\r\n\r\n", b"\xef\xbb\xbf", b'{"a":1}', b'{"a":', b"1}", b"x", b"\xe6\xbc\xa2", b"\xf0\x9f\x98\x80", b"\0"]
)  # fmt: skip
streams = st.lists(words, max_size=30).map(b"".join)


@examples(300)
@given(st.data(), st.one_of(streams, st.binary(max_size=40)))
def test_no_cut_changes_what_comes_out(data: st.DataObject, stream: bytes) -> None:
    limit = data.draw(st.sampled_from([3, 20, LIMIT]))
    whole = read([stream], limit=limit)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    cut = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
    assert read(pieces(stream, 1), limit=limit) == read(cut, limit=limit) == whole


def plain(stream: bytes) -> Read:
    """Reads a text that is all there, as the standard says it; what the end cuts is dropped."""
    text = stream.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    events: list[Seen] = []
    last_id, retry = "", None
    data: list[str] = []
    name, own = "", None
    for line in text.split("\n")[:-1]:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "" if not line:
                last_id = last_id if own is None else own
                if data:
                    events.append(Seen("\n".join(data).encode(), name or "message", own))
                data, name, own = [], "", None
            case "data":
                data.append(value)
            case "event":
                name = value
            case "id" if "\0" not in value:
                own = value
            case "retry" if value.isascii() and value.isdigit():
                retry = int(value)
    return Read(events, last_id, retry)


def is_text(stream: bytes) -> bool:
    try:
        stream.decode()
    except UnicodeDecodeError:
        return False
    return True


@examples(400)
@given(st.one_of(streams, st.text("\r\n: dataeventidretry\0\ufeff19", max_size=60).map(str.encode)).filter(is_text))
def test_the_events_are_those_of_the_standard(stream: bytes) -> None:
    """Our own: an event that the end cuts is given where it is one whole object or array."""
    ours, theirs = read([stream]), plain(stream)
    assert [event for event in ours.events if not event.cut] == theirs.events
    assert ours.retry == theirs.retry
    for event in ours.events[len(theirs.events) :]:
        assert isinstance(json.loads(event.data), dict | list)
        assert ours.last_id == (theirs.last_id if event.id is None else event.id)
    if len(ours.events) == len(theirs.events):
        assert ours.last_id == theirs.last_id


@examples(300)
@given(streams.filter(is_text))
def test_the_events_are_those_that_httpx2_reads(stream: bytes) -> None:
    """Its differences: a byte order mark is text to it, a block without data is an event, and an id stays for the next.

    `retry` it reads as Python reads an integer, so no stream here holds one that Python alone would read.
    """
    stream = stream.replace(b"\xef\xbb\xbf", b"")
    response = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=pieces(stream, 3))
    response.request = httpx2.Request("GET", "http://judge/")
    theirs = list(httpx2.EventSource(response, max_event_size=None))
    ours = read([stream])
    whole = [event for event in ours.events if not event.cut]
    assert [(event.name, event.data.decode()) for event in whole if event.data] == [
        (event.event, event.data) for event in theirs if event.data
    ]
    times = [event.retry for event in theirs if event.retry is not None]
    if len(whole) == len(ours.events):
        assert ours.last_id == (theirs[-1].id if theirs else "")
    if stream.endswith((b"\n\n", b"\r\n\r\n")):
        assert ours.retry == (times[-1] if times else None)
