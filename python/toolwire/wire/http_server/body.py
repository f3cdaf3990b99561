"""The body of a POST, read with the SDK's bound, and given back to whoever is next."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

__all__ = ["Message", "Receive", "again", "read_body"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


async def read_body(receive: Receive, length: bytes | None, limit: int) -> tuple[bytes | None, list[Message]]:
    """The whole body, and the messages that it came in. `length` is what the request says of it.

    The body is None where it is longer than `limit` bytes, or says so, and where the client left first: the refusal is
    the SDK's, which begins with those messages again.
    """
    if length is not None and _over(length, limit):
        return None, []
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body", False):
        body = message.get("body", b"")
        return (body if len(body) <= limit else None), [message]
    messages, size = [message], 0
    while message["type"] == "http.request":
        size += len(message.get("body", b""))
        if size > limit:
            return None, messages
        if not message.get("more_body", False):
            body = b"".join(part.get("body", b"") for part in messages)
            return body, [{"type": "http.request", "body": body, "more_body": False}]
        message = await receive()
        messages.append(message)
    return None, messages


def again(messages: list[Message], receive: Receive) -> Receive:
    """A `receive` that begins with messages that were taken already."""
    waiting = deque(messages)

    async def from_the_start() -> Message:
        return waiting.popleft() if waiting else await receive()

    return from_the_start


def _over(length: bytes, limit: int) -> bool:
    try:
        return int(length) > limit
    except ValueError:
        return False
