"""The body of a POST, read with the SDK's bound, and given back to whoever is next."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

__all__ = ["read_body"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


async def read_body(receive: Receive, length: bytes | None, limit: int) -> tuple[bytes | None, Receive]:
    """The whole body, and a `receive` that begins with it again. `length` is what the request says of it.

    The body is None where it is longer than `limit` bytes, or says so, and where the client left first: what was read
    of it comes first from `receive`, and the refusal is the SDK's.
    """
    if length is not None and _over(length, limit):
        return None, receive
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body", False):
        body = message.get("body", b"")
        return (body if len(body) <= limit else None), _again([message], receive)
    messages, size = [message], 0
    while message["type"] == "http.request":
        size += len(message.get("body", b""))
        if size > limit:
            return None, _again(messages, receive)
        if not message.get("more_body", False):
            body = b"".join(part.get("body", b"") for part in messages)
            return body, _again([{"type": "http.request", "body": body, "more_body": False}], receive)
        message = await receive()
        messages.append(message)
    return None, _again(messages, receive)


def _over(length: bytes, limit: int) -> bool:
    try:
        return int(length) > limit
    except ValueError:
        return False


def _again(messages: list[Message], receive: Receive) -> Receive:
    waiting = deque(messages)

    async def again() -> Message:
        return waiting.popleft() if waiting else await receive()

    return again
