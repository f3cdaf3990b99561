"""Every check that the SDK makes of a request stays the SDK's: what it refuses is refused in its own words."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.http.server_parity import MODES, compare
from tests.http.server_posts import HANDSHAKE, LIST, MODERN, SESSION, Ask, call, opened, post
from tests.serving.raw_client import ERAS, INITIALIZE, call_line
from tests.serving.shop import shop

HEADERS: dict[str, list[tuple[str | None, ...]]] = {
    "host": [(None,), ("",), ("evil.example",), ("127.0.0.1",), ("localhost:1",), ("127.0.0.1:8000", "evil.example")],
    "origin": [("http://localhost:5",), ("http://evil.example",), ("null",), ("",), ("http://127.0.0.1:1", "x")],
    "accept": [
        (None,),
        ("",),
        ("*/*",),
        ("application/json",),
        ("text/event-stream",),
        ("application/*",),
        ("text/*, application/*;q=0.1",),
        ("APPLICATION/JSON, TEXT/EVENT-STREAM",),
        ("application/json;q=0.5,text/event-stream",),
        ("text/html",),
        ("application/json", "text/event-stream"),
    ],
    "content-type": [
        (None,),
        ("",),
        ("text/plain",),
        ("application/json; charset=utf-8",),
        ("application/json;charset=latin-1",),
        ("application/json ; x=y",),
        ("Application/JSON",),
        ("application/jsonp",),
        ("application/json, text/plain",),
        ("text/plain, application/json",),
        ("application/json", "text/plain"),
    ],
    "mcp-protocol-version": [
        (None,),
        ("",),
        ("2024-11-05",),
        ("2025-03-26",),
        ("2025-06-18",),
        ("2025-11-25",),
        ("2026-07-28",),
        ("2026-07-28 ",),
        ("1999-01-01",),
        ("2025-11-25", "2026-07-28"),
        ("2026-07-28", "2026-07-28"),
    ],
    "mcp-session-id": [(None,), ("",), ("wrong",), (SESSION, SESSION), ("wrong", SESSION), ("\x00é",)],
    "mcp-method": [(None,), ("",), ("tools/list",), ("TOOLS/CALL",), ("tools/call", "tools/call")],
    "mcp-name": [
        (None,),
        ("",),
        ("other",),
        ("ECHO",),
        ("=?base64?ZWNobw==?=",),
        ("=?base64?ZWNobx==?=",),
        ("=?base64?!?=",),
        ("echo", "echo"),
    ],
    "mcp-param-text": [("hello",), ("x", "y")],
    "content-length": [(None,), ("99999999999",), ("x",), ("-1",)],
    "transfer-encoding": [("chunked",)],
    "content-encoding": [("gzip",)],
    "last-event-id": [("5",)],
    "cookie": [("a=b",)],
}


def with_each_header(era: str) -> Iterator[Ask]:
    good = call(era, "echo", b'{"text":"hello"}')
    yield good
    for name, variants in HEADERS.items():
        for values in variants:
            yield good.with_header(name, *values)


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_white_space_around_a_header_is_no_part_of_it_on_either_lane(era: str, mode: dict[str, Any]) -> None:
    good = call(era, "echo", b'{"text":"hello"}')
    padded = tuple((name, value if value == SESSION else f" {value}\t ") for name, value in good.headers)
    async with opened(shop, era, **mode) as site:
        await site.ask(good)
        for express in (True, False):
            site.lane.express = express
            before = site.lane.express_calls
            reply = await site.ask(Ask(good.body, padded))
            assert (reply.status, reply.answer["result"]["content"][0]["text"]) == (200, "heard: hello")
            assert site.lane.express_calls - before == express


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_each_header_in_each_form_is_judged_alike(era: str, mode: dict[str, Any]) -> None:
    asks = list(with_each_header(era))
    replies, site = await compare(shop, era, asks, **mode)
    assert {200, 400, 406, 413, 421, 403} <= {reply.status for reply in replies}
    assert site.lane.express_calls > 10
    await compare(shop, era, asks, sdk_app=True, **mode)


ODD_BODIES = [
    b"",
    b" ",
    b"null",
    b"5",
    b'"text"',
    b"[]",
    b"{}",
    b"{",
    b"\xff\xfe",
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","id":7}',
    b'{"jsonrpc":"2.0","method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}',
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}',
    b'{"jsonrpc":"2.0","id":7,"method":"nothing/here","params":{}}',
    b'{"jsonrpc":"2.0","id":7,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":7,"result":{}}',
    b'{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
    b'{"jsonrpc":"2.0","method":"notifications/nothing"}',
    b'{"jsonrpc":"2.0","method":5}',
]

CHANGES = [
    (b'"jsonrpc":"2.0"', b'"jsonrpc":"1.0"'),
    (b'"jsonrpc":"2.0",', b""),
    (b'"id":7', b'"id":null'),
    (b'"id":7', b'"id":true'),
    (b'"id":7', b'"id":1.5'),
    (b'"id":7', b'"id":7.0'),
    (b'"id":7', b'"id":"7"'),
    (b'"id":7', b'"id":""'),
    (b'"id":7', b'"id":"\\u0037"'),
    (b'"id":7', b'"id":-7'),
    (b'"id":7', b'"id":123456789012345678901234567890'),
    (b'"id":7', b'"id":[7]'),
    (b'"id":7', b'"id":7,"id":8'),
    (b'"id":7', b'"id":7,"extra":1'),
    (b'"id":7', b'"id":7,"result":{}'),
    (b'"id":7', b'"\\u0069d":7'),
    (b'"name"', b'"n\\u0061me"'),
    (b'"name":"echo"', b'"name":5'),
    (b'"name":"echo"', b'"name":null'),
    (b'"name":"echo"', b'"name":"echo","name":"add"'),
    (b'"name":"echo"', b'"name":"echo","more":1'),
    (b'"name":"echo"', b'"name":"ECHO"'),
    (b'"arguments":{"text":"hello"}', b'"arguments":null'),
    (b'"arguments":{"text":"hello"}', b'"arguments":[]'),
    (b'"arguments":{"text":"hello"}', b'"arguments":"{}"'),
    (b',"arguments":{"text":"hello"}', b""),
    (b'"hello"', b'"\\ud800"'),
    (b'"hello"', b'"\xff"'),
    (b'"hello"', b'"a\nb"'),
    (b'"hello"', b'"hello",'),
    (b'"hello"', b"NaN"),
    (b'"hello"', b"[" * 90 + b"]" * 90),
    (b'"hello"', b"[" * 230 + b"]" * 230),
    (b'"hello"', b"[" * 1200 + b"]" * 1200),
    (b'"hello"', b"1" * 4400),
    (b'"params":{', b'"params":{"_meta":5,'),
    (b'"params":{', b'"params":{"_meta":null,'),
    (b'"params":{', b'"params":{"_meta":{"progressToken":"t"},'),
    (b'"params":{', b'"params":{"_meta":{"progressToken":1.5},'),
    (b'"params":{', b'"params":{"_meta":{"progressToken":true},'),
    (b'"params":{', b'"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"},'),
    (b'"params":{', b'"params":{"task":{"ttl":1},'),
    (b"}", b"}\n"),
    (b'{"jsonrpc"', b'\n\t {"jsonrpc"'),
    (b'{"jsonrpc"', b'\xef\xbb\xbf{"jsonrpc"'),
    (b'{"jsonrpc"', b'{ \r\n "jsonrpc"'),
    (b'"2026-07-28"', b'"2026-07-29"'),
    (b'"2026-07-28"', b'"2025-11-25"'),
    (b'"2026-07-28"', b"5"),
    (b'"io.modelcontextprotocol/clientCapabilities":{}', b'"io.modelcontextprotocol/clientCapabilities":5'),
    (b',"io.modelcontextprotocol/clientCapabilities":{}', b""),
    (b'"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"}', b'"x/clientInfo":{}'),
    (b'"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"}', b'"io.modelcontextprotocol/clientInfo":{}'),
    (b'"name":"raw"', b'"name":"other"'),
]


def odd(era: str) -> Iterator[Ask]:
    good = call_line(era, "echo", b'{"text":"hello"}')
    bodies = [good, *ODD_BODIES, *(good.replace(old, new, 1) for old, new in CHANGES if old in good)]
    bodies += [good[:-1], good + b" x", good + good, b"[" + good + b"]", b"[" + good + b"," + good + b"]"]
    bodies += [good.decode().encode(coding) for coding in ("utf-16", "utf-32")]
    for body in bodies:
        yield post(era, body, name="echo")


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_odd_bodies_are_answered_alike(era: str, mode: dict[str, Any]) -> None:
    asks = list(odd(era))
    _, site = await compare(shop, era, asks, **mode)
    assert site.lane.express_calls > 10


@pytest.mark.parametrize("era", ERAS)
async def test_a_body_in_pieces_is_one_body(era: str) -> None:
    good = call(era, "echo", b'{"text":"hello"}')
    asks = [Ask(good.body, good.headers, pieces=pieces) for pieces in (1, 2, len(good.body))]
    _, site = await compare(shop, era, asks, stateless_http=True, json_response=True)
    assert site.lane.express_calls == len(asks)


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("era", ERAS)
async def test_a_body_over_the_bound_is_refused_by_the_sdk(era: str, declared: bool, pieces: int) -> None:
    asks = []
    for size in (100, 3_000, 5_000):
        good = call(era, "echo", b'{"text":"%s"}' % (b"x" * size))
        ask = good if declared else good.with_header("content-length", None)
        asks.append(Ask(ask.body, ask.headers, pieces=pieces))
    options: dict[str, Any] = {"stateless_http": True, "json_response": True, "max_request_body_size": 4_000}
    replies, site = await compare(shop, era, asks, **options)
    assert [reply.status for reply in replies] == [200, 200, 413]
    assert site.lane.express_calls == 2


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS", "HEAD", "PATCH"])
@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_other_methods_are_the_sdks(era: str, mode: dict[str, Any], method: str) -> None:
    good = call(era, "echo", b'{"text":"hello"}')
    if method == "GET":
        # A stream that stays open is for the tests of sessions: here it is refused.
        good = good.with_header("accept", "application/json")
    await compare(shop, era, [Ask(good.body, good.headers, method=method)], **mode)


async def test_a_path_beside_the_route_is_not_the_lanes() -> None:
    good = call(HANDSHAKE, "echo", b'{"text":"hello"}')
    asks = [Ask(good.body, good.headers, path=path) for path in ("/", "/mcp/", "/mcpx")]
    replies, _ = await compare(shop, HANDSHAKE, asks, stateless_http=True, json_response=True)
    assert [reply.status for reply in replies] == [404, 307, 404]


@pytest.mark.parametrize("as_json", [True, False])
async def test_a_session_opens_only_by_its_handshake(as_json: bool) -> None:
    asks = [
        call(HANDSHAKE, "echo", b'{"text":"a"}').with_header("mcp-session-id", None),
        call(HANDSHAKE, "echo", b'{"text":"a"}'),
        Ask(b"", (("mcp-session-id", SESSION), ("host", "127.0.0.1:1")), method="DELETE"),
        call(HANDSHAKE, "echo", b'{"text":"a"}'),
        post(HANDSHAKE, LIST),
    ]
    replies, site = await compare(shop, HANDSHAKE, asks, json_response=as_json)
    assert [reply.status for reply in replies] == [400, 200, 200, 404, 404]
    assert site.lane.express_calls == 1


async def test_a_call_before_any_handler_was_asked_takes_the_sdk_lane() -> None:
    async with opened(shop, HANDSHAKE, stateless_http=False) as site:
        first = site.session
        await site.ask(call(HANDSHAKE, "echo", b'{"text":"a"}'))
        assert site.lane.express_calls == 1
        site.session = (await site.ask(post(HANDSHAKE, INITIALIZE))).header("mcp-session-id")
        assert site.session != first
        for expected in (1, 2):
            await site.ask(call(HANDSHAKE, "echo", b'{"text":"a"}'))
            assert site.lane.express_calls == expected


async def test_a_session_whose_handshake_was_refused_is_none() -> None:
    async with opened(shop, HANDSHAKE, json_response=True) as site:
        refused = INITIALIZE.replace(b'"capabilities":{}', b'"capabilities":5')
        site.session = (await site.ask(post(HANDSHAKE, refused))).header("mcp-session-id")
        reply = await site.ask(call(HANDSHAKE, "echo", b'{"text":"a"}'))
        assert site.lane.express_calls == 0
        assert "Invalid request parameters" in reply.body.decode() or reply.status >= 400


@pytest.mark.parametrize("mode", MODES, ids=str)
async def test_an_envelope_is_express_once_the_sdk_has_judged_it(mode: dict[str, Any]) -> None:
    async with opened(shop, MODERN, **mode) as site:
        good = call(MODERN, "echo", b'{"text":"a"}')
        other = Ask(good.body.replace(b'"raw"', b'"new"'), good.headers)
        for ask, expected in ((good, 1), (other, 1), (other, 2), (good, 3)):
            assert (await site.ask(ask)).answer["result"]["content"][0]["text"] == "heard: a"
            assert site.lane.express_calls == expected
