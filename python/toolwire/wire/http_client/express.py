"""The express lane over HTTP: each request in its caller's own task, with its place in the pool and its deadline."""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Callable

import anyio

from toolwire import _core
from toolwire.errors import RemoteCallError
from toolwire.wire.express import Label, OnProgress, copied, named
from toolwire.wire.http_client.exchange import Call, Exchange
from toolwire.wire.limits import Limits

__all__ = ["HttpExpress"]

logger = logging.getLogger("toolwire.wire")


class _Running:
    """What may happen to a request from outside."""

    __slots__ = ("deadline", "idle", "label", "on_progress", "scope")

    def __init__(self, scope: anyio.CancelScope, label: Label, idle: float | None, heard: OnProgress | None) -> None:
        self.scope = scope
        self.deadline = scope.deadline
        self.label = label
        self.idle = idle
        self.on_progress = heard

    def alive(self) -> None:
        """The idle limit begins again, the total one does not."""
        if self.idle is not None:
            self.scope.deadline = min(self.deadline, anyio.current_time() + self.idle)


class HttpExpress:
    """Requests by id. `cancelled(number)` tells the server, where the era has it so, that nobody waits any more."""

    def __init__(self, exchange: Exchange, limits: Limits, cancelled: Callable[[int, str], None]) -> None:
        self._exchange = exchange
        self._in_flight = limits.in_flight
        self._cancelled = cancelled
        self._running: dict[int, _Running] = {}
        self._posting = 0
        self._queue: deque[anyio.Event] = deque()
        self._next_id = _core.EXPRESS_ID
        self._dead: RemoteCallError | None = None
        self.requests = 0
        """Requests that were posted on this lane."""

    async def send(
        self,
        line: Callable[[int], bytes],
        *,
        label: Label,
        timeout: float | None,
        idle: float | None = None,
        on_progress: OnProgress | None = None,
        method: str = "tools/call",
    ) -> _core.Frame:
        """Posts `line(id)` and waits for its answer: a frame of kind `result`, `error` or `broken`.

        Raises RemoteCallError at a deadline, when the exchange broke and when the wire is closed; what `line` raises
        goes on, and then nothing was sent. A cancelled caller cancels the request.
        """
        if self._dead is not None:
            raise copied(self._dead, may_have_run=False)
        number = self._next_id
        self._next_id = number + 1
        call = Call(number, line(number), method, label)
        limit = math.inf if timeout is None else timeout
        with anyio.CancelScope(deadline=anyio.current_time() + limit) as scope:
            running = self._running[number] = _Running(scope, label, idle, on_progress)
            try:
                await self._turn()
                try:
                    running.alive()
                    self.requests += 1
                    return await self._exchange.answer(call)
                finally:
                    self._leave()
            except anyio.get_cancelled_exc_class():
                if not scope.cancel_called and call.sent.written:
                    self._cancelled(number, "the caller gave up")
                raise
            finally:
                del self._running[number]
        if self._dead is not None:
            raise copied(self._dead, may_have_run=call.sent.written)
        raise self._overdue(call, running, timeout)

    def _overdue(self, call: Call, running: _Running, timeout: float | None) -> RemoteCallError:
        text = f"{named(call.label)} timed out after "
        written = call.sent.written
        if timeout is not None and anyio.current_time() >= running.deadline:
            text += f"{timeout:g} s"
        else:
            text += f"{running.idle:g} s without progress"
        if written:
            self._cancelled(call.number, "timed out")
        else:
            text += ", before it was sent"
        return RemoteCallError(text, may_have_run=written, error=TimeoutError())

    # What the wire hands in

    def progressed(self, number: int, progress: float, total: float | None, message: str | None) -> None:
        """A server is alive to a request."""
        running = self._running.get(number)
        if running is None:
            return
        running.alive()
        if running.on_progress is not None:
            try:
                running.on_progress(progress, total, message)
            except Exception:
                # It is charged to nobody: the call goes on.
                logger.exception("the progress callback of %s raised", named(running.label))

    def die(self, error: RemoteCallError) -> None:
        """The wire has ended: every request ends with `error`, and every later one at once."""
        self._dead = self._dead or error
        for running in self._running.values():
            running.scope.cancel()

    # The places in the pool

    async def _turn(self) -> None:
        if self._posting < self._in_flight and not self._queue:
            self._posting += 1
            return
        turn = anyio.Event()
        self._queue.append(turn)
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():
                self._leave()
            else:
                self._queue.remove(turn)
            raise

    def _leave(self) -> None:
        # A place is handed over, so that nobody overtakes who waits.
        if self._queue:
            self._queue.popleft().set()
        else:
            self._posting -= 1
