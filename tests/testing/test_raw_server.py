"""`toolwire.testing.RawServer`, driven through its pipes alone: what other tests stand on may not need the wire."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest

from toolwire.testing import (
    Answer,
    RawServer,
    close_stdin,
    close_stdout,
    die,
    error,
    ignore_sigterm,
    later,
    linger,
    listing,
    park,
    raw,
    release,
    result,
    silence,
    sleep,
    spawn,
    stderr,
    then,
    wait_eof,
    wait_for,
)

CALL = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","arguments":{}}}\n'
EMPTY = b'{"jsonrpc":"2.0","id":7,"result":{}}\n'


def spoken(server: RawServer, data: bytes) -> bytes:
    """Run the server once over this input, and give what it wrote to stdout."""
    return subprocess.run(server.argv, input=data, capture_output=True, timeout=20, check=False).stdout


def request(method: str, params: bytes = b"{}", identifier: bytes = b"7") -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}\n' % (identifier, method.encode(), params)


Start = Callable[[RawServer], subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Give a function that starts a server with three pipes; whatever it started is ended."""
    with ExitStack() as started:

        def start(server: RawServer) -> subprocess.Popen[bytes]:
            pipe = subprocess.PIPE
            child = subprocess.Popen(server.argv, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)
            started.enter_context(child)
            started.callback(child.kill)
            return child

        yield start


@pytest.mark.parametrize(
    "identifier",
    [b"7", b'"a"', rb'"\u0041\n"', b"1.50", b"-0", b"1e3", b"9" * 30, b"9" * 5000, b"null", b"[1, 2]", '"é"'.encode()],
)
def test_an_id_comes_back_as_it_was_spelled(identifier: bytes) -> None:
    with RawServer({"x": result(b"{}")}) as server:
        assert spoken(server, request("x", identifier=identifier)) == (
            b'{"jsonrpc":"2.0","id":' + identifier + b',"result":{}}\n'
        )


@pytest.mark.parametrize(
    "arguments",
    [
        b'{"b":1.50,"a":1E400}',
        b'{ "q" :\t-0 , "q": [ 1 ,2 ] }',
        b'{"n":' + b"9" * 5000 + b"}",
        b'{"bad":"\xff\xfe"}',
        rb'{"arguments":{"id":"}\""}}',
        b'"text"',
    ],
)
def test_arguments_and_params_come_back_byte_for_byte(arguments: bytes) -> None:
    params = b'{"arguments": ' + arguments + b' ,"name":"t"}'
    with RawServer({"x": b"{args}|{params}"}) as server:
        assert spoken(server, request("x", params)) == arguments + b"|" + params


def test_a_request_without_parts_gives_the_defaults_of_the_tokens() -> None:
    with RawServer({"note": b"{id} {args} {params}\n"}) as server:
        assert spoken(server, b'{"method":"note"}\n{"method":"note","params":[1]}\n') == b"null {} {}\nnull {} [1]\n"


def test_verbatim_bytes_keep_what_looks_like_a_token() -> None:
    with RawServer({"x": result(b'"/orders/{id}"', verbatim=True), "y": raw(b"{id}", verbatim=True)}) as server:
        assert spoken(server, request("x")) == b'{"jsonrpc":"2.0","id":7,"result":"/orders/{id}"}\n'
        assert spoken(server, request("y")) == b"{id}"


def test_an_entry_with_a_name_goes_before_the_method_and_sequences_end_on_their_last_answer() -> None:
    answers: dict[str, Answer | Sequence[Answer]] = {
        "tools/call:a": [b"a1 ", b"a2 "],
        "tools/call": [b"x1 ", silence(), b"x3 "],
        "prompts/get:a": b"p ",
    }
    with RawServer(answers) as server:
        names = b"abacbacd"
        calls = b"".join(request("tools/call", b'{"name":"%c"}' % name) for name in names)
        assert spoken(server, calls + request("prompts/get", b'{"name":"a"}')) == b"a1 x1 a2 x3 a2 x3 x3 p "


def test_an_entry_may_name_a_notification_or_the_clients_own_answers() -> None:
    with RawServer({"notifications/initialized": b"hello ", "": b"thanks "}) as server:
        data = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":0,"result":{}}\n'
        assert spoken(server, data) == b"hello thanks "


