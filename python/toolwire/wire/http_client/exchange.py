"""One request, one POST, one answer: which engine carries it, what its status means, and when it may be sent again.

It is sent again only where the server said that it took nothing (a lost session, a redirect, an authorization that has
to be renewed), or where the method has no effect (fault I3). Deadlines stand above.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from urllib.parse import urljoin, urlsplit

from toolwire import _core
from toolwire.errors import RemoteCallError
from toolwire.wire.express import Label, named
from toolwire.wire.http_client.bodies import answer_in, frames_of, media_type
from toolwire.wire.http_client.engine import Engine, Lost, Reply, Sent
from toolwire.wire.http_client.event_replies import EventReplies
from toolwire.wire.http_client.http_faults import not_an_answer, refused
from toolwire.wire.http_client.httpx_engine import HttpxEngine
from toolwire.wire.http_client.inflate import Body, start_of
from toolwire.wire.http_client.learned import SESSION, Learned
from toolwire.wire.http_client.mirrored import Mirrors

__all__ = ["Call", "Exchange"]

SAFE_METHODS: Final = frozenset(
    {"tools/list", "prompts/list", "prompts/get", "resources/list", "resources/read", "completion/complete", "ping"}
)
"""Methods without an effect, by the protocol: one of these is sent again when a connection broke under it."""

REDIRECTS: Final = 5
"""Redirects that one request follows: a slash, a host's canonical name, and then it is a loop."""

_SUCCESS, _REDIRECT, _ERROR = 200, 300, 400
_KEEPS_METHOD: Final = (307, 308)
_UNAUTHORIZED: Final = (401, 403)
_NO_SESSION, _GONE = 400, 404


class Call:
    """One express request on its way."""

    __slots__ = ("body", "label", "method", "number", "sent")

    def __init__(self, number: int, body: bytes, method: str, label: Label) -> None:
        self.number = number
        self.body = body
        self.method = method
        self.label = label
        self.sent = Sent()

    def lost(self, why: str, error: BaseException | None = None) -> RemoteCallError:
        """The error of an exchange that broke: the tool may have run from the first byte on."""
        written = self.sent.written
        text = f"{named(self.label)}: {why}"
        if written and self.method not in SAFE_METHODS:
            text += "; the call may have run"
        return RemoteCallError(text, may_have_run=written, error=error)


class Exchange:
    """Posts requests. `route` takes what else comes on a response; `renew(session)` opens a new session for a lost one.

    `fast` carries what was learned; `own` is the SDK's client, which adds what its owner set, and teaches.
    """

    def __init__(
        self,
        url: str,
        *,
        fast: Engine | None,
        own: HttpxEngine,
        learned: Learned,
        mirrors: Mirrors,
        line_limit: int,
        has_auth: bool,
        modern: Callable[[], bool],
        call_headers: Callable[[], Mapping[str, str]],
        route: Callable[[_core.Frame], None],
        renew: Callable[[str], Awaitable[None]],
        hold: Callable[[], Awaitable[None] | None],
        linger: Callable[[Reply], bool],
    ) -> None:
        self.url = url
        self.counters = {"odd_content_types": 0}
        self._fast = fast
        self._own = own
        self._learned = learned
        self._mirrors = mirrors
        self._limit = line_limit
        self._has_auth = has_auth
        self._modern = modern
        self._call_headers = call_headers
        self._renew = renew
        self._hold = hold
        self._linger = linger
        self._events = EventReplies(line_limit, route, self._get)

    async def answer(self, call: Call) -> _core.Frame:
        """The frame that answers. Raises RemoteCallError, exact about whether the tool may have run."""
        url, redirects = self.url, REDIRECTS
        renewed = authorized = repeated = False
        while True:
            if (held := self._hold()) is not None:
                await held
            headers, own = self._headers(call.body)
            fast = None if authorized else self._fast_engine()
            try:
                reply = await self._send(fast, "POST", url, headers, own, call.body, call.sent)
            except Lost as error:
                if call.sent.written and call.method in SAFE_METHODS and not repeated:
                    repeated = True
                    continue
                raise call.lost(str(error), error) from error
            handed = False
            try:
                status = reply.status
                if _SUCCESS <= status < _REDIRECT:
                    frame = await self._read(reply, call)
                    # A stream ends a moment after its answer, and then its connection may be used again.
                    handed = self._linger(reply)
                    return frame
                body = await start_of(reply)
                if status in _KEEPS_METHOD and redirects > 0:
                    target = _within_origin(url, reply.headers.get("location"))
                    if target is not None:
                        url, redirects = target, redirects - 1
                        call.sent.written = False
                        continue
            finally:
                if not handed:
                    await reply.aclose()
            told = _error_answer(body, call.number, self._limit) if status >= _ERROR else None
            session = headers.get(SESSION)
            if session is not None and not renewed and _session_is_gone(status, told, call.number):
                call.sent.written = False
                renewed = True
                await self._renew(session)
                continue
            if status in _UNAUTHORIZED and "authorization" not in own:
                self._learned.forget()
                if fast is not None and self._has_auth:
                    # The SDK's authorization looks at the answer to its own client; this one took nothing.
                    call.sent.written = False
                    authorized = True
                    continue
            if told is not None and status not in (429, 503):
                return told
            if refused(status):
                call.sent.written = False
            raise _named_fault(call, status, reply.headers, body, told)

    # The head

    def _headers(self, body: bytes) -> tuple[dict[str, str], Mapping[str, str]]:
        """What goes on top of an engine's own headers, and which of it the caller asked for."""
        headers = self._learned.of_the_protocol()
        if body and self._modern():
            headers.update(self._mirrors.headers(body))
        return headers, self._call_headers()

    def _fast_engine(self) -> Engine | None:
        return self._fast if self._learned.known else None

    async def _send(
        self,
        fast: Engine | None,
        method: str,
        url: str,
        headers: dict[str, str],
        own: Mapping[str, str],
        body: bytes,
        sent: Sent,
    ) -> Reply:
        if fast is not None:
            head = self._learned.headers()
            head.update(headers)
            head.update(own)
            return await fast.send(method, url, head, body, sent)
        reply = await self._own.send(method, url, {**headers, **own}, body, sent)
        if _SUCCESS <= reply.status < _REDIRECT:
            self._learned.learn(reply.request.headers, frozenset(own))
        return reply

    async def _get(self, last_id: str) -> Reply:
        """The rest of a stream that broke, from behind the event with this id. Raises Lost."""
        headers, own = self._headers(b"")
        headers = {**headers, "accept": "text/event-stream", "last-event-id": last_id}
        del headers["content-type"]
        return await self._send(self._fast_engine(), "GET", self.url, headers, own, b"", Sent())

    async def post(self, body: bytes) -> None:
        """A notification: any answer will do (fault J2). Raises Lost."""
        headers, own = self._headers(body)
        reply = await self._send(self._fast_engine(), "POST", self.url, headers, own, body, Sent())
        await reply.aclose()

    # The answer

    async def _read(self, reply: Reply, call: Call) -> _core.Frame:
        kind = media_type(reply.headers.get("content-type"))
        if kind == "text/event-stream":
            return await self._events.answer(reply, call.number, call.lost)
        body = await self._whole(reply, call)
        frames = frames_of(body, self._limit) if body.strip() else []
        for frame in frames:
            if answer_in(frame, call.number):
                if kind != "application/json":
                    self.counters["odd_content_types"] += 1
                return frame
        error = not_an_answer(reply.status, reply.headers, body)
        if kind == "application/json" and frames:
            raise call.lost("the server answered another request") from error
        raise _renamed(call, error)

    async def _whole(self, reply: Reply, call: Call) -> bytes:
        try:
            return await Body(reply, self._limit).whole()
        except Lost as error:
            raise call.lost(str(error), error) from error


