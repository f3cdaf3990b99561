"""`toolwire.testing.HttpPeer`, driven through a plain socket, and by the SDK's client in both eras."""

import anyio
import anyio.abc
import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client

import toolwire
from toolwire.testing import HttpPeer, HttpRequest, HttpTable, error, http, listing, result, silence, sleep

# The SDK's transport leaves its stream of events to the garbage collector, of which trio complains.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]

PATIENCE = 20
CALL = b'{"jsonrpc":"2.0","id":1.50,"method":"tools/call","params":{"name":"t","arguments":{"q": [1e3]}}}'
ENTRY = b'{"name":"t","inputSchema":{"type":"object","properties":{"q":{}}}}'
EMPTY = b'{"content":[]}'
FRAME = b'{"jsonrpc":"2.0","id":1.50,"result":{"content":[]}}'


def post(body: bytes, *headers: str) -> bytes:
    head = "".join(f"{header}\r\n" for header in headers)
    return b"POST /mcp HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s" % (head.encode(), len(body), body)


async def dial(peer: HttpPeer) -> anyio.abc.SocketStream:
    return await anyio.connect_tcp("127.0.0.1", int(peer.url.split(":")[2].split("/")[0]))


async def spoken(peer: HttpPeer, data: bytes, *, size: int | None = None) -> bytes:
    """Write this on a new connection, and give what came back: so many bytes, or all until the peer closed."""
    with anyio.fail_after(PATIENCE):
        async with await dial(peer) as stream:
            await stream.send(data)
            said = b""
            while size is None or len(said) < size:
                try:
                    said += await stream.receive()
                except anyio.EndOfStream:
                    break
            return said


def ok(body: bytes, media: str = "application/json") -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (media.encode(), len(body), body)


async def test_a_message_is_answered_as_a_reply_in_json_with_the_id_as_it_was_spelled() -> None:
    async with HttpPeer({"tools/call": result(EMPTY)}) as peer:
        assert await spoken(peer, post(CALL), size=len(ok(FRAME))) == ok(FRAME)


async def test_bytes_go_out_as_they_are_with_the_spans_of_the_request_in_them() -> None:
    async with HttpPeer({"tools/call": http.then(b"x {id} {args} {other}\xff", http.close())}) as peer:
        assert await spoken(peer, post(CALL)) == b'x 1.50 {"q": [1e3]} {other}\xff'


@pytest.mark.parametrize("piece", [1, 7, (3, 10), None])
async def test_what_is_cut_arrives_in_pieces(piece: http.Piece) -> None:
    answer = http.then(http.reply(result(EMPTY), piece=piece), http.close())
    async with HttpPeer({"tools/call": answer}) as peer:
        with anyio.fail_after(PATIENCE):
            async with await dial(peer) as stream:
                await stream.send(post(CALL))
                pieces = [piece async for piece in stream]
    assert b"".join(pieces) == ok(FRAME)
    if piece == 1:
        assert len(pieces) > len(ok(FRAME)) // 2
    elif piece == (3, 10):
        assert list(map(len, pieces)) == [3, 10, len(ok(FRAME)) - 13]
    elif piece is None:
        assert len(pieces) == 1


async def test_split_cuts_everything_that_is_written() -> None:
    async with HttpPeer({"tools/call": http.then(result(EMPTY), http.close())}, split=2) as peer:
        with anyio.fail_after(PATIENCE):
            async with await dial(peer) as stream:
                await stream.send(post(CALL))
                pieces = [piece async for piece in stream]
    assert b"".join(pieces) == ok(FRAME)
    assert len(pieces) > len(ok(FRAME)) // 4


async def test_a_stream_of_events_is_chunked_and_each_event_is_a_chunk() -> None:
    events = [http.event(b"", id="1", name=None), http.event(result(EMPTY), retry=5, newline="\r\n")]
    async with HttpPeer({"tools/call": http.then(http.sse(*events), http.close())}) as peer:
        head, _, body = (await spoken(peer, post(CALL))).partition(b"\r\n\r\n")
    assert head == b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked"
    first, second = b"id: 1\ndata: \n\n", b"event: message\r\nretry: 5\r\ndata: " + FRAME + b"\r\n\r\n"
    assert body == b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(first), first, len(second), second)


