"""What ended is forgotten: sessions, calls, envelopes beyond their bound. `benches http_serving` tells the bytes."""

import gc

import anyio
import pytest

from tests.http.server_posts import HANDSHAKE, LIST_MODERN, MODERN, SESSION, Ask, call, opened, post, running
from tests.serving.raw_client import call_line
from tests.serving.shop import shop
from toolwire.wire.http_server import known

END = Ask(headers=(("host", "127.0.0.1:1"), ("mcp-session-id", SESSION)), method="DELETE")


@pytest.mark.parametrize("as_json", [True, False])
async def test_a_session_that_has_ended_is_forgotten(as_json: bool) -> None:
    async with running(shop, json_response=as_json) as site:
        for _ in range(40):
            await site.open()
            assert (await site.ask(call(HANDSHAKE, "echo", b'{"text":"a"}'))).status == 200
            assert (await site.ask(END)).status == 200
        lane = site.lane
        assert lane.express_calls == 40
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        gc.collect()
        assert len(lane._known._sessions) == 0
        assert not lane._of_sessions
        assert not lane._running
        assert lane._running_bytes == 0


async def test_envelopes_are_remembered_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that was not used for longest goes; one that is too long is never remembered."""
    monkeypatch.setattr(known, "POSTED_ENVELOPES", 3)
    async with opened(shop, MODERN, json_response=True) as site:

        def named(body: bytes, client: bytes) -> bytes:
            return body.replace(b'"name":"raw"', b'"name":"%s"' % client)

        async def express(client: bytes) -> bool:
            before = site.lane.express_calls
            body = named(call_line(MODERN, "echo", b'{"text":"a"}'), client)
            assert (await site.ask(post(MODERN, body, name="echo"))).status == 200
            return site.lane.express_calls > before

        for client in (b"a", b"b", b"raw", b"c", b"x" * 5_000):
            if client != b"raw":
                await site.ask(post(MODERN, named(LIST_MODERN, client)))
            else:
                assert await express(client)
        assert [await express(client) for client in (b"raw", b"b", b"c")] == [True, True, True]
        assert len(site.lane._known._envelopes) == 3
        assert not await express(b"x" * 5_000)
        assert not await express(b"x" * 5_000)
