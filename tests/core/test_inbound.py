"""Lines and envelopes: no input raises, hangs or grows without bound, and no cut of the stream changes the frames."""

from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.core.streams import LIMIT, Seen, endings, envelopes, lines, noise, pieces, read, scraps, seen, streams
from tests.core.texts import examples, refusal
from toolwire import _core

ANSWER: Final = b'{"jsonrpc":"2.0","id":%d,"result":{"n":%d.50}}'
SAMPLES: Final = 8
SAMPLE: Final = 400


def is_sound(frame: Seen) -> None:
    """A frame says no more than its text does."""
    assert frame.kind in {"request", "notification", "result", "error", "broken", "broken_request"}
    assert (frame.fault is None) == (frame.kind in {"request", "notification", "result", "error"})
    for part in (frame.params, frame.result, frame.id_json, frame.error[2] if frame.error else None):
        assert part is None or (part in frame.text and refusal(part, depth=10_000) is None)
    if frame.fault is None:
        assert refusal(frame.text, depth=10_000) is None
    if frame.kind == "result":
        assert frame.result is not None
        assert frame.result[:1] == b"{"
    if frame.kind in {"request", "notification"}:
        assert frame.method is not None
    if frame.kind == "error":
        assert frame.error is not None
    if frame.answers != -1:
        assert frame.id == frame.answers
        assert frame.kind in {"result", "error", "broken"}


@examples(120)
@given(st.data(), streams())
@example(None, b'{"jsonrpc":"2.0","id":1,"result":{}}{"jsonrpc":"2.0","id":2.0,"result":{"x":1}}\n')
@example(None, b'\xef\xbb\xbf  {"jsonrpc":"2.0","id":"1","result":{"x":[1]}}\n')
@example(None, b"Content-Length: 45\r\n\r\n")
def test_no_stream_raises_and_no_cut_changes_what_comes_out(data: st.DataObject | None, stream: bytes) -> None:
    whole = read([stream])
    for frame in whole.frames:
        is_sound(frame)
    assert len(whole.noise) <= SAMPLES
    assert all(len(line) <= SAMPLE for line in whole.noise)
    assert whole.counters["frames"] == len(whole.frames)
    assert read(pieces(stream, 1)) == whole
    assert read(pieces(stream, 7)) == whole
    if data is not None:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=4)))
        assert read(stream[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)) == whole


class Peer(RuleBasedStateMachine):
    """A peer writes whatever it likes. Three readers hear it: at once, byte by byte, and late in one go.

    Whatever came before, a good answer on a line of its own comes out, and only once.
    """

    @initialize()
    def connect(self) -> None:
        self.readers = [_core.Inbound(LIMIT), _core.Inbound(LIMIT), _core.Inbound(LIMIT)]
        self.frames: list[list[Seen]] = [[], [], []]
        self.late = b""
        self.at_line_start = True
        self.asked = 1000

    def write(self, written: bytes) -> list[Seen]:
        before = len(self.frames[0])
        at_once, by_byte, _ = self.readers
        self.frames[0] += map(seen, at_once.feed(written))
        for piece in pieces(written, 1):
            self.frames[1] += map(seen, by_byte.feed(piece))
        self.late += written
        self.at_line_start = written.endswith(b"\n") if written else self.at_line_start
        return self.frames[0][before:]

    @rule(line=lines(), ending=endings, scrap=scraps)
    def writes_a_line(self, line: str, ending: bytes, scrap: bytes) -> None:
        self.write(line.encode() + scrap + ending)

    @rule(line=noise())
    def prints_a_line(self, line: str) -> None:
        self.write(line.encode() + b"\n")

    @rule(line=envelopes(), cut=st.integers(0, 60))
    def stops_in_the_middle(self, line: str, cut: int) -> None:
        self.write(line.encode()[:cut])

    @rule()
    def answers(self) -> None:
        if not self.at_line_start:
            self.write(b"\n")
        self.asked += 1
        came = self.write(ANSWER % (self.asked, self.asked) + b"\n")
        good = [frame for frame in came if frame.answers == self.asked]
        assert [(frame.kind, frame.result) for frame in good] == [("result", b'{"n":%d.50}' % self.asked)]

    @rule()
    def floods(self) -> None:
        self.write(b"x" * (LIMIT + 1) + b"\n")

    @invariant()
    def the_readers_agree_and_keep_little(self) -> None:
        if not hasattr(self, "readers"):
            return
        at_once, by_byte, _ = self.readers
        assert self.frames[0] == self.frames[1]
        assert at_once.counters == by_byte.counters
        assert at_once.noise == by_byte.noise
        assert len(at_once.noise) <= SAMPLES

    def teardown(self) -> None:
        if not hasattr(self, "readers"):
            return
        self.frames[2] += map(seen, self.readers[2].feed(self.late))
        for index, reader in enumerate(self.readers):
            self.frames[index] += map(seen, reader.finish())
        assert self.frames[0] == self.frames[1] == self.frames[2]
        assert self.readers[0].counters == self.readers[2].counters
        for frame in self.frames[0]:
            is_sound(frame)


TestPeer: Any = Peer.TestCase
TestPeer.settings = settings(examples(25), stateful_step_count=20)


@pytest.mark.parametrize(
    "piece",
    [
        "{", "[", '{"a":', '[{"a":[', '"', "\\", "}", "{}", '{"a":1}', "{\n", "[\n", '{"id":7,\n', 'x{"', "\ufeff",
        "\n", "\r", "log {x} {y}\n", '{"jsonrpc":"2.0","id":1,', '{"result":{"a":', "Content-Length: 1\r\n\r\n", "é",
        "\0",
    ],
    ids=ascii,
)  # fmt: skip
def test_a_flood_of_noise_ends_and_leaves_nothing_but_its_count(piece: str) -> None:
    """Four million characters: a reader that looks at any of them again and again would take hours."""
    stream = (piece * (4_000_000 // len(piece))).encode()
    inbound = _core.Inbound(1_000_000)
    frames = [frame for chunk in pieces(stream, 65_536) for frame in inbound.feed(chunk)]
    answers = inbound.feed(b"\n" + ANSWER % (9, 9) + b"\n")
    assert [(frame.kind, frame.answers) for frame in answers][-1:] == [("result", 9)]
    assert all(frame.fault for frame in frames)
    assert len(inbound.noise) <= SAMPLES
    assert sum(map(len, inbound.noise)) <= SAMPLES * SAMPLE
    assert inbound.finish() == []


def test_glued_messages_are_as_many_frames_whatever_their_number() -> None:
    """A line of 200,000 messages: one call of a function for each would need a stack of that depth."""
    frames = _core.Inbound().feed(b"".join(ANSWER % (number, number) for number in range(200_000)) + b"\n")
    assert [frame.answers for frame in frames] == list(range(200_000))
    assert frames[-1].result == b'{"n":199999.50}'
