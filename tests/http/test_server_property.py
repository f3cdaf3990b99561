"""Bodies and headers that nobody thought of: whatever they are, both lanes answer alike."""

import json
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.http.server_parity import MODES, compare
from tests.http.server_posts import Ask, post
from tests.serving.raw_client import ERAS, call_line
from tests.serving.shop import shop

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["echo", "add", "anything", "raw", "nope"]) | TEXTS
HEADER_VALUES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20) | st.sampled_from(
    ["application/json", "*/*", "text/event-stream", "2025-11-25", "2026-07-28", "tools/call", "echo", "{session}"]
)
HEADER_NAMES = st.sampled_from(
    ["host", "origin", "accept", "content-type", "mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name"]
)


@st.composite
def asks(draw: st.DrawFn, era: str) -> Ask:
    name = draw(NAMES)
    arguments = json.dumps(draw(VALUES | st.dictionaries(TEXTS, VALUES, max_size=3)), ensure_ascii=draw(st.booleans()))
    body = call_line(era, "NAME", arguments.encode(), draw(st.integers() | TEXTS))
    body = body.replace(b'"NAME"', json.dumps(name).encode())
    if draw(st.integers(0, 3)) == 0:
        place = draw(st.integers(0, len(body)))
        body = body[:place] + draw(st.binary(max_size=2)) + body[place + draw(st.integers(0, 2)) :]
    ask = post(era, body, name=name if name.isascii() and name.isprintable() else "x")
    if draw(st.integers(0, 3)) == 0:
        ask = ask.with_header(draw(HEADER_NAMES), *draw(st.lists(HEADER_VALUES, max_size=2)))
    return Ask(ask.body, ask.headers, pieces=draw(st.integers(1, 3)))


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
def test_whatever_is_posted_is_answered_alike(era: str, mode: dict[str, Any]) -> None:
    met: list[int] = []

    @settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(st.lists(asks(era), min_size=8, max_size=16))
    def alike(posted: list[Ask]) -> None:
        _, site = anyio.run(lambda: compare(shop, era, posted, **mode))
        met.append(site.lane.express_calls)

    alike()
    assert sum(met) > 0
