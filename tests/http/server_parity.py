"""One script of requests, two equal apps: one answers what it may on the express lane, the other all on the SDK's.

Status, headers and body must be the same, JSON compared as JSON. What may differ is listed by name, as for stdio.
"""

from collections.abc import Callable, Sequence
from typing import Any

from tests.http.server_posts import Ask, Reply, Site, opened
from tests.serving.parity import Disparity
from toolwire import _core

UNCOUNTED = {"content-length", "date", "mcp-session-id"}
"""Headers that tell of the bytes, or of a number that is drawn: whether there is a session id is compared."""

MODES: list[dict[str, Any]] = [
    {"stateless_http": stateless, "json_response": as_json} for stateless in (True, False) for as_json in (True, False)
]


def depth(text: bytes) -> int:
    deepest = level = 0
    for letter in text:
        level += (letter in b"{[") - (letter in b"}]")
        deepest = max(deepest, level)
    return deepest


def longest_number(text: bytes) -> int:
    return max(map(len, bytes(letter if 48 <= letter <= 57 else 32 for letter in text).split()), default=0)


TOLERATED: dict[str, Callable[[Ask, Reply, Reply], bool]] = {
    # The SDK's parsers read integers of at most 4,300 digits, and refuse the whole body; our tools get the bytes.
    "a number of more than 4,300 digits": lambda ask, ours, theirs: (
        longest_number(ask.body) > 4300 and ours.status == 200 and theirs.status == 400
    ),
    # The SDK's parser reads 200 levels; what is passed on here may have 256 (design 4.1).
    "nesting of 200 to 256 levels": lambda ask, ours, theirs: (
        200 < depth(ask.body) <= 260 and ours.status == 200 and theirs.status == 400
    ),
    # No part of the value (RFC 9110, 5.5), but what the ASGI server left of it the SDK takes for one.
    "white space around the value of a header": lambda ask, ours, theirs: (
        any(value != value.strip(" \t") for _, value in ask.headers) and theirs.status == 400
    ),
}


def same(ask: Ask, ours: Reply, theirs: Reply) -> str | None:
    """The name of a tolerated difference, None where there is none. Raises Disparity."""
    alike = ours.status == theirs.status and shown_headers(ours) == shown_headers(theirs)
    alike = alike and len(ours.messages) == len(theirs.messages) and ours.finished == theirs.finished
    if alike and all(map(same_text, ours.messages, theirs.messages)):
        return None
    for name, is_one in TOLERATED.items():
        if is_one(ask, ours, theirs):
            return name
    raise Disparity(
        f"{ask.method} {ask.body[:600]!r}\n{ask.headers}\n"
        f"  express: {ours.status} {ours.headers} {ours.body[:1000]!r}\n"
        f"  sdk:     {theirs.status} {theirs.headers} {theirs.body[:1000]!r}"
    )


def same_text(left: bytes, right: bytes) -> bool:
    if left == right:
        return True
    try:
        return _core.equal(left, right)
    except ValueError:
        return False


def shown_headers(reply: Reply) -> list[Any]:
    shown = [header for header in reply.headers if header[0] not in UNCOUNTED]
    return sorted([*shown, ("has a session", str(reply.header("mcp-session-id") is not None))])


async def compare(
    make: Callable[[], Any], era: str, asks: Sequence[Ask], *, sdk_app: bool = False, **options: Any
) -> tuple[list[Reply], Site]:
    """Asks both; what the express app said. Raises Disparity."""
    async with opened(make, era, **options) as site:
        ours = [await site.ask(ask) for ask in asks]
        met = site
    async with opened(make, era, express=False, sdk_app=sdk_app, **options) as site:
        theirs = [await site.ask(ask) for ask in asks]
        assert sdk_app or site.lane.express_calls == 0
    for ask, left, right in zip(asks, ours, theirs, strict=True):
        same(ask, left, right)
    return ours, met
