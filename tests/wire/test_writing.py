"""Requests of one turn of the loop: they leave a few together, so that the server begins while the rest are made."""

import os
import select
from functools import partial

import anyio
import anyio.lowlevel
import pytest

from tests.wire.echoing import LOOK, echoing
from toolwire.loops import on_asyncio
from toolwire.wire.limits import COMPANY, FIRST_COMPANY, WRITE_HIGH_WATER
from toolwire.wire.outflow import Outflow
from toolwire.wire.runtime import AnyioRuntime, AsyncioRuntime
from toolwire.wire.stdio import PipeChannel

pytestmark = pytest.mark.anyio


def answers_come(channel: PipeChannel) -> bool:
    """Whether the program has answered something, without a turn of the loop."""
    return bool(select.select([channel._stdout], [], [], LOOK)[0])


async def test_the_server_begins_while_the_turn_that_makes_its_requests_still_runs() -> None:
    async with echoing() as (channel, heard):
        for number in range(FIRST_COMPANY):
            channel.write(b"%d\n" % number)
        assert answers_come(channel)
        assert not heard.text
        assert await heard.lines(FIRST_COMPANY) == [b"%d" % number for number in range(FIRST_COMPANY)]


async def test_a_request_without_company_leaves_when_the_turn_is_over() -> None:
    async with echoing() as (channel, heard):
        channel.write(b"alone\n")
        assert channel._out.unwritten
        assert await heard.lines(1) == [b"alone"]


async def test_more_and_more_of_a_long_turn_leave_together_and_each_turn_begins_anew() -> None:
    async with echoing() as (channel, heard):
        made = FIRST_COMPANY + 4 * COMPANY
        for turn in (1, 2):
            written = []
            for number in range(made):
                channel.write(b"%d\n" % number)
                if not channel._out.unwritten:
                    written.append(number + 1)
            companies = [after - before for before, after in zip([0, *written], written, strict=False)]
            assert companies[0] == FIRST_COMPANY
            assert companies == sorted(companies)
            assert companies[-1] == COMPANY
            await heard.lines(turn * made)


@pytest.mark.parametrize("lone_first", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 6, 7, 14, 15, 1_000])
async def test_all_requests_of_a_turn_arrive_in_their_order(count: int, lone_first: bool) -> None:
    lines = [b"%d" % number for number in range(count)]
    async with echoing() as (channel, heard):
        for index, line in enumerate(lines):
            channel.write(line + b"\n", now=lone_first and index == 0)
        assert await heard.lines(count) == lines


async def test_what_a_full_pipe_holds_back_follows_in_order_and_the_listener_hears_once_of_the_room() -> None:
    lines = [b"%d" % number * (WRITE_HIGH_WATER // 8) for number in range(10)]
    async with echoing() as (channel, heard):
        for line in lines:
            channel.write(line + b"\n")
        assert channel.full
        assert not heard.drained
        assert await heard.lines(len(lines)) == lines
        assert len(heard.drained) == 1


@pytest.mark.parametrize("broken_by", ["a lone message", "company", "the end of a turn", "what was left"])
async def test_a_peer_that_reads_no_more_stays_full_and_nothing_is_said_to_have_room(broken_by: str) -> None:
    """What is written then never leaves, so that a caller whose call waits for room can say that it has not run."""
    heard: list[str] = []
    async with anyio.create_task_group() as tasks:
        runtime = AsyncioRuntime() if on_asyncio() else AnyioRuntime(tasks)
        source, sink = os.pipe()
        os.set_blocking(sink, False)

        def broken() -> None:
            heard.append("broken")
            out.stop()

        out = Outflow(
            runtime,
            sink,
            sent=partial(heard.append, "sent"),
            drained=partial(heard.append, "drained"),
            broken=broken,
            company=COMPANY,
        )
        if broken_by == "what was left":
            out.write(b"x" * (WRITE_HIGH_WATER + (1 << 20)), now=True)
            assert out.unwritten
        os.close(source)
        out.write(b"one\n", now=broken_by == "a lone message")
        if broken_by == "company":
            out.write(b"two\n", now=False)
            assert heard == ["broken"]
        with anyio.fail_after(LOOK):
            while "broken" not in heard:
                await anyio.lowlevel.checkpoint()
        for _ in range(3):
            # The end of the turn comes after a pipe that broke within it.
            await anyio.lowlevel.checkpoint()
        out.write(b"late\n", now=True)
        out.flush()
        assert heard == ["broken"]
        assert (out.full, out.unwritten, await out.emptied(LOOK)) == (True, 0, True)
        runtime.stop()
    os.close(sink)