async def test_a_stream_may_end_with_its_connection_and_data_may_have_several_lines() -> None:
    async with HttpPeer({"GET": http.sse(http.event(b"a\nb", name="x"), framing="close")}) as peer:
        head, _, body = (await spoken(peer, b"GET /mcp HTTP/1.1\r\n\r\n")).partition(b"\r\n\r\n")
    assert head == b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close"
    assert body == b"event: x\ndata: a\ndata: b\n\n"


@pytest.mark.parametrize("framing", ["length", "chunked", "close"])
async def test_every_framing_of_a_body_is_read_by_another_client(framing: http.Framing) -> None:
    async with (
        HttpPeer({"POST": http.reply(b"body", media=None, framing=framing)}) as peer,
        httpx2.AsyncClient() as client,
    ):
        for _ in range(2):
            assert (await client.post(peer.url)).content == b"body"
    assert len(peer.connections) == (2 if framing == "close" else 1)


async def test_a_status_and_headers_are_as_they_are_given() -> None:
    odd = http.reply(b"{}", status=429, headers=[("Retry-After", "7"), ("content-length", "9")], media=None)
    async with HttpPeer({"POST": http.then(odd, http.close())}) as peer:
        said = await spoken(peer, post(b""))
    assert said == b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\ncontent-length: 9\r\n\r\n{}"


async def test_a_request_is_recorded_exactly() -> None:
    raw = post(CALL, "Host: x", "ACCEPT:  a,b ", "X-Twice: 1", "X-Twice: 2")
    async with HttpPeer({"tools/call": http.close()}) as peer:
        await spoken(peer, raw)
        (request,) = await peer.arrived("tools/call")
    assert (request.raw, request.body) == (raw, CALL)
    assert (request.verb, request.target, request.method, request.connection) == ("POST", "/mcp", "tools/call", 0)
    assert request.headers[:4] == (("Host", "x"), ("ACCEPT", "a,b"), ("X-Twice", "1"), ("X-Twice", "2"))
    assert (request.header("x-twice"), request.header("none")) == ("1", None)


async def test_a_chunked_request_is_read_one_byte_at_a_time_and_the_next_on_the_same_connection() -> None:
    chunked = b"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n%s\r\n%X\r\n%s\r\n0\r\nT: 1\r\n\r\n"
    chunked %= (CALL[:5], len(CALL) - 5, CALL[5:])
    async with HttpPeer({"tools/call": [b"1", http.then(b"2", http.close())]}) as peer:
        with anyio.fail_after(PATIENCE):
            async with await dial(peer) as stream:
                for byte in chunked + post(CALL):
                    await stream.send(bytes([byte]))
                said = [piece async for piece in stream]
    assert b"".join(said) == b"12"
    assert [(request.body, request.connection) for request in peer.received] == [(CALL, 0), (CALL, 0)]
    assert peer.received[0].raw == chunked


async def test_each_request_takes_the_next_answer_and_a_name_goes_before_its_method() -> None:
    def by_body(request: HttpRequest) -> bytes:
        return b"%d" % len(request.body)

    table: HttpTable = {
        "tools/call:t": [b"a", b"b"],
        "tools/call": b"c",
        "PUT": by_body,
        "notifications/x": b"n",
        "": b"mine",
    }
    async with HttpPeer(table) as peer, await dial(peer) as stream:
        for body, said in [
            (CALL, b"a"),
            (CALL, b"b"),
            (CALL, b"b"),
            (CALL.replace(b'"t"', b'"u"'), b"c"),
            (b'{"jsonrpc":"2.0","method":"notifications/x"}', b"n"),
            (b'{"jsonrpc":"2.0","id":1,"result":{}}', b"mine"),
        ]:
            await stream.send(post(body))
            assert await stream.receive() == said
        await stream.send(post(b"12345").replace(b"POST", b"PUT"))
        assert await stream.receive() == b"5"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /mcp HTTP/1.1\r\n\r\n", 405),
        (b"DELETE /mcp HTTP/1.1\r\n\r\n", 200),
        (post(b'{"jsonrpc":"2.0","method":"notifications/y"}'), 202),
        (post(b'{"jsonrpc":"2.0","id":1,"result":{}}'), 202),
        (post(b'{"jsonrpc":"2.0","id":1,"method":"y"}'), 200),
        (post(b"{"), 400),
    ],
)
async def test_what_the_script_does_not_know_is_answered_as_it_should_be(data: bytes, status: int) -> None:
    async with HttpPeer() as peer:
        assert int((await spoken(peer, data, size=12)).split()[1]) == status


