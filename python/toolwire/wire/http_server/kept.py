"""A POST on the SDK lane: what the SDK does not keep of it, and the exact bytes in its answer.

What the SDK wrote is looked at once more, as on the server wire: where it is what the SDK makes of our exact bytes,
they stand in its place. Everything else leaves as it came.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from mcp_types import JSONRPCRequest, JSONRPCResponse
from pydantic_core import from_json, to_json

from toolwire import _core
from toolwire.wire.kept import Kept, answer_of, same_json
from toolwire.wire.sdk_streams import message_of, request_key

__all__ = ["PostedRequest"]

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

_DATA = b"data: "


class PostedRequest:
    """One POST. `accepted` hears of it when a handler of ours is asked: then the SDK has let it in."""

    def __init__(self, body: bytes, send: Send, accepted: Callable[[Kept], None]) -> None:
        self._body = body
        self._send = send
        self._accepted = accepted
        self._read = False
        self._kept: Kept | None = None
        self._start: Message | None = None
        self._parts: list[bytes] = []

    def kept_of(self, request_id: int | str) -> Kept | None:
        """What is kept of the request, for the handler that serves it."""
        if not self._read:
            self._read = True
            self._kept = self._of_body()
            if self._kept is not None:
                self._accepted(self._kept)
        kept = self._kept
        return kept if kept is not None and request_key(kept.message.id) == request_key(request_id) else None

    def _of_body(self) -> Kept | None:
        try:
            frame = _core.read_message(self._body)
        except ValueError:
            return None
        message = message_of(frame) if frame.kind == "request" else None
        return Kept(frame, message) if isinstance(message, JSONRPCRequest) else None

    def _has_exact(self) -> bool:
        kept = self._kept
        if kept is None:
            return False
        return kept.exact is not None or (kept.listed is not None and kept.message.method == "tools/list")

    async def send(self, message: Message) -> None:
        """Send a part of the SDK's answer."""
        if message["type"] == "http.response.start":
            if self._has_exact() and _content_type(message).startswith(b"application/json"):
                self._start = message
                return
        elif message["type"] == "http.response.body" and self._has_exact():
            if self._start is not None:
                await self._whole(message)
                return
            message = {**message, "body": self._event(message.get("body", b""))}
        await self._send(message)

    async def _whole(self, message: Message) -> None:
        """Gather a JSON answer, and send it in our bytes."""
        self._parts.append(message.get("body", b""))
        if message.get("more_body", False):
            return
        start, self._start = self._start, None
        body = self._exact(b"".join(self._parts))
        headers = [(name, value) for name, value in (start or {})["headers"] if name.lower() != b"content-length"]
        await self._send({**(start or {}), "headers": [*headers, (b"content-length", str(len(body)).encode())]})
        await self._send({**message, "body": body})

    def _event(self, event: bytes) -> bytes:
        lines = event.split(b"\r\n")
        for place, line in enumerate(lines):
            if line.startswith(_DATA):
                lines[place] = _DATA + self._exact(line[len(_DATA) :])
        return b"\r\n".join(lines)

    def _exact(self, text: bytes) -> bytes:
        """An answer with our bytes in it; anything else as it is."""
        kept = self._kept
        if kept is None or b'"result"' not in text:
            return text
        try:
            message = JSONRPCResponse.model_validate_json(text)
        except ValueError:
            return text
        if kept.exact is not None and not same_json(message.result, kept.expected):
            # Numbers that JSON has no place for are null once they are written.
            kept.expected = from_json(to_json(kept.expected))
            if not same_json(message.result, kept.expected):
                return text
        return answer_of(kept, message)[:-1]


def _content_type(start: Message) -> bytes:
    return next((bytes(value) for name, value in start.get("headers", ()) if name.lower() == b"content-type"), b"")
