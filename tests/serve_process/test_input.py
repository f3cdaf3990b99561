"""A broken client costs only its own message: noise, framing, halves of messages, in front of a real process.

Each odd input is followed by a good call, which must be answered as if nothing had been.
"""

import json
import os
import socket
from pathlib import Path

import pytest

from tests.serve_process.peer import BACKENDS, ERAS, Peer, argv, text

NOISE = [
    b"\n",
    b"   \t \r\n",
    b"\xef\xbb\xbf\n",
    b"hello, server\n",
    b"{\n",
    b"}\n",
    b"[]\n",
    b"null\n",
    b"12\n",
    b"\x00\xff\xfe\x00garbage\n",
    b'{"jsonrpc":"2.0"}\n',
    b'{"hello":"world"}\n',
    b'{"jsonrpc":"2.0","method":"notifications/nothing"}\n',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"never asked"}}\n',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":' + b"9" * 5000 + b"}}\n",
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":' + b"[" * 9000 + b"]" * 9000 + b"}\n",
    b'{"jsonrpc":"2.0","id":99,"result":{}}\n',
    b'{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"to nothing that was asked"}}\n',
]
"""Nothing that names a request: nothing answers it."""


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_noise_costs_nothing(backend: str, era: str) -> None:
    with Peer(argv(backend=backend), era) as peer:
        peer.open()
        for noise in NOISE:
            peer.send(noise)
            assert peer.call("echo", text="as ever") == "as ever", noise
        peer.send(b"\xef\xbb\xbf" + peer.tool("echo", 1, text="behind a byte order mark"))
        assert text(peer.answer()) == "behind a byte order mark"
        peer.send(peer.tool("echo", 2, text="with a carriage return")[:-1] + b"\r\n")
        assert text(peer.answer()) == "with a carriage return"
        peer.send(b"DEBUG: " + peer.tool("echo", 3, text="behind noise"))
        assert text(peer.answer()) == "behind noise"


def _errors(answer: dict[str, object]) -> tuple[object, int]:
    error = answer["error"]
    assert isinstance(error, dict), answer
    return answer["id"], error["code"]


@pytest.mark.parametrize("era", ERAS)
def test_a_request_that_cannot_be_read_is_answered_with_an_error_under_its_id(era: str) -> None:
    broken = [
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo",}}\n', 7),
        (b'{"jsonrpc":"2.0","id":"seven","method":"tools/call","params":{"name":"echo" "x":1}}\n', "seven"),
        (b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"echo","arguments":{"text":NaN}}}\n', 8),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\x01"}}}\n', 9),
        (b'{"jsonrpc":"2.0","id":10,"method":12}\n', 10),
        (b'{"id":11,"method":"tools/list"}\n', 11),
    ]
    with Peer(argv(), era) as peer:
        peer.open()
        for line, identifier in broken:
            peer.send(line)
            assert _errors(peer.answer())[0] == identifier, line
            assert peer.call("echo", text="as ever") == "as ever"


def test_a_request_that_is_printed_over_several_lines_is_answered_with_an_error() -> None:
    with Peer(argv()) as peer:
        peer.open()
        message = json.loads(peer.tool("echo", 5, text="pretty"))
        peer.send(json.dumps(message, indent=2).encode() + b"\n")
        answer = peer.answer()
        assert _errors(answer)[0] == 5
        assert "multi-line" in answer["error"]["message"]
        assert peer.call("echo", text="as ever") == "as ever"


def test_content_length_headers_are_passed_over() -> None:
    """LSP's framing puts a message behind two header lines; here the message still ends with a newline."""
    with Peer(argv()) as peer:
        peer.open()
        request = peer.tool("echo", 6, text="framed")
        peer.send(b"Content-Length: %d\r\n\r\n" % len(request) + request)
        assert text(peer.answer()) == "framed"
        assert peer.call("echo", text="as ever") == "as ever"


@pytest.mark.parametrize("era", ERAS)
def test_bytes_that_are_no_utf_8_become_replacement_characters(era: str) -> None:
    with Peer(argv(), era) as peer:
        peer.open()
        peer.send(peer.tool("echo", 1, text="caf?").replace(b"?", b"\xe9"))
        assert text(peer.answer()) == "caf�"


