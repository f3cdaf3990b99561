"""The SDK names outside its documented API that serving over HTTP touches. A failure says what an update has broken."""

from typing import Any

import anyio
import pytest
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

from tests.http.server_posts import HANDSHAKE, call, opened
from tests.serving.shop import shop
from toolwire import _sdk
from toolwire.wire.http_server.head import Gate, read_head


async def test_the_route_looks_its_app_up_when_a_request_comes() -> None:
    """`StreamableHTTPSessionManager.asgi_app` and `run`: were they kept elsewhere, the lane would never be asked."""
    async with opened(shop, HANDSHAKE, stateless_http=True) as site:
        assert site.lane._runs
        await site.ask(call(HANDSHAKE, "echo", b'{"text":"a"}'))
        assert site.lane.counters == {"express_calls": 1, "sdk_requests": 0}
        assert vars(site.lane.manager)["asgi_app"] is site.lane


async def test_a_session_is_found_by_its_id_while_it_lives() -> None:
    """`_server_instances`, `_session_owners`, `is_terminated`, `idle_scope`: whose a session is, and whether it is."""
    async with opened(shop, HANDSHAKE, session_idle_timeout=900) as site:
        manager, session = site.lane.manager, site.session or ""
        transport = _sdk.open_session(manager, session, None)
        assert transport.mcp_session_id == session
        assert _sdk.open_session(manager, "other", None) is None
        manager._session_owners[session] = {"client_id": "ada", "issuer": None, "subject": None}
        assert _sdk.open_session(manager, session, None) is None
        del manager._session_owners[session]
        transport.idle_scope.cancel()
        assert _sdk.open_session(manager, session, None) is None


async def test_a_held_session_has_no_deadline_until_its_last_request_is_over() -> None:
    """`_idle_timeout`, `_requests_in_flight`: without them the express lane would let a busy session die."""
    async with opened(shop, HANDSHAKE, session_idle_timeout=900) as site:
        transport = _sdk.open_session(site.lane.manager, site.session or "", None)
        with _sdk.held(transport):
            with _sdk.held(transport):
                assert transport.idle_scope.deadline == float("inf")
            assert transport.idle_scope.deadline == float("inf")
        assert anyio.current_time() + 800 < transport.idle_scope.deadline < float("inf")
        transport._idle_timeout = None
        with _sdk.held(transport):
            assert transport._requests_in_flight == 0


def gate(**settings: Any) -> Gate:
    server = shop()
    server.streamable_http_app(**settings)
    manager: StreamableHTTPSessionManager = server.session_manager
    return Gate(manager)


GOOD = [(b"accept", b"application/json, text/event-stream"), (b"content-type", b"application/json")]


@pytest.mark.parametrize(
    ("headers", "admitted"),
    [
        ([(b"host", b"localhost:1")], True),
        ([(b"host", b"evil")], False),
        ([], False),
        ([(b"host", b"localhost:1"), (b"origin", b"http://evil")], False),
    ],
)
async def test_the_judge_is_the_sdks_own(headers: list[tuple[bytes, bytes]], admitted: bool) -> None:
    """`TransportSecurityMiddleware.validate_request` reads headers, and nothing else of a request."""
    head = read_head([*GOOD, *headers])
    assert head is not None
    judge = gate()
    for _ in range(2):
        assert await judge.admits(head) is admitted


async def test_settings_that_change_are_judged_by_anew() -> None:
    settings = TransportSecuritySettings(allowed_hosts=["here"])
    judge = gate(transport_security=settings)
    head = read_head([*GOOD, (b"host", b"here")])
    assert head is not None
    assert await judge.admits(head)
    settings.allowed_hosts.clear()
    assert not await judge.admits(head)
    settings.enable_dns_rebinding_protection = False
    assert await judge.admits(head)


async def test_what_was_judged_is_remembered_within_a_bound() -> None:
    judge = gate()
    for number in range(300):
        head = read_head([*GOOD, (b"host", b"localhost:%d" % number)])
        assert head is not None
        assert await judge.admits(head)
    assert len(judge._judged) == 256


def test_a_tracer_provider_is_seen_as_the_documented_way_sees_it() -> None:
    """`opentelemetry.trace._TRACER_PROVIDER`: the SDK's own tracer looks there (`serving/traced.py` sets one)."""
    assert _sdk.tracing() is not isinstance(get_tracer_provider(), ProxyTracerProvider)
