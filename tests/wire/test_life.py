"""Faults I1 and I4: how a server ends, by itself and by us, and that nothing of it is left."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from io import BytesIO, StringIO, TextIOWrapper

import anyio
import mcp
import mcp_types
import pytest

import toolwire
from tests.wire.lanes import BODIES, OK, Lanes, good, lanes, nothing_left, until
from toolwire.testing import (
    RawServer,
    close_stdin,
    close_stdout,
    die,
    ignore_sigterm,
    later,
    linger,
    silence,
    sleep,
    spawn,
    stderr,
    then,
)
from toolwire.wire import exit as wire_exit
from toolwire.wire import limits, stdio
from toolwire.wire.client import ClientWire
from toolwire.wire.limits import Limits

pytestmark = pytest.mark.anyio


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds of the ladder, shorter: what is tested is the order of its steps."""
    monkeypatch.setattr(wire_exit, "EXIT_TIMEOUT", 0.1)
    monkeypatch.setattr(wire_exit, "TERMINATE_TIMEOUT", 0.1)


async def outcomes(*jobs: Callable[[], Awaitable[object]]) -> list[Exception | None]:
    """What each of the jobs, run together, raised."""
    raised: list[Exception | None] = [None] * len(jobs)

    async def run(index: int, job: Callable[[], Awaitable[object]]) -> None:
        try:
            await job()
        except Exception as error:  # noqa: BLE001 - it is handed back
            raised[index] = error

    async with anyio.create_task_group() as group:
        for index, job in enumerate(jobs):
            group.start_soon(run, index, job)
    return raised


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    ("death", "reason"),
    [
        (die(3, b"warming up\nsegv\n"), "the server exited with code 3; its stderr ends: warming up\nsegv"),
        (die(-signal.SIGSEGV, b"segv"), "the server was ended by SIGSEGV; its stderr ends: segv"),
        (die(0), "the server exited with code 0"),
        (then(stderr(b"bye"), close_stdout(), linger()), "the server closed its output; its stderr ends: bye"),
    ],
    ids=["exit", "signal", "silent", "output closed"],
)
async def test_i1_a_death_in_the_middle_of_calls_ends_every_one_at_once_and_nothing_is_sent_again(
    death: object, reason: str
) -> None:
    answers = {"tools/call": [silence(), silence(), death], "prompts/get": silence()}
    async with lanes(answers) as all_four:

        async def last() -> None:
            await all_four.server.arrived("tools/call", 2)
            await all_four.server.arrived("prompts/get")
            await all_four.called()

        *calls, prompt = await outcomes(all_four.called, all_four.called, last, all_four.prompted)
        for error in calls:
            assert isinstance(error, toolwire.RemoteCallError)
            assert (str(error), error.may_have_run) == (f"mcp: {reason}", True)
        assert isinstance(prompt, mcp.MCPError)
        assert prompt.error.message == reason
        with pytest.raises(toolwire.RemoteCallError, match="the server") as later:
            await all_four.called()
        assert not later.value.may_have_run
        with pytest.raises(mcp.MCPError):
            await all_four.prompted()
        assert len(all_four.server.requests("tools/call")) == 3
        assert len(all_four.server.requests("prompts/get")) == 1
        assert all_four.server.starts == 1
        assert all_four.wire.end_reason == reason


async def test_i1_a_child_that_holds_the_output_of_a_dead_server_keeps_no_call_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stdio, "SILENT_AFTER_EXIT", 0.05)
    async with lanes({"tools/call": then(spawn(), die(3, b"segv"))}) as all_four:
        with pytest.raises(toolwire.RemoteCallError, match="exited with code 3; its stderr ends: segv"):
            await all_four.called()


