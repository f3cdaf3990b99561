"""The express lane: requests that never touch pydantic, each of which ends with an answer, a typed error or a deadline.

It knows ids, deadlines and who waits; it does not know what a tool is. Ids count from 1,000,000,000: the SDK's start at
1, and a server that turns ids into strings or floats still gets them back as the same integer.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from toolwire import _core
from toolwire.errors import RemoteCallError, ToolwireError, quoted
from toolwire.wire.channel import Channel
from toolwire.wire.limits import Limits
from toolwire.wire.runtime import Runtime, Waiter, Watch

__all__ = ["ExpressLane", "Label", "OnProgress", "copied", "named"]

logger = logging.getLogger("toolwire.wire")

OnProgress = Callable[[float, float | None, str | None], None]
_NEVER: Final = float("inf")


class Named(Protocol):
    """What an error text can name."""

    @property
    def name(self) -> str: ...


Label = tuple[Named | str, Named]
"""A request and its server, as error texts name them: asked for their names only then."""

_Pending = tuple[Waiter, float, float | None, float | None, Label, OnProgress | None]
"""Who waits; its deadline; its limits in seconds, in total and without progress; its names; who hears of progress.

A plain tuple, since one is made for every call: an object with these fields costs six times as much.
"""


class ExpressLane:
    """Requests by id. `send` hands a line's maker the id, and gives the frame that answered."""

    def __init__(self, runtime: Runtime, channel: Channel, limits: Limits) -> None:
        self._runtime = runtime
        self._now = runtime.now
        self._waiter = runtime.waiter
        self._channel = channel
        self._in_flight = limits.in_flight
        self.pending: dict[int, _Pending] = {}
        """Written and not answered."""
        self._idle_deadlines: dict[int, float] = {}
        """Of those with an idle limit."""
        self._queue: OrderedDict[int, tuple[_Pending, bytes]] = OrderedDict()
        """Not written yet: the bound is reached, or the channel is full. First come, first served."""
        self._next_id = _core.EXPRESS_ID
        self._timer: Watch | None = None
        self._timer_at = _NEVER
        self._dead: RemoteCallError | None = None
        self.late_answers = 0

    async def send(
        self,
        line: Callable[[int], bytes],
        *,
        label: Label,
        timeout: float | None,
        idle: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> _core.Frame:
        """Writes `line(id)` and waits for its answer: a frame of kind `result`, `error` or `broken`.

        `label` is the request's name and its server's, for error texts. Raises RemoteCallError at a deadline or when
        the connection ends; what `line` raises goes on, and then nothing was sent. A cancelled caller cancels the
        request.
        """
        pending, channel = self.pending, self._channel
        if self._dead is not None:
            raise copied(self._dead, may_have_run=False)
        number = self._next_id
        self._next_id = number + 1
        data = line(number)
        waiter = self._waiter()
        deadline = _NEVER if timeout is None else self._now() + timeout
        entry = (waiter, deadline, timeout, idle, label, on_progress)
        if self._queue or len(pending) >= self._in_flight or channel.full:
            self._queue[number] = (entry, data)
            if deadline < self._timer_at:
                self._arm(deadline)
        elif idle is not None:
            self._write(number, entry, data)
        else:
            # What `_write` does without an idle limit, in place: nearly every request comes here.
            pending[number] = entry
            if deadline < self._timer_at:
                self._arm(deadline)
            channel.write(data, now=len(pending) == 1)
        try:
            outcome: _core.Frame | ToolwireError = await waiter
        except BaseException:
            # The caller was cancelled. Only a request that was written and not answered is cancelled, and only once.
            if self._queue.pop(number, None) is None and pending.pop(number, None) is not None:
                self._idle_deadlines.pop(number, None)
                self._cancel(number, "the caller gave up")
                self._pump()
            raise
        if isinstance(outcome, ToolwireError):
            raise outcome
        return outcome

    @property
    def waiting(self) -> int:
        """Requests that wait for an answer, or to be written."""
        return len(self.pending) + len(self._queue)

    # What the wire hands in

    def take(self, frames: Iterable[_core.Frame], others: Callable[[_core.Frame, int], None]) -> None:
        """Ends the requests that frames answer, in their order; `others` gets every other frame and whom it answers."""
        pending = self.pending
        for frame in frames:
            number = frame.answers
            entry = pending.pop(number, None)
            if entry is None:
                others(frame, number)
                continue
            waiter = entry[0]
            if not waiter.done():
                waiter.set_result(frame)
            if entry[3] is not None:
                del self._idle_deadlines[number]
        if self._queue:
            self._pump()

    def answer(self, number: int, outcome: _core.Frame | ToolwireError) -> bool:
        """Ends a request that was written; False when nobody waits for it."""
        entry = self.pending.pop(number, None)
        if entry is None:
            return False
        waiter, _, _, idle, _, _ = entry
        if not waiter.done():
            waiter.set_result(outcome)
        if idle is not None:
            del self._idle_deadlines[number]
        if self._queue:
            self._pump()
        return True

    def progressed(self, number: int, progress: float, total: float | None, message: str | None) -> None:
        """A server is alive to a request: its idle limit starts again, its total one does not."""
        entry = self.pending.get(number)
        if entry is None:
            return
        _, _, _, idle, label, on_progress = entry
        if idle is not None:
            self._idle_deadlines[number] = self._now() + idle
        if on_progress is not None:
            try:
                on_progress(progress, total, message)
            except Exception:
                # It is charged to nobody: the call goes on, and so do the other frames of this chunk.
                logger.exception("the progress callback of %s raised", named(label))

    def die(self, error: RemoteCallError) -> None:
        """The connection has ended: every request ends with `error`, and every later one at once."""
        self._dead = self._dead or error
        queued, self._queue = self._queue, OrderedDict()
        for entry, _ in queued.values():
            _end(entry, copied(error, may_have_run=False))
        for number in list(self.pending):
            self.answer(number, copied(error, may_have_run=error.may_have_run))
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._timer_at = _NEVER

    def writable(self) -> None:
        """The channel takes bytes again."""
        self._pump()

    # Before the wire

    def _pump(self) -> None:
        """Writes what waits, as far as there is room."""
        while self._queue and len(self.pending) < self._in_flight and not self._channel.full:
            number, (entry, data) = self._queue.popitem(last=False)
            self._write(number, entry, data)

    def _write(self, number: int, entry: _Pending, data: bytes) -> None:
        self.pending[number] = entry
        _, due, _, idle, _, _ = entry
        if idle is not None:
            quiet = self._idle_deadlines[number] = self._now() + idle
            due = min(due, quiet)
        if due < self._timer_at:
            self._arm(due)
        self._channel.write(data, now=len(self.pending) == 1)

    # Deadlines: one timer for all requests, set to the earliest

    def _arm(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = due
        self._timer = self._runtime.at(due, self._sweep)

    def _sweep(self) -> None:
        self._timer = None
        self._timer_at = _NEVER
        now = self._now()
        earliest = _NEVER
        for number, (entry, _) in list(self._queue.items()):
            _, deadline, timeout, _, label, _ = entry
            if deadline <= now:
                del self._queue[number]
                text = f"{named(label)} timed out after {timeout:g} s, before it was sent"
                _end(entry, RemoteCallError(text, may_have_run=False, error=TimeoutError()))
            else:
                earliest = min(earliest, deadline)
        for number, (_, deadline, timeout, idle, label, _) in list(self.pending.items()):
            due = min(deadline, self._idle_deadlines.get(number, _NEVER))
            if due > now:
                earliest = min(earliest, due)
                continue
            limit = f"{timeout:g} s" if deadline <= now else f"{idle:g} s without progress"
            self._cancel(number, "timed out")
            self.answer(number, RemoteCallError(f"{named(label)} timed out after {limit}", error=TimeoutError()))
        # A queued request that was written meanwhile has set the timer for itself.
        if earliest < self._timer_at:
            self._arm(earliest)

    def _cancel(self, number: int, reason: str) -> None:
        self._channel.write(
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"%s"}}\n'
            % (number, reason.encode())
        )


def _end(entry: _Pending, outcome: ToolwireError) -> None:
    waiter = entry[0]
    if not waiter.done():
        waiter.set_result(outcome)


def named(label: Label) -> str:
    """A request and its server, for an error text."""
    request, server = label
    return f"{quoted(request if isinstance(request, str) else request.name)} at {server.name}"


def copied(error: RemoteCallError, *, may_have_run: bool) -> RemoteCallError:
    """The same error for another caller: one exception object must not gather many tracebacks."""
    return RemoteCallError(str(error).removeprefix("mcp: "), may_have_run=may_have_run, error=error.cause)
