"""An answer that comes as server-sent events: other messages before it, a stream that breaks, and is taken up again.

A stream that broke behind an event with an id is asked for from there on; without one nobody can say what became of
the call (fault J13). The POST is never sent again.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from toolwire import _core
from toolwire.errors import RemoteCallError
from toolwire.wire.http_client.bodies import answer_in, frames_of, media_type
from toolwire.wire.http_client.engine import Lost, Reply
from toolwire.wire.http_client.inflate import Body

__all__ = ["EventReplies"]

logger = logging.getLogger("toolwire.wire")

RESUME_AFTER: Final = 1.0
"""Seconds before a stream is asked for again, where the server names no time: the SDK's own."""
RESUME_AT_MOST: Final = 60.0
"""The longest such time that is believed."""
RESUMES: Final = 5
"""Attempts in a row that bring not one event: then the stream is gone."""

Broken = Callable[..., RemoteCallError]


class EventReplies:
    """Reads streams. `route` takes what is no answer, `get(last_id)` asks for the rest of one."""

    def __init__(
        self, limit: int, route: Callable[[_core.Frame], None], get: Callable[[str], Awaitable[Reply]]
    ) -> None:
        self._limit = limit
        self._route = route
        self._get = get

    async def answer(self, reply: Reply, number: int, broken: Broken) -> _core.Frame:
        """The frame that answers `number`. `broken(why, error)` makes the error of a stream that ends without it."""
        try:
            return await self._through(reply, number, broken)
        except _TooLong as error:
            # To ask for it again would bring it again.
            raise broken(str(error), error) from error

    async def _through(self, reply: Reply, number: int, broken: Broken) -> _core.Frame:
        stream = _core.EventStream(self._limit)
        answer, why, cause = await self._follow(reply, stream, number)
        last_id, fruitless = stream.last_id, 0
        while answer is None:
            if not last_id:
                raise broken(why, cause) from cause
            if fruitless >= RESUMES:
                raise broken(f"{why}, and it could not be taken up again", cause) from cause
            await anyio.sleep(RESUME_AFTER if stream.retry is None else min(stream.retry / 1000, RESUME_AT_MOST))
            fruitless += 1
            try:
                rest = await self._get(last_id)
            except Lost as error:
                cause = error
                continue
            try:
                if rest.status != _OK or media_type(rest.headers.get("content-type")) != _EVENTS:
                    if _CLIENT_ERROR <= rest.status < _SERVER_ERROR:
                        raise broken(f"{why}, and the server does not resume it (HTTP {rest.status})", cause) from cause
                    continue
                answer, why, cause = await self._follow(rest, stream, number)
            finally:
                await rest.aclose()
            if stream.last_id and stream.last_id != last_id:
                last_id, fruitless = stream.last_id, 0
        return answer

    async def _follow(
        self, reply: Reply, stream: _core.EventStream, number: int
    ) -> tuple[_core.Frame | None, str, BaseException | None]:
        """The answer, or why the stream ended without it."""
        why, cause = "the stream of events ended without an answer", None
        try:
            body = Body(reply, None)
            while chunk := await body.part():
                answer = self._answer(stream.feed(chunk), number)
                if answer is not None:
                    return answer, "", None
        except Lost as error:
            why, cause = f"the stream of events broke: {error}", error
        # An event that was cut off is taken if it is whole all the same (fault J7).
        return self._answer(stream.finish(), number), why, cause

    def _answer(self, events: list[_core.Event], number: int) -> _core.Frame | None:
        answer = None
        for event in events:
            if event.fault is not None:
                raise _TooLong(event.fault)
            if event.name not in ("", "message") or not event.data.strip():
                continue
            for frame in frames_of(event.data, self._limit):
                if answer is None and frame.kind not in _OTHERS and answer_in(frame, number):
                    answer = frame
                    continue
                try:
                    self._route(frame)
                except Exception:
                    # It is charged to this message, not to those behind it.
                    logger.exception("a message on a stream of events could not be passed on")
        return answer


class _TooLong(Exception):
    """An event is over the limit."""


_OK, _CLIENT_ERROR, _SERVER_ERROR = 200, 400, 500
_EVENTS: Final = "text/event-stream"
_OTHERS: Final = ("request", "notification", "broken_request")