async def test_a_child_that_serves_on_after_its_launcher_is_believed_as_long_as_nobody_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard = anyio.Event()

    async def hear(_: object) -> None:
        heard.set()

    # Twice the silence passes before the notification, with nobody waiting: idle is not dead.
    answer = then(
        good(BODIES["tools/call"]), later(1, b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n')
    )
    with RawServer({"tools/call": answer}) as server, anyio.fail_after(20):
        launcher = ["sh", "-c", 'exec 3<&0; "$@" <&3 & exit 0', "launcher", *server.argv]
        async with nothing_left(server), toolwire.connect(launcher, message_handler=hear) as connection:
            all_four = Lanes(connection, server)
            await until(lambda: all_four.wire.exit_code is not None)
            monkeypatch.setattr(stdio, "SILENT_AFTER_EXIT", 0.4)
            assert await all_four.called() == "ok"
            await heard.wait()
            assert all_four.wire.end_reason is None


@pytest.mark.usefixtures("hurried")
async def test_a_server_that_closes_its_input_ends_what_waits_and_what_comes_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stdio, "SILENT_AFTER_EXIT", 0.05)
    async with lanes({"tools/call": then(close_stdin(), good(BODIES["tools/call"]), linger())}) as all_four:
        assert await all_four.called() == "ok"
        first, second = await outcomes(all_four.called, all_four.called)
        assert str(first) == str(second) == "mcp: the server closed its input"
        with pytest.raises(mcp.MCPError):
            await all_four.prompted()


@pytest.mark.usefixtures("hurried")
async def test_what_never_left_for_a_server_that_closed_its_input_has_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "SILENT_AFTER_EXIT", 0.05)
    async with lanes({"tools/call": then(close_stdin(), good(BODIES["tools/call"]), linger())}) as all_four:
        assert await all_four.called() == "ok"
        errors = await outcomes(*[all_four.called] * 20)
        assert [str(error) for error in errors] == ["mcp: the server closed its input"] * 20
        may_have_run = [isinstance(error, toolwire.RemoteCallError) and error.may_have_run for error in errors]
        # The first was given to the pipe, and nobody can tell how much of it the server had taken.
        assert sum(may_have_run) == 1


@pytest.mark.usefixtures("hurried")
async def test_a_notification_to_a_server_that_closed_its_input_waits_no_longer_than_a_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stdio, "SILENT_AFTER_EXIT", 0.05)
    async with lanes({"tools/call": then(close_stdin(), good(BODIES["tools/call"]), linger())}) as all_four:
        assert await all_four.called() == "ok"
        with anyio.fail_after(10), suppress(mcp.MCPError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            for _ in range(3):
                await all_four.connection.session.send_notification(mcp_types.RootsListChangedNotification())
        assert all_four.wire.end_reason == "the server closed its input"


@pytest.mark.usefixtures("hurried")
async def test_a_closed_input_leaves_no_watch_behind_on_a_descriptor_that_another_server_gets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A blocked write that ends in EPIPE once left its writer in asyncio's selector."""
    monkeypatch.setattr(stdio, "SILENT_AFTER_EXIT", 0.05)
    async with lanes({"prompts/get": then(sleep(0.1), close_stdin(), linger())}) as all_four:
        large = b'{"x":"' + b"x" * (1 << 20) + b'"}'

        async def call() -> None:
            await all_four.server.arrived("prompts/get")
            await all_four.called(large)

        errors = await outcomes(call, call, all_four.prompted)
        assert [str(error).removeprefix("mcp: ") for error in errors] == ["the server closed its input"] * 3
        async with lanes(OK) as others:
            assert await others.called(large) == "ok"


STUBBORN = then(ignore_sigterm(), spawn())


def test_i4_the_bounds_of_a_close_are_under_five_seconds_together() -> None:
    steps = (limits.FLUSH_TIMEOUT, limits.EXIT_TIMEOUT, limits.TERMINATE_TIMEOUT, limits.KILL_TIMEOUT)
    assert sum(steps) + 2 * limits.ORPHAN_GRACE < 5


@pytest.mark.usefixtures("hurried")
async def test_i4_a_server_that_ignores_eof_and_sigterm_is_killed_with_the_child_that_holds_its_output() -> None:
    async with lanes(OK, peer={"at_start": STUBBORN, "at_eof": linger()}) as all_four:
        assert await all_four.called() == "ok"
        assert len(all_four.server.alive()) == 2
    assert all_four.wire.exit_code == -signal.SIGKILL


@pytest.mark.usefixtures("hurried")
async def test_i1_an_exit_is_learned_of_where_the_system_gives_no_descriptor_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(_: int) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "pidfd_open", refused)
    async with lanes({"tools/call": die(3, b"segv")}) as all_four:
        with pytest.raises(toolwire.RemoteCallError, match="exited with code 3; its stderr ends: segv"):
            await all_four.called()
    async with lanes(OK, peer={"at_start": STUBBORN, "at_eof": linger()}) as all_four:
        pass
    assert all_four.wire.exit_code == -signal.SIGKILL


