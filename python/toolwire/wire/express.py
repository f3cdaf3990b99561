"""The express lane: requests that never touch pydantic, each of which ends with an answer, a typed error or a deadline.

It knows ids, deadlines and who waits; it does not know what a tool is. Ids count from 1,000,000,000: the SDK's start at 1,
and a server that turns ids into strings or floats still gets them back as the same integer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

import anyio

from toolwire import _core
from toolwire.errors import RemoteCallError, ToolwireError, quoted
from toolwire.wire.channel import Channel
from toolwire.wire.limits import Limits
from toolwire.wire.runtime import Runtime, Timer, Waiter

__all__ = ["ExpressLane", "OnProgress"]

OnProgress = Callable[[float, float | None, str | None], None]
_NEVER: Final = float("inf")


class _Pending:
    __slots__ = ("deadline", "idle", "idle_deadline", "label", "on_progress", "timeout", "waiter")

    def __init__(
        self, waiter: Waiter, deadline: float, timeout: float, idle: float | None, label: tuple[str, str], on_progress: OnProgress | None
    ) -> None:
        self.waiter = waiter
        self.deadline = deadline
        self.timeout = timeout
        self.idle = idle
        self.idle_deadline = _NEVER
        self.label = label
        self.on_progress = on_progress


class ExpressLane:
    """Requests by id. `send` hands a line's maker the id, and gives the frame that answered."""

    def __init__(self, runtime: Runtime, channel: Channel, limits: Limits) -> None:
        self._runtime = runtime
        self._now = runtime.now
        self._waiter = runtime.waiter
        self._channel = channel
        self._limits = limits
        self._in_flight = limits.in_flight
        self.pending: dict[int, _Pending] = {}
        self._queue: deque[Waiter] = deque()
        self._next_id = _core.EXPRESS_ID
        self._timer: Timer | None = None
        self._timer_at = _NEVER
        self._dead: RemoteCallError | None = None
        self.late_answers = 0

    async def send(
        self,
        line: Callable[[int], bytes],
        *,
        label: tuple[str, str],
        timeout: float | None,
        idle: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> _core.Frame:
        """Writes `line(id)` and waits for its answer: a frame of kind `result`, `error` or `broken`.

        `label` is the request's name and its server's, for error texts. Raises RemoteCallError at a deadline or when the
        connection ends; what `line` raises goes on, and then nothing was sent. A cancelled caller cancels the request.
        """
        pending = self.pending
        deadline = _NEVER if timeout is None else self._now() + timeout
        if self._dead is not None:
            raise _never_sent(self._dead)
        if self._queue or len(pending) >= self._in_flight or self._channel.full:
            await self._room(deadline, timeout, label)
        number = self._next_id
        self._next_id = number + 1
        data = line(number)
        waiter = self._waiter()
        entry = _Pending(waiter, deadline, timeout or 0.0, idle, label, on_progress)
        if idle is not None:
            entry.idle_deadline = self._now() + idle
        pending[number] = entry
        due = min(deadline, entry.idle_deadline)
        if due < self._timer_at:
            self._arm(due)
        self._channel.write(data, now=len(pending) == 1)
        try:
            outcome: _core.Frame | ToolwireError = await waiter
        except BaseException:
            # The caller was cancelled. Only a request that nobody has answered is cancelled, and only once.
            if pending.pop(number, None) is not None:
                self._cancel(number, "the caller gave up")
                self._wake()
            raise
        if isinstance(outcome, ToolwireError):
            raise outcome
        return outcome

    # What the wire hands in

    def answer(self, number: int, outcome: _core.Frame | ToolwireError) -> bool:
        """Ends a request; False when nobody waits for it."""
        entry = self.pending.pop(number, None)
        if entry is None:
            self.late_answers += 1
            return False
        if not entry.waiter.done():
            entry.waiter.set_result(outcome)
        if self._queue:
            self._wake()
        return True

    def progressed(self, number: int, progress: float, total: float | None, message: str | None) -> None:
        """A server is alive to a request: its idle limit starts again, its total one does not."""
        entry = self.pending.get(number)
        if entry is None:
            return
        if entry.idle is not None:
            entry.idle_deadline = self._now() + entry.idle
        if entry.on_progress is not None:
            entry.on_progress(progress, total, message)

    def die(self, error: RemoteCallError) -> None:
        """The connection has ended: every request ends with `error`, and every later one at once."""
        self._dead = self._dead or error
        for number in list(self.pending):
            self.answer(number, _copy(error))
        while self._queue:
            waiter = self._queue.popleft()
            if not waiter.done():
                waiter.set_result(None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._timer_at = _NEVER

    def writable(self) -> None:
        """The channel takes bytes again."""
        self._wake()

    # The queue before the wire

    async def _room(self, deadline: float, timeout: float | None, label: tuple[str, str]) -> None:
        """Waits until one more call may be written. The wait belongs to the call's own time."""
        while True:
            waiter = self._waiter()
            self._queue.append(waiter)
            try:
                with anyio.fail_after(None if timeout is None else max(0.0, deadline - self._now())):
                    await waiter
            except TimeoutError as error:
                self._leave(waiter)
                raise RemoteCallError(
                    f"{_named(label)} timed out after {timeout:g} s, before it was sent", may_have_run=False, error=error
                ) from None
            except BaseException:
                self._leave(waiter)
                raise
            if self._dead is not None:
                raise _never_sent(self._dead)
            if len(self.pending) < self._in_flight and not self._channel.full:
                return

    def _leave(self, waiter: Waiter) -> None:
        if waiter in self._queue:
            self._queue.remove(waiter)
        else:
            # It had been let through; the place goes to the next one.
            self._wake()

    def _wake(self) -> None:
        room = self._in_flight - len(self.pending)
        while self._queue and room > 0 and not self._channel.full:
            waiter = self._queue.popleft()
            if not waiter.done():
                waiter.set_result(None)
                room -= 1

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
        for number, entry in list(self.pending.items()):
            due = min(entry.deadline, entry.idle_deadline)
            if due > now:
                earliest = min(earliest, due)
                continue
            total = entry.deadline <= now
            limit, kind = (entry.timeout, "") if total else (entry.idle or 0.0, " without progress")
            self._cancel(number, "timed out")
            error = RemoteCallError(f"{_named(entry.label)} timed out after {limit:g} s{kind}", error=TimeoutError())
            self.answer(number, error)
        if earliest < _NEVER:
            self._arm(earliest)

    def _cancel(self, number: int, reason: str) -> None:
        self._channel.write(
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"%s"}}\n'
            % (number, reason.encode())
        )


def _named(label: tuple[str, str]) -> str:
    return f"{quoted(label[0])} at {label[1]}"


def _copy(error: RemoteCallError) -> RemoteCallError:
    """The same error for another caller: one exception object must not gather many tracebacks."""
    return RemoteCallError(str(error).removeprefix("mcp: "), may_have_run=error.may_have_run, error=error.cause)


def _never_sent(error: RemoteCallError) -> RemoteCallError:
    copy = _copy(error)
    copy.may_have_run = False
    return copy
