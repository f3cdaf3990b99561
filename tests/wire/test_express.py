"""The express lane alone, with a clock and a channel that the test holds: bounds, order, deadlines (faults I5, I6).

Nothing here waits for time: the clock moves when the test says so.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel
import pytest

from toolwire import _core
from toolwire.errors import RemoteCallError
from toolwire.wire.channel import Listener
from toolwire.wire.express import ExpressLane
from toolwire.wire.limits import Limits
from toolwire.wire.runtime import AnyioRuntime, Waiter

pytestmark = pytest.mark.anyio
FIRST = _core.EXPRESS_ID


@dataclass(frozen=True)
class Named:
    name: str


SERVER = Named("srv")


@dataclass(eq=False)
class Timer:
    when: float
    call: Callable[[], object]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class Clock:
    """A runtime whose time stands still until it is told to move."""

    tasks: anyio.abc.TaskGroup
    time: float = 1000.0
    timers: list[Timer] = field(default_factory=list)
    turns_are_cheap: bool = False

    def now(self) -> float:
        return self.time

    def waiter(self) -> Waiter:
        return AnyioRuntime(self.tasks).waiter()

    def at(self, when: float, call: Callable[[], object]) -> Timer:
        self.timers.append(Timer(when, call))
        return self.timers[-1]

    def unused(self, *_: object) -> Any:
        raise AssertionError("the lane asks only for the time, for waiters and for timers")

    soon = readable = writable = sheltered = stop = unused

    @property
    def armed(self) -> list[float]:
        return [timer.when for timer in self.timers if not timer.cancelled]

    async def pass_by(self, seconds: float) -> None:
        """Move on, calling what is due on the way at its own time, and let the tasks do what follows from it."""
        end = self.time + seconds
        while due := sorted((t for t in self.timers if not t.cancelled and t.when <= end), key=lambda t: t.when):
            self.timers.remove(due[0])
            self.time = max(self.time, due[0].when)
            due[0].call()
        self.time = end
        await anyio.wait_all_tasks_blocked()


class Pipe:
    """A channel that keeps what is written. It is full from `room` bytes on."""

    exit_code = None
    stderr_tail = b""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.room: int | None = None

    @property
    def full(self) -> bool:
        return self.room is not None and self.room <= 0

    def write(self, line: bytes, /, *, now: bool = False) -> None:
        self.lines.append(line)
        if self.room is not None:
            self.room -= len(line)

    async def open(self, _: Listener, /) -> None: ...
    async def aclose(self) -> None: ...

    def taken(self) -> list[bytes]:
        lines, self.lines = self.lines, []
        return lines


@dataclass
class Bench:
    """A lane, and calls on it that end in `outcomes` by their names."""

    lane: ExpressLane
    clock: Clock
    pipe: Pipe
    outcomes: dict[str, object] = field(default_factory=dict)
    scopes: dict[str, anyio.CancelScope] = field(default_factory=dict)

    async def start(self, name: str, **options: Any) -> None:
        self.clock.tasks.start_soon(self._call, name, {"timeout": None, **options})
        await anyio.wait_all_tasks_blocked()

    async def _call(self, name: str, options: dict[str, Any]) -> None:
        def line(number: int) -> bytes:
            return b"%d %s\n" % (number, name.encode())

        with anyio.CancelScope() as scope:
            self.scopes[name] = scope
            try:
                self.outcomes[name] = await self.lane.send(options.pop("line", line), label=(name, SERVER), **options)
            except RemoteCallError as error:
                self.outcomes[name] = error
        if scope.cancelled_caught:
            self.outcomes[name] = "cancelled"

    async def answer(self, number: int) -> bool:
        """Let an answer come in; whether somebody waited for it."""
        [frame] = _core.Inbound().feed(b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % number)
        awaited = self.lane.answer(number, frame)
        await anyio.wait_all_tasks_blocked()
        return awaited

    def error(self, name: str) -> tuple[str, bool]:
        error = self.outcomes[name]
        assert isinstance(error, RemoteCallError)
        return str(error), error.may_have_run


@asynccontextmanager
async def bench(**limits: Any) -> AsyncIterator[Bench]:
    async with anyio.create_task_group() as tasks:
        clock, pipe = Clock(tasks), Pipe()
        with anyio.fail_after(20):
            yield Bench(ExpressLane(clock, pipe, Limits(**limits)), clock, pipe)
        tasks.cancel_scope.cancel()


def cancelled(number: int, reason: str) -> bytes:
    return b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"%s"}}\n' % (
        number,
        reason.encode(),
    )


async def test_i6_a_call_that_is_not_answered_ends_at_its_own_deadline_and_is_cancelled_once() -> None:
    async with bench() as on:
        await on.start("slow", timeout=300)
        await on.start("quick", timeout=2.5)
        await on.start("free")
        assert on.pipe.taken() == [b"%d slow\n" % FIRST, b"%d quick\n" % (FIRST + 1), b"%d free\n" % (FIRST + 2)]
        await on.clock.pass_by(2.4)
        assert on.outcomes == {}
        await on.clock.pass_by(0.2)
        assert on.error("quick") == ('mcp: "quick" at srv timed out after 2.5 s', True)
        assert isinstance(on.outcomes["quick"], RemoteCallError)
        assert isinstance(on.outcomes["quick"].cause, TimeoutError)
        assert on.pipe.taken() == [cancelled(FIRST + 1, "timed out")]
        assert not await on.answer(FIRST + 1)
        await on.clock.pass_by(1000)
        assert on.error("slow") == ('mcp: "slow" at srv timed out after 300 s', True)
        assert on.pipe.taken() == [cancelled(FIRST, "timed out")]
        assert list(on.lane.pending) == [FIRST + 2]


async def test_i6_progress_starts_the_idle_limit_again_and_the_total_limit_never() -> None:
    seen: list[tuple[float, float | None, str | None]] = []
    async with bench() as on:
        await on.start("t", timeout=10, idle=3, on_progress=lambda *progress: seen.append(progress))
        for step in range(3):
            await on.clock.pass_by(2.9)
            on.lane.progressed(FIRST, step, None, None)
            on.lane.progressed(FIRST + 1, step, None, None)
        assert on.outcomes == {}
        await on.clock.pass_by(2)
        assert on.error("t") == ('mcp: "t" at srv timed out after 10 s', True)
        assert seen == [(0, None, None), (1, None, None), (2, None, None)]


async def test_i6_without_progress_the_idle_limit_ends_the_call_and_says_so() -> None:
    async with bench() as on:
        await on.start("t", timeout=10, idle=3)
        await on.start("other", timeout=10, idle=None)
        on.lane.progressed(FIRST + 1, 1, None, None)
        await on.clock.pass_by(3)
        assert on.error("t") == ('mcp: "t" at srv timed out after 3 s without progress', True)
        assert list(on.outcomes) == ["t"]


async def test_i6_none_lifts_a_deadline_and_no_timer_is_left() -> None:
    async with bench() as on:
        await on.start("t")
        assert on.clock.armed == []
        await on.start("u", timeout=5)
        assert on.clock.armed == [1005]
        await on.answer(FIRST + 1)
        await on.clock.pass_by(1_000_000)
        assert on.clock.armed == []
        assert list(on.lane.pending) == [FIRST]


async def test_the_in_flight_bound_holds_and_the_queue_is_first_come_first_served() -> None:
    count = 1_200
    async with bench(in_flight=4) as on:
        for name in map(str, range(count)):
            on.clock.tasks.start_soon(on._call, name, {"timeout": None})
        await anyio.wait_all_tasks_blocked()
        written: list[bytes] = []
        while on.lane.pending:
            written += on.pipe.taken()
            assert len(on.lane.pending) == min(4, count - len(on.outcomes))
            # The youngest first, so that order is the queue's doing and not the answers'.
            await on.answer(max(on.lane.pending))
        assert len(on.outcomes) == count
        assert written == sorted(written, key=lambda line: int(line.split()[0]))
        assert len(set(written)) == count


async def test_a_newcomer_never_passes_the_queue() -> None:
    async with bench(in_flight=1) as on:
        for name in "abc":
            await on.start(name)
        [frame] = _core.Inbound().feed(b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % FIRST)
        on.lane.answer(FIRST, frame)
        # In the same turn, before the caller of "a" has run.
        await on.start("d")
        assert [line.split()[1] for line in on.pipe.taken()] == [b"a", b"b"]
        await on.answer(FIRST + 1)
        await on.answer(FIRST + 2)
        assert [line.split()[1] for line in on.pipe.taken()] == [b"c", b"d"]


async def test_a_call_that_dies_in_the_queue_has_not_run_and_sends_nothing() -> None:
    async with bench(in_flight=1) as on:
        await on.start("first", timeout=100)
        await on.start("queued", timeout=5)
        await on.start("patient", timeout=50)
        on.pipe.taken()
        await on.clock.pass_by(5)
        assert on.error("queued") == ('mcp: "queued" at srv timed out after 5 s, before it was sent', False)
        assert on.pipe.taken() == []
        await on.answer(FIRST)
        assert on.pipe.taken() == [b"%d patient\n" % (FIRST + 2)]
        # Its clock started at the call: five of its fifty seconds went by in the queue.
        await on.clock.pass_by(45)
        assert on.error("patient") == ('mcp: "patient" at srv timed out after 50 s', True)


async def test_i5_a_call_that_is_cancelled_in_the_queue_sends_nothing_and_in_flight_sends_one_cancel() -> None:
    async with bench(in_flight=1) as on:
        for name in ("flying", "queued", "next"):
            await on.start(name)
        on.pipe.taken()
        on.scopes["queued"].cancel()
        await anyio.wait_all_tasks_blocked()
        assert (on.outcomes, on.pipe.taken()) == ({"queued": "cancelled"}, [])
        on.scopes["flying"].cancel()
        await anyio.wait_all_tasks_blocked()
        assert on.pipe.taken() == [cancelled(FIRST, "the caller gave up"), b"%d next\n" % (FIRST + 2)]
        assert not await on.answer(FIRST)
        await on.answer(FIRST + 2)
        assert isinstance(on.outcomes["next"], _core.Frame)


async def test_i5_an_answer_and_a_cancellation_in_one_turn_send_no_cancel() -> None:
    async with bench() as on:
        await on.start("t")
        on.pipe.taken()
        [frame] = _core.Inbound().feed(b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % FIRST)
        on.scopes["t"].cancel()
        on.lane.answer(FIRST, frame)
        await anyio.wait_all_tasks_blocked()
        assert on.pipe.taken() == []
        assert on.lane.pending == {}


async def test_a_line_that_cannot_be_made_sends_nothing_and_holds_nobody_up() -> None:
    class Refused(Exception):
        pass

    def refuse(_: int) -> bytes:
        raise Refused

    async with bench(in_flight=1) as on:
        await on.start("flying")
        with pytest.raises(Refused):
            # Not even behind a queue does it wait for its turn to be refused.
            await on.lane.send(refuse, label=("t", SERVER), timeout=None)
        await on.start("next")
        await on.answer(FIRST)
        assert [line.split()[1] for line in on.pipe.taken()] == [b"flying", b"next"]


async def test_a_full_channel_makes_calls_wait_and_takes_them_up_only_as_far_as_there_is_room() -> None:
    async with bench() as on:
        on.pipe.room = 1
        for name in "abcd":
            await on.start(name)
        assert [line.split()[1] for line in on.pipe.taken()] == [b"a"]
        # Room for two lines and a bit: three are written, since what is written last may go over the mark.
        on.pipe.room = 2 * len(b"%d a\n" % FIRST)
        on.lane.writable()
        assert [line.split()[1] for line in on.pipe.taken()] == [b"b", b"c"]
        # An answer frees a place in flight, but no room in the channel.
        await on.answer(FIRST)
        assert on.pipe.taken() == []
        on.pipe.room = None
        on.lane.writable()
        assert [line.split()[1] for line in on.pipe.taken()] == [b"d"]


async def test_i1_an_end_tells_those_in_flight_that_they_may_have_run_and_nobody_else() -> None:
    async with bench(in_flight=2) as on:
        for name in ("one", "two", "queued"):
            await on.start(name, timeout=9)
        on.lane.die(RemoteCallError("gone"))
        on.lane.die(RemoteCallError("later"))
        await anyio.wait_all_tasks_blocked()
        await on.start("after", timeout=9)
        assert {name: on.error(name) for name in on.outcomes} == {
            "one": ("mcp: gone", True),
            "two": ("mcp: gone", True),
            "queued": ("mcp: gone", False),
            "after": ("mcp: gone", False),
        }
        # Each caller has an exception of its own, or their tracebacks would pile up on one.
        assert len({id(error) for error in on.outcomes.values()}) == 4
        assert on.clock.armed == []
        assert [line.split()[1] for line in on.pipe.taken()] == [b"one", b"two"]


async def test_a_progress_callback_that_raises_costs_nobody_anything(caplog: pytest.LogCaptureFixture) -> None:
    def angry(*_: object) -> None:
        raise LookupError("angry")

    async with bench() as on:
        await on.start("t", idle=5, on_progress=angry)
        on.lane.progressed(FIRST, 1, 2, "x")
        assert on.outcomes == {}
        assert "progress callback" in caplog.text
        await on.clock.pass_by(4)
        on.lane.progressed(FIRST, 2, 2, "x")
        await on.clock.pass_by(4)
        assert on.outcomes == {}
        await on.answer(FIRST)
        assert isinstance(on.outcomes["t"], _core.Frame)


async def test_deadlines_of_many_calls_share_one_timer() -> None:
    async with bench(in_flight=50) as on:
        for number in range(100):
            await on.start(str(number), timeout=100 - number % 7)
        assert len(on.clock.armed) == 1
        await on.clock.pass_by(94)
        assert len(on.outcomes) == 14
        assert len(on.clock.armed) == 1
        await on.clock.pass_by(6)
        assert len(on.outcomes) == 100
        assert on.clock.armed == []
        assert on.lane.pending == {}
        assert not on.lane.waiting