@pytest.mark.usefixtures("hurried")
async def test_i4_a_server_that_ignores_eof_is_terminated() -> None:
    async with lanes(OK, peer={"at_eof": linger()}) as all_four:
        pass
    assert all_four.wire.exit_code == -signal.SIGTERM


async def test_i4_a_server_that_goes_at_the_end_of_its_input_is_not_signalled_and_heard_to_its_last_word() -> None:
    log = BytesIO()
    async with lanes(OK, peer={"at_eof": stderr(b"bye", times=10_000)}, errlog=log) as all_four:
        pass
    assert all_four.wire.exit_code == 0
    assert log.getvalue() == b"bye" * 10_000
    assert all_four.wire.stderr_tail == b"bye" * 10_000


async def test_i4_what_a_server_leaves_in_its_group_when_it_goes_is_killed_too() -> None:
    async with lanes(OK, peer={"at_start": STUBBORN}) as all_four:
        assert len(all_four.server.alive()) == 2
    assert all_four.wire.exit_code == 0


async def test_i4_a_child_in_a_group_of_its_own_that_holds_the_output_delays_no_close() -> None:
    with RawServer(OK, at_start=spawn(own_group=True)) as server, anyio.fail_after(20):
        async with toolwire.connect(server.argv) as connection:
            assert await Lanes(connection, server).called() == "ok"
        assert server.alive() == [launch.pid for launch in server.launches if launch.kind == "child"]