@pytest.mark.parametrize("era", ERAS)
def test_half_a_surrogate_pair_is_a_refusal_or_a_replacement_and_costs_nothing_else(era: str) -> None:
    with Peer(argv(), era) as peer:
        peer.open()
        peer.send(peer.tool("echo", 1, text="half ?").replace(b"?", b"\\ud800"))
        answer = peer.answer()
        assert answer["id"] == 1
        assert "surrogate" in text(answer) or text(answer) == "half �"
        peer.send(peer.tool("echo", 2, text="whole ?").replace(b"?", b"\\ud83d\\ude00"))
        assert text(peer.answer()) == "whole 😀"


def test_each_request_of_a_batch_is_answered() -> None:
    with Peer(argv()) as peer:
        peer.open()
        requests = [peer.tool("echo", number, text=f"number {number}")[:-1] for number in range(3)]
        peer.send(b"[" + b",".join(requests) + b"]\n")
        answers = {answer["id"]: text(answer) for answer in (peer.answer(), peer.answer(), peer.answer())}
        assert answers == {0: "number 0", 1: "number 1", 2: "number 2"}


def test_two_messages_on_one_line_are_two_messages() -> None:
    with Peer(argv()) as peer:
        peer.open()
        peer.send(peer.tool("echo", 1, text="one")[:-1] + peer.tool("echo", 2, text="two"))
        assert [text(peer.answer()), text(peer.answer())] == ["one", "two"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_half_a_line_at_the_end_is_answered_with_an_error(backend: str) -> None:
    with Peer(argv(backend=backend)) as peer:
        peer.open()
        peer.send(peer.tool("echo", 5, text="cut")[:-9])
        peer.close_input()
        assert _errors(peer.answer())[0] == 5
        assert list(peer.lines()) == [b"stdout is back\n"]
        assert peer.wait() == 0


def test_a_byte_at_a_time_is_as_good_as_a_chunk() -> None:
    with Peer(argv()) as peer:
        peer.open()
        for byte in peer.tool("echo", 1, text="dripping 😀"):
            peer.send(bytes([byte]))
        assert text(peer.answer()) == "dripping 😀"


# What stands at either end


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_socket_serves_as_well_as_a_pipe(backend: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, Peer(argv(backend=backend), stdin=theirs, stdout=theirs) as peer:
        theirs.close()
        peer.input = peer.output = ours.fileno()
        peer.open()
        assert peer.call("echo", text="over a socket") == "over a socket"
        assert len(peer.call("repeat", text="0123456789", times=300_000)) == 3_000_000
        ours.shutdown(socket.SHUT_WR)
        assert list(peer.lines()) == [b"stdout is back\n"]
        assert peer.wait() == 0


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_requests_may_come_from_a_file_and_answers_go_to_one(tmp_path: Path, backend: str, era: str) -> None:
    asked, answered = tmp_path / "asked", tmp_path / "answered"
    with Peer(["true"], era) as writer:
        info = {"protocolVersion": era, "capabilities": {}, "clientInfo": {"name": "peer", "version": "1"}}
        opening = writer.request("initialize", info, 0) if era == ERAS[0] else writer.request("server/discover", {}, 0)
        initialized = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        pings = writer.tool("echo", 1, text="one") + writer.tool("size", 2, text="x" * 3_000_000)
    asked.write_bytes(opening + (initialized if era == ERAS[0] else b"") + pings)
    with asked.open("rb") as stdin, answered.open("wb") as stdout:
        with Peer(argv(backend=backend), era, stdin=stdin, stdout=stdout) as peer:
            assert peer.wait() == 0
        assert os.get_blocking(stdin.fileno())
    *lines, last = answered.read_bytes().splitlines()
    assert last == b"stdout is back"
    assert {json.loads(line)["id"] for line in lines} == {0, 1, 2}, "an answer or an error, but not nothing"


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_client_at_all_is_the_end_of_the_session(backend: str) -> None:
    with Path(os.devnull).open("rb") as stdin, Peer(argv(backend=backend), stdin=stdin) as peer:
        assert list(peer.lines()) == [b"stdout is back\n"]
        assert peer.wait() == 0


def test_a_closed_descriptor_is_a_plain_error_and_not_a_session_on_the_wrong_one() -> None:
    with Peer(["sh", "-c", 'exec "$@" <&-', "sh", *argv()]) as peer:
        assert list(peer.lines()) == []
        assert peer.wait() == 1
    assert b"OSError" in peer.noise or b"Bad file descriptor" in peer.noise
