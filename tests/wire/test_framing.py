"""Faults G1 to G13: what a server may do to a line, on both lanes, whole and one byte at a time.

Noise never ends a request, a line that can be mended is mended for the SDK too, and what can't be mended ends the one
request that it names, at once.
"""

import re

import mcp
import pytest

import toolwire
from tests.wire.lanes import BODIES, ERAS, Spoil, good, lanes, opening
from toolwire.testing import RawServer, die, raw, then

pytestmark = pytest.mark.anyio


def within(member: bytes) -> Spoil:
    """Put one more member into the result."""
    return lambda line: line.replace(b'"result":{', b'"result":{' + member + b",", 1)


FORGIVEN: dict[str, tuple[Spoil, dict[str, int]]] = {
    "G1 noise on stdout is skipped": (lambda line: b"Server v1.2 ready\n[INFO] db ok\n\n" + line, {"noise_lines": 2}),
    "G2 JSON that is no message is noise": (
        lambda line: b'{"level":"info","msg":"up"}\n42\n"hi"\n[]\nnull\n{}\n' + line,
        {"noise_lines": 6},
    ),
    "G3 a message behind noise on one line is taken": (
        lambda line: b"loading... " + line,
        {"noise_lines": 1, "salvaged": 1},
    ),
    "G3 a message behind a brace of noise is taken": (
        lambda line: b'{progress} {"at":1} ' + line,
        {"noise_lines": 1, "salvaged": 1},
    ),
    "G3 noise behind a message on its line is skipped": (
        lambda line: line[:-1] + b" done\n",
        {"noise_lines": 1, "salvaged": 1},
    ),
    "G4 a byte order mark is dropped at the start of a line": (lambda line: b"\xef\xbb\xbf" + line, {}),
    "G5 CRLF, lone CR and blank lines are line ends and nothing": (
        lambda line: b"\r\n\n \t\n" + line[:-1] + b"\r\r\n\r\n",
        {},
    ),
    "G7 bad UTF-8 in a string is replaced": (within(b'"x":"caf\xe9 \xf0\x9f"'), {"bad_utf8": 1}),
    "G7 half a surrogate pair is replaced": (within(rb'"x":"\ud83d","y\udc00":1'), {}),
    "G8 characters of several bytes are whole however they are cut": (within('"x":"é漢😀"'.encode()), {}),
    "G9 a line over 64 KiB is read": (within(b'"x":"' + b"x" * 70_000 + b'"'), {}),
    "H2 an id in quotes is the integer": (lambda line: line.replace(b"{id}", b'"{id}"'), {}),
    "H2 a whole float is the integer": (lambda line: line.replace(b"{id}", b"{id}.0"), {}),
    "H2 an id with an exponent is the integer": (lambda line: line.replace(b"{id}", b"{id}.00e0"), {}),
    "H2 a batch of one is its message": (lambda line: b"[" + line[:-1] + b"]\n", {"batches": 1}),
    "two messages on one line are two": (
        lambda line: b'{"jsonrpc":"2.0","method":"notifications/x"}' + line,
        {"salvaged": 1},
    ),
    "members in another order, spread and doubled, are the same message": (
        lambda line: (
            b'{ "id" : 0 , "result":' + line[line.index(b'"result":') + 9 : -2] + b', "jsonrpc":"2.0","id":{id}}\n'
        ),
        {},
    ),
    "a null error beside the result is none": (lambda line: line[:-2] + b',"error":null}\n', {}),
}


@pytest.mark.parametrize("split", [None, 1], ids=["whole", "bytewise"])
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("fault", FORGIVEN)
async def test_a_forgiven_line_costs_no_request_on_either_lane_and_is_counted(
    fault: str, era: str, split: int | None
) -> None:
    spoil, counted = FORGIVEN[fault]
    if split and "64 KiB" in fault:
        split = 1000
    answers = {method: spoil(good(body)) for method, body in BODIES.items()}
    async with lanes({**answers, **opening(era, spoil)}, era=era, peer={"split": split}) as all_four:
        assert await all_four.listed() == ["t"]
        assert await all_four.called() == "ok"
        assert await all_four.prompted() == "ok"
        assert all_four.counters == {name: 4 * count for name, count in counted.items()}


async def test_g1_the_first_lines_of_noise_are_kept_and_the_rest_is_counted() -> None:
    chatty = b"chatter " * 100
    answer = then(raw(chatty + b"\n", times=1000), good(BODIES["tools/call"]))
    async with lanes({"tools/call": answer}) as all_four:
        assert await all_four.called() == "ok"
        assert all_four.counters == {"noise_lines": 1000}
        assert all_four.wire.noise == (chatty[:400],) * 8