async def test_i4_a_group_that_was_empty_when_its_leader_went_is_never_signalled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its number may belong to a stranger by then."""
    signalled: list[int] = []
    killpg = os.killpg

    def noted(group: int, number: int) -> None:
        killpg(group, number)
        signalled.append(number)

    monkeypatch.setattr(os, "killpg", noted)
    async with lanes({"tools/call": die(3)}) as all_four:
        await outcomes(all_four.called)
    assert signalled == []


async def test_i4_calls_in_flight_end_when_the_connection_is_closed_twice_from_another_task() -> None:
    async with lanes({"tools/call": silence(), "prompts/get": silence()}, in_flight=1) as all_four:
        connection = all_four.connection

        async def behind() -> None:
            await all_four.server.arrived("tools/call")
            await all_four.called()

        async def close() -> None:
            await all_four.server.arrived("prompts/get")
            await until(lambda: all_four.wire.express._queue)
            async with anyio.create_task_group() as group:
                group.start_soon(connection.aclose)
                group.start_soon(connection.aclose)

        written, prompt, queued, _ = await outcomes(all_four.called, all_four.prompted, behind, close)
        assert str(written) == str(queued) == "mcp: the connection was closed"
        assert isinstance(written, toolwire.RemoteCallError)
        assert isinstance(queued, toolwire.RemoteCallError)
        assert (written.may_have_run, queued.may_have_run) == (True, False)
        assert isinstance(prompt, mcp.MCPError)
        await connection.aclose()
        with pytest.raises(toolwire.RemoteCallError, match="the connection was closed") as later:
            await all_four.called()
        assert not later.value.may_have_run
        assert len(all_four.server.requests("tools/call")) == 1


@pytest.mark.usefixtures("hurried")
async def test_i4_a_cancelled_body_still_ends_a_stubborn_server() -> None:
    with RawServer(OK, at_start=STUBBORN, at_eof=linger()) as server, anyio.fail_after(20):
        async with nothing_left(server):
            with anyio.CancelScope() as scope:
                async with toolwire.connect(server.argv) as connection:
                    scope.cancel()
                    await Lanes(connection, server).called()
        assert scope.cancelled_caught


@pytest.mark.usefixtures("hurried")
async def test_i4_a_close_that_is_itself_cancelled_goes_on_to_its_end() -> None:
    async with lanes(OK, peer={"at_start": STUBBORN, "at_eof": linger()}) as all_four:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await all_four.connection.aclose()
        assert all_four.server.alive() == []


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_i4_a_task_that_is_cancelled_by_asyncio_itself_while_it_closes_leaves_no_server() -> None:
    """`task.cancel()` knows no shield: the close goes on without the task."""
    with RawServer(OK, at_start=STUBBORN, at_eof=linger()) as server, anyio.fail_after(20):
        async with nothing_left(server):
            connecting = toolwire.connect(server.argv)
            connection = await connecting.__aenter__()
            closing = asyncio.create_task(connection.aclose())
            while len(server.received_bytes) == 0 or not closing.cancelling():
                await asyncio.sleep(0)
                closing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await closing
            await connecting.__aexit__(None, None, None)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_i4_a_program_that_ends_without_closing_leaves_no_server(backend: str) -> None:
    with RawServer(OK, at_start=ignore_sigterm(), at_eof=linger()) as server:

        async def main() -> None:
            await toolwire.connect(server.argv).__aenter__()
            assert len(server.alive()) == 1

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(wire_exit, "EXIT_TIMEOUT", 0.05)
            patch.setattr(wire_exit, "TERMINATE_TIMEOUT", 0.05)
            anyio.run(main, backend=backend)
        assert server.alive() == []


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_i4_a_close_whose_own_task_is_cancelled_kills_at_once() -> None:
    """That is how `asyncio.run` ends what is left; nobody comes after it."""
    with RawServer(OK, at_start=STUBBORN, at_eof=linger()) as server, anyio.fail_after(20):
        async with nothing_left(server):
            wire = ClientWire(server.argv)
            others = asyncio.all_tasks()
            await wire.__aenter__()
            await until(lambda: len(server.launches) == 2)
            leaving = asyncio.create_task(wire.__aexit__(None, None, None))
            await asyncio.sleep(0)
            for task in asyncio.all_tasks() - others - {leaving}:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await leaving


class Unwritable:
    """A log whose every write fails, in a way that no stream does."""

    def write(self, _: object) -> None:
        raise RuntimeError("no")

    def flush(self) -> None: ...


@pytest.mark.parametrize("log_of", [BytesIO, StringIO, lambda: TextIOWrapper(BytesIO(), "utf-8"), Unwritable])
async def test_stderr_is_drained_kept_and_passed_on_whatever_the_log_is(log_of: Callable[[], object]) -> None:
    log = log_of()
    chatty = then(stderr(b"0123456789\n", times=20_000), good(BODIES["tools/call"]))
    async with lanes({"tools/call": chatty}, errlog=log) as all_four:
        assert await all_four.called() == "ok"
    tail = all_four.wire.stderr_tail
    assert len(tail) == limits.STDERR_TAIL
    assert tail.endswith(b"0123456789\n" * 5)
    whole = 20_000 * 11
    if isinstance(log, StringIO):
        assert len(log.getvalue()) == whole
    elif isinstance(log, BytesIO | TextIOWrapper):
        assert len((log if isinstance(log, BytesIO) else log.buffer).getvalue()) == whole


async def test_a_wire_that_was_closed_is_not_entered_again() -> None:
    with RawServer() as server:
        wire = ClientWire(server.argv, limits=Limits(call_timeout=1))
        async with nothing_left(server), wire:
            assert len(server.argv) > 1
        with pytest.raises(RuntimeError, match="a wire is entered once"):
            await wire.__aenter__()
        assert server.starts <= 1


async def test_a_callback_that_raises_costs_one_message_and_not_the_wire(caplog: pytest.LogCaptureFixture) -> None:
    def angry() -> None:
        raise LookupError("angry")

    note = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'
    async with lanes({**OK, "tools/call": then(note * 3, good(BODIES["tools/call"]))}) as all_four:
        all_four.wire.listen("notifications/tools/list_changed", angry)
        assert await all_four.called() == "ok"
        assert await all_four.prompted() == "ok"
    assert caplog.text.count("could not be passed on") == 3
