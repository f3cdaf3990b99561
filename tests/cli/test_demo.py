"""The demo and its server: what is shown is what was measured, and the server is exact and honest."""

import json
import subprocess
import sys

import pytest

from tests.cli.conftest import Run
from toolwire.demo.server import Server

SERVER = [sys.executable, "-m", "toolwire.demo"]


def spoken(*lines: bytes) -> list[bytes]:
    """Say these lines to the demo server, then end its input; give the lines it answered."""
    data = b"".join(line + b"\n" for line in lines)
    return subprocess.run(SERVER, input=data, capture_output=True, timeout=60, check=True).stdout.splitlines()


def call(name: str, arguments: str, identifier: str = "7") -> bytes:
    params = f'{{"name":"{name}","arguments":{arguments}}}'
    return f'{{"jsonrpc":"2.0","id":{identifier},"method":"tools/call","params":{params}}}'.encode()


def test_the_demo_ends_well_and_shows_both_sides(toolwire: Run) -> None:
    ran = toolwire("demo")
    assert (ran.code, ran.err) == (0, b"")
    rows = [" ".join(line.split()) for line in ran.text.splitlines()]
    for tool in ("echo", "add", "lookup_order", "slow", "image", "fail"):
        assert any(row.startswith(f"{tool} ") for row in rows)
    for value in ("1.50", "9007199254740993", "123456789012345678901234567890", "1E400", "-0"):
        assert any(f" {value} " in row and row.endswith(f" {value}") for row in rows), "toolwire's column kept it"
    for row in ("one at a time ", "32 in flight "):
        assert sum(line.startswith(row) for line in rows) == 2, "the client alone, and both ends"
    assert "Try next" in ran.text


def test_the_server_opens_in_both_eras_with_ids_as_they_were_spelled() -> None:
    initialize, discover, ping, unknown = spoken(
        b'{"jsonrpc":"2.0","id":1.50,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}',
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","id":"a","method":"server/discover"}',
        b'{"jsonrpc":"2.0","id":3,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":4,"method":"nonsense"}',
    )
    assert initialize.startswith(b'{"jsonrpc":"2.0","id":1.50,"result":{"protocolVersion":"2025-06-18"')
    assert json.loads(discover)["result"]["supportedVersions"] == ["2026-07-28"]
    assert ping == b'{"jsonrpc":"2.0","id":3,"result":{}}'
    assert json.loads(unknown)["error"]["code"] == -32601


def test_the_listing_has_the_numbers_that_clients_lose() -> None:
    (page,) = spoken(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
    for number in (b"1.50", b"1E400", b"9007199254740993", b"123456789012345678901234567890"):
        assert number in page
    assert [tool["name"] for tool in json.loads(page)["result"]["tools"]] == [
        *("echo", "add", "lookup_order", "slow", "image", "fail")
    ]


def test_echo_gives_its_arguments_back_byte_for_byte() -> None:
    arguments = '{"z": 1.50, "é":[1E400,-0, 9007199254740993], "u":"\\u00e9\\ud83d\\ude00"}'
    (answer,) = spoken(call("echo", arguments))
    assert b'"structuredContent":' + arguments.encode() + b"," in answer
    assert json.loads(answer)["result"]["content"][0]["text"] == arguments


@pytest.mark.parametrize(
    ("name", "arguments", "text", "failed"),
    [
        ("add", '{"a":0.10,"b":0.20}', "0.30", False),
        ("add", '{"a":9007199254740993,"b":123456789012345678901234567890}', "123456789012354686100489308883", False),
        ("add", '{"a":1}', "b: a number is required", True),
        ("add", '{"a":1E400,"b":1}', "1" + "0" * 399 + "1", False),
        ("lookup_order", '{"order_id":1.5}', "order_id: a positive integer of at most 40 digits is required", True),
        ("lookup_order", '{"order_id":1E99999}', "order_id: a positive integer of at most 40 digits is required", True),
        ("slow", '{"seconds":61}', "seconds: between 0 and 60", True),
        ("fail", "{}", "rate limited: try again in 30 seconds", True),
        ("fail", '{"reason":"caf\\u00e9 \\ud800"}', "café \ud800", True),
        ("echo", "[1]", "[1]", False),
        ("add", "[1]", "the arguments must be one JSON object", True),
    ],
)
def test_a_tool_answers_exactly_or_says_what_to_mend(name: str, arguments: str, text: str, *, failed: bool) -> None:
    outcome = json.loads(Server(1).answer(call(name, arguments)))["result"]
    assert outcome["content"][0]["text"] == text
    assert outcome.get("isError", False) is failed


def test_an_order_is_found_under_a_number_that_no_float_holds() -> None:
    answer = Server(1).answer(call("lookup_order", '{"order_id":9007199254740993}'))
    assert b'"structuredContent":{"order_id":9007199254740993,"status":"shipped","total":1249.50,' in answer


def test_a_slow_call_lets_others_pass_and_can_be_cancelled() -> None:
    with subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        slow, gone = call("slow", '{"seconds":0.3}', "1"), call("slow", '{"seconds":0.2}', "2")
        cancelled = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}'
        server.stdin.write(b"\n".join((slow, gone, cancelled, call("echo", "{}"), b"")))
        assert [json.loads(server.stdout.readline())["id"] for _ in range(2)] == [7, 1]
        server.stdin.close()
        assert server.wait(20) == 0
        assert server.stdout.read() == b""


def test_what_is_no_request_is_answered_as_the_protocol_says() -> None:
    too_deep = b'{"id":1,"method":"ping","params":' + b"[" * 100_000
    unknown, noise, deep = spoken(call("nope", "{}"), b"", b"no json", too_deep)
    assert json.loads(unknown)["error"]["code"] == -32602
    for answer in (noise, deep):
        assert json.loads(answer) == {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": -32700, "message": "no JSON object in one line"},
        }
