"""Staying awake for what a peer says next: bounded by its time, and given up where it does not pay."""

import os
from collections import deque
from collections.abc import Callable

import pytest

from tests.wire.echoing import Heard, echoing
from toolwire.wire.descriptors import DescriptorChannel
from toolwire.wire.limits import VIGIL, VIGIL_PAUSE, VIGIL_REQUESTS
from toolwire.wire.runtime import AsyncioRuntime
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


def test_vigils_that_follow_each_other_in_one_turn_keep_the_loop_turning_once() -> None:
    """A chain of turns for each of them would make every turn dearer than the one before."""
    loop = Loop()
    for _ in range(10):
        loop.vigil.begin()
        loop.vigil.heard()
    loop.vigil.begin()
    assert len(loop.ready) == 1
    loop.in_vain()


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


# Who begins one, and when


class Counted(Vigil):
    """A vigil that is only counted."""

    def __init__(self) -> None:
        self.begun = 0
        self.heard_from = 0

    def begin(self) -> None:
        """Counts."""
        self.begun += 1

    def heard(self) -> None:
        """Counts."""
        self.heard_from += 1


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("now", [False, True])
@pytest.mark.parametrize("waiting", [0, 1, VIGIL_REQUESTS, VIGIL_REQUESTS + 1])
async def test_a_client_stays_awake_once_a_turn_for_few_requests_and_never_for_many_or_none(
    waiting: int, now: bool
) -> None:
    async with echoing(lambda: waiting) as (channel, heard):
        vigil = channel._vigil = Counted()
        for _ in range(waiting or 1):
            channel.write(b"request\n", now=now and waiting <= 1)
        await heard.lines(waiting or 1)
        assert vigil.begun == (0 < waiting <= VIGIL_REQUESTS)
        assert vigil.heard_from


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("idle", [False, True])
async def test_a_server_stays_awake_for_the_next_request_unless_something_runs(idle: bool) -> None:
    asked, answered = os.pipe(), os.pipe()
    heard, peer = Heard(), Heard()
    peer.idle = idle
    runtime = AsyncioRuntime()
    server, client = (DescriptorChannel(runtime, *pipe) for pipe in ((asked[0], answered[1]), (answered[0], asked[1])))
    await server.open(peer)
    await client.open(heard)
    vigil = server._vigil = Counted()
    client.write(b"request\n")
    await peer.lines(1)
    assert vigil.heard_from == 1
    server.write(b"answer\n")
    await heard.lines(1)
    assert vigil.begun == idle
    for channel in (client, server):
        await channel.aclose()
    for descriptor in (*asked, *answered):
        os.close(descriptor)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_nobody_stays_awake_where_a_turn_of_the_loop_is_dear() -> None:
    async with echoing(lambda: 1) as (channel, heard):
        assert channel._vigil is None
        channel.write(b"request\n", now=True)
        await heard.lines(1)