def _error_answer(body: bytes, number: int, limit: int) -> _core.Frame | None:
    """The JSON-RPC error in the body of an error status, which says more than the status (fault J12)."""
    if not body.lstrip().startswith((b"{", b"[", b"\xef\xbb\xbf")):
        return None
    for frame in frames_of(body, limit):
        if frame.kind == "error" and answer_in(frame, number):
            return frame
    return None


def _session_is_gone(status: int, frame: _core.Frame | None, number: int) -> bool:
    """404 says so by the protocol, and 400 with an error that names a session by habit (fault J1)."""
    error = None if frame is None else frame.error
    names_session = error is not None and "session" in error[1].lower()
    if status == _GONE:
        return frame is None or frame.answers != number or names_session
    return status == _NO_SESSION and frame is not None and frame.answers != number and names_session


def _named_fault(
    call: Call, status: int, headers: Mapping[str, str], body: bytes, frame: _core.Frame | None
) -> RemoteCallError:
    told = None if frame is None else frame.error
    error = not_an_answer(status, headers, body if told is None else told[1].encode())
    if told is not None:
        error.code, error.data = told[0], told[2]
    error.raw = body or None
    return _renamed(call, error)


def _renamed(call: Call, error: RemoteCallError) -> RemoteCallError:
    """The same error, naming the request, and what may have become of it."""
    told = "; the call may have run" if error.may_have_run and call.method not in SAFE_METHODS else ""
    return error.saying(f"{named(call.label)}: {str(error).removeprefix('mcp: ')}{told}")


def _within_origin(url: str, location: str | None) -> str | None:
    """Where a redirect leads, if it stays on the origin, or goes up to https on the same host; with no new userinfo."""
    if not location:
        return None
    try:
        target = urljoin(url, location)
        here, there = urlsplit(url), urlsplit(target)
        same = (here.scheme, here.hostname, here.port or _PORTS.get(here.scheme)) == (
            there.scheme,
            there.hostname,
            there.port or _PORTS.get(there.scheme),
        )
        upgrade = (here.scheme, there.scheme) == ("http", "https") and here.hostname == there.hostname
        upgrade = upgrade and here.port in (None, 80) and there.port in (None, 443)
        userinfo = there.netloc.rpartition("@")[0]
    except ValueError:
        return None
    allowed = (same or upgrade) and (not userinfo or userinfo == here.netloc.rpartition("@")[0])
    return target if allowed else None


_PORTS: Final = {"http": 80, "https": 443}