async def test_an_answer_is_kept_back_until_it_is_released_while_others_are_answered() -> None:
    slow = http.then(http.hold("go"), b"slow", http.close())
    async with HttpPeer({"tools/call": [slow, slow, http.then(b"fast", http.close())]}) as peer:
        said: list[bytes] = []

        async def ask() -> None:
            said.append(await spoken(peer, post(CALL)))

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                group.start_soon(ask)
                await peer.held("go", 2)
                await ask()
                assert said == [b"fast"]
                peer.release("go")
        assert said == [b"fast", b"slow", b"slow"]


@pytest.mark.parametrize("answer", [http.silence(), http.hold("never"), http.then(b"HTTP/1.1 ", http.silence())])
async def test_a_client_that_leaves_before_its_answer_is_whole_is_seen(answer: http.HttpSteps) -> None:
    async with HttpPeer({"tools/call": answer}) as peer:
        with anyio.fail_after(PATIENCE):
            async with await dial(peer) as stream:
                await stream.send(post(CALL))
                (request,) = await peer.arrived("tools/call")
                assert (request.answered, request.left, peer.open_connections) == (False, False, 1)
            assert await peer.left("tools/call") == [request]
        assert (request.answered, request.left) == (False, True)


async def test_a_connection_is_broken_off_at_any_stage() -> None:
    half = http.then(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal", http.reset())
    event = http.then(http.sse(end=False), http.chunk(b"data: {"), http.reset())
    for answer in (http.reset(), half, event):
        async with HttpPeer({"tools/call": answer}) as peer:
            with pytest.raises(anyio.BrokenResourceError):
                await spoken(peer, post(CALL))
            assert [request.answered for request in peer.received] == [False]


@pytest.mark.parametrize("answer", [http.reply(result(EMPTY)), http.sse(http.event(result(EMPTY)))])
@pytest.mark.parametrize("piece", [None, 3])
async def test_an_answer_is_cut_at_any_byte(answer: http.HttpSteps, piece: int | None) -> None:
    async with HttpPeer({"tools/call": http.then(answer, http.close())}) as whole:
        said = await spoken(whole, post(CALL))
    at = 0

    def cut(request: HttpRequest) -> http.HttpSteps:
        return http.cut(answer, at)

    async with HttpPeer({"tools/call": cut}, split=piece) as peer:
        for at in range(0, len(said) + 9, 7):
            assert await spoken(peer, post(CALL)) == said[:at]
            assert peer.received[-1].answered == (at > len(said))


async def test_what_is_cut_may_be_broken_off() -> None:
    async with HttpPeer({"tools/call": http.cut(result(EMPTY), 20, broken=True)}) as peer:
        with pytest.raises(anyio.BrokenResourceError):
            await spoken(peer, post(CALL))


async def test_a_connection_is_ended_before_a_request_is_whole() -> None:
    count = len(post(CALL)) - 10
    early = [http.reset(), http.close(), http.then(http.read(count), http.reset()), http.send(b"hello")]
    async with HttpPeer({"tools/call": http.close()}, at_accept=early) as peer:
        with pytest.raises(anyio.BrokenResourceError):
            await spoken(peer, b"")
        assert await spoken(peer, b"") == b""
        with pytest.raises(anyio.BrokenResourceError):
            await spoken(peer, post(CALL))
        assert peer.received == []
        assert await spoken(peer, post(CALL)) == b"hello"
        assert [len(connection.received) for connection in peer.connections[2:]] == [len(post(CALL))] * 2


async def test_a_head_may_be_answered_before_its_body() -> None:
    def refused(request: HttpRequest) -> http.HttpSteps | None:
        return http.then(http.reply(status=413), http.close()) if request.header("content-length") != "0" else None

    async with HttpPeer({"POST": http.then(b"whole", http.close())}, at_head=refused) as peer:
        assert b"413" in await spoken(peer, post(CALL)[:-20])
        assert peer.received == []
        assert await spoken(peer, post(b"")) == b"whole"


async def test_sessions_are_given_forgotten_and_refused() -> None:
    begin = post(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}')
    async with HttpPeer({"tools/call": result(EMPTY)}, sessions=["a", "b"]) as peer, await dial(peer) as stream:

        async def status(data: bytes) -> bytes:
            await stream.send(data)
            return await stream.receive()

        assert b"\r\nMcp-Session-Id: a\r\n" in await status(begin)
        assert b" 200 " in await status(post(CALL, "Mcp-Session-Id: a"))
        peer.session = None
        assert b" 404 " in await status(post(CALL, "Mcp-Session-Id: a"))
        assert b"\r\nMcp-Session-Id: b\r\n" in await status(begin)
        assert b" 404 " in await status(post(CALL, "mcp-session-id: a"))
        assert b" 200 " in await status(post(CALL, "mcp-session-id: b"))
    with pytest.raises(ValueError, match="has no sessions"):
        HttpPeer(era="2026-07-28", sessions=["a"])


async def test_a_peer_that_goes_down_breaks_everything_off_and_comes_back_on_its_port() -> None:
    async with HttpPeer({"tools/call": [http.silence(), http.then(b"back", http.close())]}) as peer:
        with anyio.fail_after(PATIENCE):
            async with await dial(peer) as stream:
                await stream.send(post(CALL))
                await peer.arrived("tools/call")
                peer.go_down()
                with pytest.raises(anyio.BrokenResourceError):
                    await stream.receive()
            with pytest.raises(OSError, match=r"attempts failed|refused"):
                await dial(peer)
            await peer.come_back()
            assert await spoken(peer, post(CALL)) == b"back"


async def test_a_step_of_a_process_is_refused_and_its_silence_is_one_here_too() -> None:
    with pytest.raises(TypeError, match=r"over HTTP use the steps of toolwire\.testing\.http"):
        http.reply(sleep(1))
    assert http.then(silence()) == http.silence()


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("form", ["json", "events"])
@pytest.mark.parametrize("split", [None, 1])
async def test_the_sdk_lists_and_calls_over_it(era: str, form: str, split: int | None) -> None:
    said = b'{"content":[{"type":"text","text":"hi"}],"resultType":"complete"}'
    answer = http.reply(result(said)) if form == "json" else http.sse(http.event(b"", id="1"), http.event(result(said)))
    sessions = ["s"] if era < "2026" else []
    table: HttpTable = {"tools/list": listing(ENTRY), "tools/call": answer, "prompts/list": error(-32601, "no")}
    with anyio.fail_after(PATIENCE):
        async with (
            HttpPeer(table, era=era, sessions=sessions, split=split) as peer,
            mcp.Client(streamable_http_client(peer.url)) as client,
        ):
            assert [tool.name for tool in (await client.list_tools()).tools] == ["t"]
            called = await client.call_tool("t", {"q": 1})
            assert [block.text for block in called.content if block.type == "text"] == ["hi"]
            assert client.session.protocol_version == era
    (request,) = peer.requests("tools/call")
    assert request.answered or form == "events", "the SDK leaves a stream when it has its answer"
    assert request.header("mcp-session-id") == (sessions[0] if sessions else None)


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_toolwire_imports_from_it(era: str) -> None:
    table: HttpTable = {
        "tools/list": listing(ENTRY),
        "tools/call": result(b'{"content":[{"type":"text","text":"hi"}],"resultType":"complete"}'),
    }
    with anyio.fail_after(PATIENCE):
        async with HttpPeer(table, era=era) as peer, toolwire.connect(peer.url) as connection:
            tools = await toolwire.tools(connection)
            assert await tools["t"].invoke(b'{"q":1}') == "hi"
