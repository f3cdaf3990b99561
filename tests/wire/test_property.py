"""The client wire under any stream whatever: no byte of a server raises, and no request ends twice.

In process and without time: a fake channel hands chunks in, cut anywhere, while requests of both lanes wait.
"""

from dataclasses import dataclass, field

import anyio
import mcp_types as types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage

from toolwire.errors import RemoteCallError
from toolwire.wire.channel import Listener
from toolwire.wire.client import ClientWire
from toolwire.wire.limits import Limits

FIRST = 1_000_000_000
EXPRESS = 3
SDK = 3
LINE_LIMIT = 500


class Hand:
    """A channel that is moved by hand."""

    exit_code = None
    stderr_tail = b"tail"
    full = False

    def __init__(self) -> None:
        self.written = b""

    async def open(self, _: Listener, /) -> None: ...
    async def aclose(self) -> None: ...

    def write(self, line: bytes, /, *, now: bool = False) -> None:
        self.written += line


ids = st.one_of(
    st.sampled_from([b"%d" % (FIRST + n) for n in range(-1, EXPRESS + 1)]),
    st.sampled_from([b"%d" % n for n in range(SDK + 2)]),
    st.sampled_from([b'"1"', b"2.0", b"null", b"1.5", b"[1]", b'"x"', b"-1", b"99999999999999999999", b'"%d"' % FIRST]),
)
bodies = st.sampled_from(
    [
        b'"result":{}',
        b'"result":{"x":"\xff\\ud800"}',
        b'"result":null',
        b'"result":[1]',
        b'"result":{"x":[1,]}',
        b'"result":{"id":1,"y":{"id":%d}}' % FIRST,
        b'"error":{"code":-32000,"message":"no","data":[1.50]}',
        b'"error":{"code":1e2}',
        b'"error":"boom"',
        b'"method":"ping"',
        b'"method":5',
        b'"method":"notifications/progress","params":{"progressToken":%d,"progress":1}' % FIRST,
        b'"method":"notifications/cancelled","params":{"requestId":1}',
        b'"method":"x","result":{}',
        b'"result":{"x":' + b"[" * 300 + b"]" * 300 + b"}",
        b'"x":1',
        b"",
    ]
)


@st.composite
def messages(draw: st.DrawFn) -> bytes:
    members = [
        draw(st.sampled_from([b'"jsonrpc":"2.0"', b'"jsonrpc":"1.0"', b'"x":{}'])),
        b'"id":' + draw(ids),
        draw(bodies),
    ]
    order = draw(st.permutations(members))
    return b"{" + b",".join(member for member in order if member) + b"}"


noise = st.sampled_from(
    [
        b"ready",
        b"",
        b"\r",
        b"\xef\xbb\xbf",
        b"{",
        b"}",
        b"[",
        b'"',
        b"{}",
        b"42",
        b"\xc3",
        b"\x00",
        b"Content-Length: 9",
        b"y" * 600,
    ]
)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    parts = draw(st.lists(st.one_of(messages(), noise), min_size=1, max_size=3))
    line = draw(st.sampled_from([b"", b" ", b",", b"\n "])).join(parts)
    if draw(st.booleans()):
        line = b"[" + line + b"]" if draw(st.booleans()) else line[: draw(st.integers(0, len(line)))]
    return line + draw(st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n"]))


@st.composite
def chunks(draw: st.DrawFn) -> list[bytes]:
    stream = b"".join(draw(st.lists(lines(), max_size=8)))
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    return [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


@dataclass
class Waiting:
    """Requests on both lanes, and how often each has ended."""

    ended: dict[int, list[object]] = field(default_factory=dict)

    async def call(self, wire: ClientWire, number: int) -> None:
        try:
            outcome: object = await wire.express.send(lambda _: b"", label=("t", wire), timeout=None)
        except RemoteCallError as error:
            outcome = error
        self.ended.setdefault(number, []).append(outcome)

    def hear(self, wire: ClientWire) -> None:
        while wire.sdk.inbox.stream.statistics().current_buffer_used:
            item = wire.sdk.inbox.stream.receive_nowait()
            assert isinstance(item, SessionMessage)
            if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
                assert isinstance(item.message.id, int)
                self.ended.setdefault(item.message.id, []).append(item.message)


async def drive(stream: list[bytes], *, turns: bool, at_once: bool) -> None:
    wire = ClientWire(Hand(), limits=Limits(line_limit=LINE_LIMIT))
    waiting = Waiting()
    everybody = {*range(1, SDK + 1), *range(FIRST, FIRST + EXPRESS)}

    def check() -> None:
        waiting.hear(wire)
        pending = {*wire.express.pending, *wire.sdk.pending}
        assert all(len(outcomes) == 1 for outcomes in waiting.ended.values())
        assert pending.isdisjoint(waiting.ended)
        assert pending | waiting.ended.keys() == everybody

    async with wire as (_, write_stream), anyio.create_task_group() as group:
        for number in range(1, SDK + 1):
            request = types.JSONRPCRequest(jsonrpc="2.0", id=number, method="prompts/get")
            await write_stream.send(SessionMessage(request))
        for number in range(FIRST, FIRST + EXPRESS):
            group.start_soon(waiting.call, wire, number)
            await anyio.wait_all_tasks_blocked()
        for chunk in stream:
            wire.received(chunk)
            if turns:
                await anyio.wait_all_tasks_blocked()
                check()
        await anyio.wait_all_tasks_blocked()
        check()
        if at_once:
            wire.ended("it went")
        else:
            # Whatever came before, a clean line is a clean line.
            answers = [b'{"jsonrpc":"2.0","id":%d,"result":{"clean":true}}\n' % number for number in everybody]
            wire.received(b"\n" + b"".join(answers))
        await anyio.wait_all_tasks_blocked()
        check()
        assert waiting.ended.keys() == everybody
        assert wire.counters["frames"] >= 0
        assert len(wire.noise) <= 8


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=150, deadline=None)
@given(stream=chunks(), turns=st.booleans(), at_once=st.booleans())
def test_every_request_ends_once_or_waits_on_whatever_a_server_writes(
    backend: str, stream: list[bytes], *, turns: bool, at_once: bool
) -> None:
    async def main() -> None:
        with anyio.fail_after(20):
            await drive(stream, turns=turns, at_once=at_once)

    anyio.run(main, backend=backend)


@settings(max_examples=100, deadline=None)
@given(stream=st.lists(st.binary(max_size=200), max_size=5), turns=st.booleans())
def test_every_request_survives_arbitrary_bytes(stream: list[bytes], *, turns: bool) -> None:
    anyio.run(lambda: drive(stream, turns=turns, at_once=False))