async def test_g9_a_line_over_the_cap_fails_its_own_request_and_the_next_line_is_read() -> None:
    long = within(b'"x":"' + b"x" * 300_000 + b'"')
    answers = {method: [long(good(body)), good(body)] for method, body in BODIES.items()}
    async with lanes(answers, line_limit=200_000) as all_four:
        over = re.compile(r"message of 300\d\d\d bytes is over the line limit of 200000 bytes")
        with pytest.raises(AssertionError, match=over):
            await all_four.called()
        with pytest.raises(toolwire.RemoteCallError, match=over):
            await all_four.listed()
        with pytest.raises(mcp.MCPError, match=over):
            await all_four.prompted()
        assert (await all_four.called(), await all_four.listed(), await all_four.prompted()) == ("ok", ["t"], "ok")
        assert all_four.counters == {"oversize": 3}


def resident() -> int:
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - a line of /proc
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) * 1024


async def test_g9_a_stream_that_never_sends_a_newline_takes_no_memory() -> None:
    flood = then(raw(b"x" * (1 << 16), times=1 << 12), b"\n")
    async with lanes({"tools/call": [flood, good(BODIES["tools/call"])]}, line_limit=1 << 20) as all_four:
        before = resident()
        with pytest.raises(AssertionError, match="message of 268435456 bytes is over the line limit of 1048576 bytes"):
            await all_four.called()
        assert resident() - before < 1 << 26
        assert await all_four.called() == "ok"
        assert all_four.counters == {"oversize": 1}


@pytest.mark.parametrize("split", [None, 1], ids=["whole", "bytewise"])
@pytest.mark.parametrize("era", ERAS)
async def test_g12_a_message_over_several_lines_ends_its_request_with_the_reason(era: str, split: int | None) -> None:
    def pretty(line: bytes) -> bytes:
        return line.replace(b",", b",\n ").replace(b"{", b"{\n ", 1)

    answers = {method: [pretty(good(body)), good(body)] for method, body in BODIES.items() if method != "tools/list"}
    async with lanes(answers, era=era, peer={"split": split}) as all_four:
        with pytest.raises(AssertionError, match="sent a multi-line message; over stdio a message is one line"):
            await all_four.called()
        with pytest.raises(mcp.MCPError, match="sent a multi-line message"):
            await all_four.prompted()
        assert (await all_four.called(), await all_four.prompted()) == ("ok", "ok")
        assert all_four.counters == {"multi_line": 2, "broken": 2}


@pytest.mark.parametrize("split", [None, 1], ids=["whole", "bytewise"])
@pytest.mark.parametrize("era", ERAS)
async def test_g12_a_handshake_over_several_lines_is_a_connect_error_at_once(era: str, split: int | None) -> None:
    def pretty(line: bytes) -> bytes:
        return line.replace(b",", b",\n ").replace(b"{", b"{\n ", 1)

    with pytest.raises(toolwire.ConnectError, match="sent a multi-line message"):
        async with lanes(opening(era, pretty), era=era, peer={"split": split}):
            pass


@pytest.mark.parametrize("split", [None, 1], ids=["whole", "bytewise"])
@pytest.mark.parametrize("era", ERAS)
async def test_g13_content_length_framing_is_named(era: str, split: int | None) -> None:
    def headed(line: bytes) -> bytes:
        return b"Content-Length: 45\r\nContent-Type: application/vscode-jsonrpc\r\n\r\n" + line[:-1]

    refused = headed(b'{"jsonrpc":"2.0","id":{id},"error":{"code":-32601,"message":"no such method"}}\n')
    answers = {"server/discover": refused, **opening(era, headed)}
    with pytest.raises(toolwire.ConnectError, match="LSP framing") as caught:
        async with lanes(answers, era=era, peer={"split": split}):
            pass
    assert b"Content-Length: 45" in caught.value.noise


async def test_g13_headers_in_a_log_of_a_live_server_are_noise() -> None:
    logged = b"GET / 200\nContent-Length: 45\r\n\r\n" + good(BODIES["tools/call"])
    async with lanes({"tools/call": logged}) as all_four:
        assert await all_four.called() == "ok"
        assert all_four.counters == {"noise_lines": 2}


@pytest.mark.parametrize("split", [None, 1], ids=["whole", "bytewise"])
async def test_a_last_line_without_a_newline_is_taken_when_it_is_complete(split: int | None) -> None:
    last = then(good(BODIES["tools/call"])[:-1], die(0))
    async with lanes({"tools/call": last}, peer={"split": split}) as all_four:
        assert await all_four.called() == "ok"


@pytest.mark.parametrize("split", [None, 1], ids=["whole", "bytewise"])
async def test_a_last_line_that_was_cut_ends_its_request(split: int | None) -> None:
    last = then(good(BODIES["tools/call"])[:-9], die(0))
    async with lanes({"tools/call": last}, peer={"split": split}) as all_four:
        with pytest.raises(AssertionError, match="not JSON: unexpected end"):
            await all_four.called()


async def test_g1_a_server_that_only_makes_noise_is_shown_in_the_connect_error() -> None:
    with RawServer({"initialize": b"what?\n", "server/discover": b"{}\n"}, prelude=b"hello\n") as server:
        with pytest.raises(toolwire.ConnectError, match=r"printed what is no message: hello \| \{\}") as caught:
            async with toolwire.connect(server.argv, connect_timeout=0.5):
                pass
        assert caught.value.noise[0] == b"hello"
        assert server.alive() == []
