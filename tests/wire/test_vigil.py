"""Staying awake for a lone request: bounded by its time, and given up where it does not pay."""

from collections import deque
from collections.abc import Callable

from toolwire.wire.limits import VIGIL, VIGIL_PAUSE
from toolwire.wire.vigil import Vigil


class Loop:
    """A loop that turns when it is told to, and whose time stands still meanwhile."""

    def __init__(self) -> None:
        self.time = 100.0
        self.ready: deque[Callable[[], object]] = deque()
        self.vigil = Vigil(lambda: self.time, self.ready.append)

    def turn(self, seconds: float = 0.0) -> bool:
        """Turn once, `seconds` later; whether anything asked for it."""
        self.time += seconds
        if not self.ready:
            return False
        self.ready.popleft()()
        return True

    def in_vain(self) -> None:
        """Let a vigil that has begun end without an answer."""
        assert self.turn(VIGIL)
        assert not self.ready

    def skipped(self) -> int:
        """Count the requests from here on that go without a vigil."""
        count = 0
        while not self.ready:
            self.vigil.begin()
            count += 1
        return count - 1


def test_the_loop_turns_until_the_answer_comes() -> None:
    loop = Loop()
    loop.vigil.begin()
    assert all(loop.turn(VIGIL / 10) for _ in range(5))
    loop.vigil.heard()
    loop.turn()
    assert not loop.ready


def test_the_loop_sleeps_once_the_time_is_over() -> None:
    loop = Loop()
    loop.vigil.begin()
    assert loop.turn(VIGIL / 2)
    assert loop.turn(VIGIL / 2)
    assert not loop.ready


def test_a_second_request_in_a_vigil_begins_no_other() -> None:
    loop = Loop()
    loop.vigil.begin()
    loop.vigil.begin()
    assert len(loop.ready) == 1


def test_a_vigil_in_vain_doubles_the_requests_that_go_without_one() -> None:
    loop = Loop()
    pauses = []
    for _ in range(13):
        pauses.append(loop.skipped())
        loop.in_vain()
    assert pauses == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, VIGIL_PAUSE, VIGIL_PAUSE]


def test_an_answer_that_was_seen_ends_the_pause() -> None:
    loop = Loop()
    for _ in range(5):
        loop.skipped()
        loop.in_vain()
    assert loop.skipped() == 16
    loop.vigil.heard()
    loop.turn()
    assert loop.skipped() == 0


def test_what_is_heard_outside_of_a_vigil_changes_nothing() -> None:
    loop = Loop()
    loop.vigil.begin()
    loop.in_vain()
    loop.vigil.heard()
    assert loop.skipped() == 1
