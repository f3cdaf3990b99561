"""What the SDK's requests teach: the head of the next express request, whether the session is open, or lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import httpx2

from toolwire.wire.http_client.bodies import frames_of, media_type
from toolwire.wire.http_client.http_faults import ERROR_BODY
from toolwire.wire.http_client.lane import HttpLane
from toolwire.wire.http_client.learned import SESSION, Learned
from toolwire.wire.http_client.watched import is_of

__all__ = ["Lessons"]

_SUCCESS, _REDIRECT, _GONE = 200, 300, 404
_UNAUTHORIZED = (401, 403)


class Lessons:
    """The watcher of the SDK's client. `lost()` hears of a session that the server does not know any more."""

    def __init__(
        self, lane: HttpLane, learned: Learned, call_headers: Callable[[], Mapping[str, str]], lost: Callable[[], None]
    ) -> None:
        self.call_headers = call_headers
        self._lane = lane
        self._learned = learned
        self._lost = lost

    async def answered(self, request: httpx2.Request, own: frozenset[str], response: httpx2.Response) -> None:
        """A request of the SDK was answered; headers named in `own` were of that request only."""
        status = response.status_code
        if request.method != "POST":
            return
        if _SUCCESS <= status < _REDIRECT:
            self._learned.learn(request.headers, own)
            if is_of(request, b'"initialize"', "initialize"):
                self._learned.renewed(response.headers.get(SESSION))
        elif status in _UNAUTHORIZED:
            self._learned.forget()
        elif status == _GONE:
            session = request.headers.get(SESSION)
            if session is not None and session == self._learned.session and not await _is_an_answer(response):
                self._lost()

    def settled(self, request: httpx2.Request) -> None:
        """A request of the SDK is over, answered or not."""
        if is_of(request, b"notifications/initialized", "notifications/initialized"):
            self._lane.initialized()


async def _is_an_answer(response: httpx2.Response) -> bool:
    """A 404 is about its own request, and not about the session. Where that cannot be told, it is taken for one.

    A session holds a server's state: another one is opened only where this one is lost for certain.
    """
    length = response.headers.get("content-length", "")
    if not length.isdigit() or int(length) > ERROR_BODY or "content-encoding" in response.headers:
        return True
    body = await response.aread()
    if media_type(response.headers.get("content-type")) != "application/json" or not body.strip():
        return False
    return not any(
        frame.error is not None and (frame.answers < 0 or "session" in frame.error[1].lower())
        for frame in frames_of(body, ERROR_BODY)
    )