def test_the_handshake_era_opens_by_initialize_and_refuses_discover() -> None:
    with RawServer() as server:
        lines = spoken(server, request("server/discover") + request("initialize") + request("ping") + request("x"))
        discover, initialize, ping, unknown = map(json.loads, lines.splitlines())
    assert discover["error"]["code"] == unknown["error"]["code"] == -32601
    assert initialize["result"]["protocolVersion"] == "2025-11-25"
    assert initialize["result"]["serverInfo"] == {"name": "raw", "version": "1"}
    assert ping == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_the_2026_era_opens_by_discover_and_refuses_initialize() -> None:
    with RawServer(era="2026-07-28") as server:
        discover, initialize = map(
            json.loads, spoken(server, request("server/discover") + request("initialize")).splitlines()
        )
    assert discover["result"]["supportedVersions"] == ["2026-07-28"]
    assert discover["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "raw"
    assert initialize["error"] == {
        "code": -32022,
        "message": "Unsupported protocol version",
        "data": {"supported": ["2026-07-28"]},
    }


def test_a_default_answer_can_be_replaced() -> None:
    with RawServer({"initialize": error(-32000, 'no "way"', b"[1.50]")}) as server:
        assert spoken(server, request("initialize")) == (
            rb'{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"no \"way\"","data":[1.50]}}' + b"\n"
        )


@pytest.mark.parametrize(("cursor", "member"), [(None, b""), ("", b',"nextCursor":""'), ("p2", b',"nextCursor":"p2"')])
def test_a_listing_pastes_its_raw_entries(cursor: str | None, member: bytes) -> None:
    entries = (b'{"n":1.50,"u":"{id}"}', b"null")
    with RawServer({"tools/list": listing(*entries, cursor=cursor)}) as server:
        page = spoken(server, request("tools/list"))
    assert page.startswith(b'{"jsonrpc":"2.0","id":7,"result":{"tools":[{"n":1.50,"u":"{id}"},null]' + member + b",")
    assert page.endswith(b"}}\n")
    assert json.loads(page)["result"].get("nextCursor") == cursor


@pytest.mark.parametrize("split", [1, 2, 7, 1000])
def test_split_makes_one_write_for_each_piece(split: int) -> None:
    if not hasattr(os, "O_DIRECT"):
        pytest.skip("packet pipes are Linux's")
    reading, writing = os.pipe2(os.O_DIRECT)  # a packet pipe: one read gives what one write gave
    with RawServer({"x": result(b'{"text":"\xf0\x9f\x98\x80"}')}, split=split, prelude=b"\xef\xbb\xbfhi\n") as server:
        pieces: list[bytes] = []
        with subprocess.Popen(server.argv, stdin=subprocess.PIPE, stdout=writing) as child:
            os.close(writing)
            assert child.stdin is not None
            child.stdin.write(request("x"))
            child.stdin.close()
            while piece := os.read(reading, 4096):
                pieces.append(piece)
    os.close(reading)
    whole = b'\xef\xbb\xbfhi\n{"jsonrpc":"2.0","id":7,"result":{"text":"\xf0\x9f\x98\x80"}}\n'
    assert b"".join(pieces) == whole
    assert max(map(len, pieces)) <= split
    if split == 1:
        assert len(pieces) == len(whole)


def test_a_prelude_and_stderr_are_written_before_anything_is_read(start: Start) -> None:
    with RawServer(prelude=b"Server v1\n{id}\n", stderr=b"warming up\n", at_start=raw(b"!\n")) as server:
        child = start(server)
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.read(15) + child.stdout.read(2) == b"Server v1\n{id}\n!\n"
        assert child.stderr.read(11) == b"warming up\n"


def test_a_flood_needs_no_big_script() -> None:
    with RawServer({"x": then(raw(b"ab", times=3_000_001), stderr(b"!", times=70_000), b"\n")}) as server:
        done = subprocess.run(server.argv, input=request("x"), capture_output=True, timeout=20, check=True)
    assert done.stdout == b"ab" * 3_000_001 + b"\n"
    assert done.stderr == b"!" * 70_000


def test_parked_answers_are_released_in_either_order() -> None:
    parked = park(b"{id} ")
    for backwards, expected in ((False, b"0 1 2 last "), (True, b"2 1 0 last ")):
        with RawServer({"x": [parked, parked, then(parked, release(backwards=backwards), b"last ")]}) as server:
            assert spoken(server, b"".join(request("x", identifier=b"%d" % n) for n in range(3))) == expected


def test_a_later_answer_lets_others_pass_and_still_comes_after_stdin_ended() -> None:
    with RawServer({"slow": later(0.02, b"slow {id} "), "quick": b"quick "}) as server:
        assert spoken(server, request("slow") + request("quick")) == b"quick slow 7 "


def test_a_sleep_holds_up_everything_behind_it() -> None:
    with RawServer({"slow": then(b"so", sleep(0.02), b"slow "), "quick": b"quick "}) as server:
        assert spoken(server, request("slow") + request("quick")) == b"soslow quick "


def test_waiting_for_a_line_leaves_the_line_in_its_turn(start: Start) -> None:
    late = then(b"waiting\n", wait_for(b"notifications/cancelled"), b"late {id}\n")
    with RawServer({"x": late, "notifications/cancelled": b"cancelled\n"}) as server:
        child = start(server)
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(request("x"))
        assert child.stdout.read(8) == b"waiting\n"
        child.stdin.write(b'{"method":"other"}\n{"method":"notifications/cancelled"}\n')
        assert child.stdout.read(7) + child.stdout.read(10) == b"late 7\ncancelled\n"


def test_waiting_for_a_line_that_never_comes_ends_with_stdin() -> None:
    with RawServer({"x": then(wait_for(b"never"), b"after")}) as server:
        assert spoken(server, request("x")) == b"after"


@pytest.mark.parametrize(("code", "status"), [(0, 0), (3, 3), (-9, -9), (-int(signal.SIGSEGV), -11)])
def test_a_death_has_its_code_and_its_last_words(code: int, status: int) -> None:
    with RawServer({"x": then(b"half", die(code, b"segv\n"))}) as server:
        done = subprocess.run(server.argv, input=request("x") * 2, capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (status, b"half", b"segv\n")


def test_stdout_can_end_before_the_process_does(start: Start) -> None:
    with RawServer({"x": then(b"bye", close_stdout(), wait_eof(), die(5))}) as server:
        child = start(server)
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(request("x"))
        assert child.stdout.read(10) + child.stdout.read(10) == b"bye"
        assert child.poll() is None
        child.stdin.close()
        assert child.wait(20) == 5


def test_stdin_can_be_closed_by_the_server(start: Start) -> None:
    with RawServer({"x": then(close_stdin(), b"closed", linger())}) as server:
        child = start(server)
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(request("x"))
        assert child.stdout.read(6) == b"closed"
        with pytest.raises(BrokenPipeError):
            child.stdin.write(request("x"))


def test_a_server_that_will_not_go_is_seen_and_killed_on_close(start: Start) -> None:
    stubborn = then(ignore_sigterm(), spawn(), spawn(own_group=True), b"ready")
    server = RawServer(at_start=stubborn, at_eof=linger())
    child = start(server)
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stdout.read(5) == b"ready"
    child.stdin.close()
    child.terminate()
    own = server.launches[0]
    same, apart = sorted(server.launches[1:], key=lambda launch: launch.group != own.group)
    assert [own.kind, same.kind, apart.kind] == ["start", "child", "child"]
    assert same.group == own.group
    assert apart.group == apart.pid
    assert sorted(server.alive()) == sorted(launch.pid for launch in server.launches)
    server.close()
    assert child.wait(20) == -signal.SIGKILL
    server.close()


def test_a_line_is_recorded_before_its_answer_and_every_start_is_counted(tmp_path: Path) -> None:
    with RawServer({"x": b"ok\n"}) as server:
        assert (server.starts, server.received, server.requests("x")) == (0, [], [])
        for turn in (1, 2):
            environment = {"TURN": str(turn)}
            child = subprocess.Popen(
                server.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, cwd=tmp_path, env=environment
            )
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(b"no json {\n" + request("x") + b"{}")
            assert child.stdout.read(3) == b"ok\n"
            assert server.received == [b"no json {", request("x")[:-1]] * turn
            child.communicate(timeout=20)
            launch = server.launches[-1]
            assert (launch.cwd, launch.env["TURN"], launch.pid) == (str(tmp_path), str(turn), child.pid)
            server._folder.joinpath("received").write_bytes(b"".join(line + b"\n" for line in server.received))
        assert server.starts == 2
        assert server.requests("x") == [request("x")[:-1]] * 2


@pytest.mark.parametrize(
    "line", [b"", b"\r", b"null", b"[]", b"{", b'{"method":}', b'{"id":1,"method":5}', b'{"id":1}', b"[" * 100_000]
)
def test_what_is_no_request_is_recorded_and_passed_over(line: bytes) -> None:
    with RawServer({"x": result(b"{}")}) as server:
        assert spoken(server, line + b"\n" + request("x")) == EMPTY
        assert server.received[0] == line


def test_arrival_of_a_method_can_be_awaited(start: Start) -> None:
    async def main(server: RawServer, child: subprocess.Popen[bytes]) -> list[bytes]:
        assert child.stdin is not None
        with anyio.fail_after(20):
            child.stdin.write(CALL)
            await server.arrived("tools/call")
            child.stdin.write(CALL)
            return await server.arrived("tools/call", 2)

    with RawServer() as server:
        child = start(server)
        assert anyio.run(main, server, child) == [CALL[:-1]] * 2


def test_the_folder_is_gone_after_the_block() -> None:
    with RawServer() as server:
        folder = server._folder
        assert folder.exists()
    assert not folder.exists()


def test_the_command_needs_nothing_but_the_interpreter() -> None:
    answers: dict[str, Answer] = {"x": result(b"{}")}
    with RawServer(answers) as server:
        assert server.argv[0] == sys.executable
        done = subprocess.run(server.argv, input=request("x"), capture_output=True, env={}, timeout=20, check=True)
        assert done.stdout == EMPTY
