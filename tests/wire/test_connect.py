"""What a person reads when no session comes about: whose fault it is, what to do, and what the server printed."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp
import pytest
from mcp.client.stdio import StdioServerParameters

import toolwire
from tests.wire.lanes import BODIES, ERAS, OK, Lanes, good, lanes, nothing_left, opening, until
from toolwire.bridge.owner import Overdue, Owner
from toolwire.testing import RawServer, die, ignore_sigterm, raw, silence, sleep, spawn, then
from toolwire.wire import exit as wire_exit
from toolwire.wire.client import ClientWire
from toolwire.wire.limits import Limits

pytestmark = pytest.mark.anyio


async def refusal(target: Any, **options: Any) -> toolwire.ConnectError:
    with anyio.fail_after(10), pytest.raises(toolwire.ConnectError) as caught:
        async with toolwire.connect(target, **options):
            raise AssertionError("it connected")
    return caught.value


async def test_an_unknown_command_is_named_with_what_to_check() -> None:
    error = await refusal(["no-such-command-anywhere", "-x"])
    assert str(error) == (
        "the command 'no-such-command-anywhere' was not found: check its spelling and the PATH, or install it"
    )
    assert (error.exit_code, error.stderr, error.noise) == (None, b"", ())
    assert isinstance(error.__cause__, FileNotFoundError)


async def test_a_file_that_is_no_program_is_named_with_what_to_check(tmp_path: Path) -> None:
    plain = tmp_path / "server"
    plain.write_text("echo hello\n")
    error = await refusal([str(plain)])
    assert str(error) == f"the command {str(plain)!r} may not be run: check that it is an executable file"


async def test_a_script_whose_interpreter_is_missing_says_so(tmp_path: Path) -> None:
    script = tmp_path / "server"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    error = await refusal([str(script)])
    assert "the interpreter that its first line names was not found" in str(error)


@pytest.mark.parametrize(
    "target", ["npx -y a-server", "", "ftp://x/mcp", Path("/bin/true"), None, 5, b"true", RawServer]
)
async def test_what_is_neither_a_command_nor_a_server_says_what_is(target: Any) -> None:
    for options in ({}, {"env": {"A": "b"}}):
        error = await refusal(target, **options)
        assert str(error) == (
            f"the target {target!r} is no server: a command is a list of strings, as in ['npx', '-y', 'a-server'], "
            "and a URL begins with http:// or https://"
        )


async def test_a_missing_directory_is_told_from_a_missing_command(tmp_path: Path) -> None:
    missing, file = tmp_path / "missing", tmp_path / "file"
    file.touch()
    for directory in (missing, file):
        error = await refusal([sys.executable], cwd=directory)
        assert str(error) == (
            f"the directory {str(directory)!r} does not exist or is no directory: pass cwd= a directory"
        )


async def test_a_directory_without_permission_says_so(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may enter every directory")
    os.chmod(tmp_path, 0)  # noqa: PTH101 - a test's own folder, at once
    try:
        error = await refusal([sys.executable], cwd=tmp_path)
        assert "may not be entered: check its permissions" in str(error)
        error = await refusal([sys.executable], cwd=tmp_path / "below")
        assert "does not exist or is no directory" in str(error)
    finally:
        os.chmod(tmp_path, 0o700)  # noqa: PTH101 - as above


async def test_a_command_that_is_none_is_refused_before_anything_starts() -> None:
    for target in ([], [b"x"], ["x", 5]):
        assert "must be a list of strings" in str(await refusal(target))
    assert "embedded null byte" in str(await refusal(["x\0y"]))


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_that_exits_at_once_is_quoted_with_its_code_and_its_stderr(era: str) -> None:
    with RawServer(at_start=die(3, b"no API key\n"), era=era) as server:
        async with nothing_left(server):
            error = await refusal(server.argv)
    assert str(error) == (
        f"the server {sys.executable!r} gave up during the handshake: the server exited with code 3; "
        "its stderr ends: no API key"
    )
    assert (error.exit_code, error.stderr, error.noise) == (3, b"no API key\n", ())


async def test_a_server_that_exits_without_a_word_is_met_with_advice() -> None:
    error = await refusal(["true"])
    assert "the server exited with code 0; run the command by hand to see why" in str(error)
    assert error.exit_code == 0


async def test_noise_before_an_exit_is_quoted() -> None:
    with RawServer(prelude=b"usage: server FILE\n\nbye\n", at_start=die(2)) as server:
        error = await refusal(server.argv)
    assert str(error).endswith("; on stdout it printed what is no message: usage: server FILE | bye")
    assert (error.exit_code, error.noise) == (2, (b"usage: server FILE", b"bye"))


async def test_a_server_that_says_nothing_ends_at_the_connect_limit_with_advice() -> None:
    silent = {"initialize": silence(), "server/discover": silence()}
    with RawServer(silent, stderr=b"waiting for input\n") as server:
        async with nothing_left(server):
            error = await refusal(server.argv, connect_timeout=0.3)
    assert str(error) == (
        f"the server {sys.executable!r} did not complete the handshake within 0.3 s: check that it is an MCP server "
        "for this transport, or raise connect_timeout if it starts slowly; its stderr ends: waiting for input"
    )
    assert error.stderr == b"waiting for input\n"


async def test_a_program_that_echoes_is_refused_at_once_and_not_talked_to_for_ever() -> None:
    assert "the handshake with the server 'cat' failed" in str(await refusal(["cat"], connect_timeout=None))


async def test_a_server_of_another_version_is_refused_with_the_sdks_reason_and_not_with_our_close() -> None:
    answer = opening(ERAS[0], lambda line: line.replace(b"2025-11-25", b"1999-01-01"))
    with RawServer(answer) as server:
        async with nothing_left(server):
            error = await refusal(server.argv)
    assert str(error).endswith("failed: Unsupported protocol version from the server: 1999-01-01")


async def test_a_handshake_of_another_shape_is_refused_with_the_sdks_reason() -> None:
    with RawServer({"initialize": b'{"jsonrpc":"2.0","id":{id},"result":{}}\n'}) as server:
        error = await refusal(server.argv)
    assert "validation error" in str(error)
    assert "protocolVersion" in str(error)


async def test_cancelling_a_connect_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_exit, "EXIT_TIMEOUT", 0.05)
    monkeypatch.setattr(wire_exit, "TERMINATE_TIMEOUT", 0.05)
    stubborn = then(ignore_sigterm(), spawn(), sleep(60))
    with RawServer(at_start=stubborn) as server, anyio.fail_after(10):
        async with nothing_left(server), anyio.create_task_group() as group:
            group.start_soon(toolwire.connect(server.argv).__aenter__)
            await until(lambda: len(server.launches) == 2)
            group.cancel_scope.cancel()


async def test_a_connect_limit_ends_a_stubborn_server_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_exit, "EXIT_TIMEOUT", 0.05)
    monkeypatch.setattr(wire_exit, "TERMINATE_TIMEOUT", 0.05)
    with RawServer(at_start=then(ignore_sigterm(), sleep(60))) as server:
        async with nothing_left(server):
            await refusal(server.argv, connect_timeout=0.2)


@pytest.mark.parametrize("raised", [KeyError("mine"), ExceptionGroup("ours", [ValueError("a"), KeyError("b")])])
async def test_what_the_body_raises_comes_out_as_it_is(raised: Exception) -> None:
    with pytest.raises(type(raised)) as caught:
        async with lanes(OK):
            raise raised
    assert caught.value is raised
    assert caught.value.__cause__ is None


async def test_keyboard_interrupts_and_exits_of_the_body_come_out_as_they_are() -> None:
    for raised in (KeyboardInterrupt(), SystemExit(3)):
        with RawServer(OK) as server:
            with pytest.raises(type(raised)) as caught:
                async with toolwire.connect(server.argv):
                    raise raised
            assert caught.value is raised
            assert server.alive() == []


async def test_what_is_meant_for_a_command_or_a_wire_is_not_dropped_in_silence() -> None:
    wire = ClientWire(["true"])
    with pytest.raises(TypeError, match="env, cwd and errlog are for a target that is a command"):
        toolwire.connect(wire, env={"A": "b"})
    with pytest.raises(TypeError, match="in_flight and line_limit are the wire's own"):
        toolwire.connect(wire, in_flight=5)
    with pytest.raises(TypeError):
        toolwire.connect(["true"], no_such_option=1)
    with pytest.raises(ValueError, match="mode must be"):
        toolwire.connect(["true"], mode="1999")


async def test_a_wire_that_the_caller_built_is_taken_with_its_limits() -> None:
    with RawServer(OK) as server, anyio.fail_after(10):
        wire = ClientWire(server.argv, limits=Limits(call_timeout=7, in_flight=3))
        async with nothing_left(server), toolwire.connect(wire, list_timeout=5) as connection:
            assert connection.wire is wire
            assert (connection.limits.call_timeout, connection.limits.list_timeout) == (7, 5)
            assert [tool.name for tool in await toolwire.tools(connection)] == ["t"]


async def test_a_connect_is_entered_once() -> None:
    with RawServer(OK) as server:
        connecting = toolwire.connect(server.argv)
        async with connecting:
            pass
        with pytest.raises(RuntimeError, match="a connection is entered once"):
            await connecting.__aenter__()
        assert server.starts == 1


async def test_env_and_cwd_reach_the_server_over_the_variables_that_the_sdk_inherits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_OURS", "x")
    monkeypatch.setenv("HOME", "/home/ours")
    with RawServer(OK) as server, anyio.fail_after(10):
        command, *arguments = server.argv
        parameters = StdioServerParameters(command=command, args=arguments, env={"A": "1", "B": "1"}, cwd="/")
        for connecting in (
            toolwire.connect(server.argv, env={"A": "1", "B": "2"}, cwd=tmp_path),
            toolwire.connect(parameters, env={"B": "2"}, cwd=tmp_path),
            toolwire.connect(parameters),
        ):
            async with connecting:
                pass
        for launch in server.launches:
            assert "SECRET_OF_OURS" not in launch.env
            assert (launch.env["HOME"], launch.env["A"]) == ("/home/ours", "1")
        assert [(launch.env["B"], launch.cwd) for launch in server.launches] == [
            ("2", str(tmp_path)),
            ("2", str(tmp_path)),
            ("1", "/"),
        ]


# The owner


@asynccontextmanager
async def manager(
    *, entering: BaseException | None = None, leaving: BaseException | None = None, slow: bool = False
) -> AsyncIterator[str]:
    async with anyio.create_task_group():
        if slow:
            await anyio.sleep_forever()
        if entering is not None:
            raise entering
        yield "entered"
        if leaving is not None:
            raise leaving


async def test_the_owner_unwraps_what_task_groups_wrap() -> None:
    with pytest.raises(LookupError, match="mine"):
        await Owner(manager(entering=LookupError("mine"))).enter(5)


async def test_the_owner_ends_at_its_limit_and_a_timeout_of_the_managers_own_is_none_of_its() -> None:
    with anyio.fail_after(5):
        with pytest.raises(Overdue):
            await Owner(manager(slow=True)).enter(0.01)
        with pytest.raises(TimeoutError, match="theirs"):
            await Owner(manager(entering=TimeoutError("theirs"))).enter(None)


async def test_what_a_manager_raises_on_the_way_out_is_kept_from_its_user() -> None:
    owner = Owner(manager(leaving=OSError("broken pipe")))
    assert await owner.enter(None) == "entered"
    await owner.leave()
    await owner.leave()


@pytest.mark.parametrize("anyio_backend", ["trio"])
@pytest.mark.parametrize("fatal", [KeyboardInterrupt(), SystemExit(3)])
async def test_what_has_to_go_on_goes_on_through_leave_and_never_crashes_trio(fatal: BaseException) -> None:
    """An exception out of a system task would end the program with a TrioInternalError."""
    owner = Owner(manager(leaving=fatal))
    await owner.enter(None)
    with pytest.raises(type(fatal)) as caught:
        await owner.leave()
    assert caught.value is fatal


@pytest.mark.parametrize("limit", [{"call_timeout": 0}, {"list_timeout": -1}, {"idle_timeout": float("nan")}])
async def test_a_limit_that_nothing_could_keep_is_refused(limit: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"must be above 0, got .*; None lifts it"):
        toolwire.connect(["true"], **limit)  # type: ignore[arg-type]  # the keyword is the test's parameter
    with pytest.raises(ValueError, match="in_flight must be at least 1"):
        toolwire.connect(["true"], in_flight=0)


async def test_a_wire_and_a_client_on_it_raise_the_connect_error_bare() -> None:
    """On trio a task group stands around the start of a wire, and would wrap the error."""
    with pytest.raises(toolwire.ConnectError, match="was not found"):
        await ClientWire(["no-such-command-anywhere"]).__aenter__()
    with pytest.raises(toolwire.ConnectError, match="was not found"):
        await mcp.Client(ClientWire(["no-such-command-anywhere"])).__aenter__()


async def test_a_connection_may_be_closed_by_one_of_its_own_callbacks() -> None:
    """The SDK's client waits for its callbacks when it ends, so that one may not wait for it."""
    held: list[toolwire.Connection] = []
    closed = anyio.Event()

    async def close(_: object) -> None:
        await held[0].aclose()
        closed.set()

    note = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'
    async with lanes({"tools/call": then(note, good(BODIES["tools/call"]))}, message_handler=close) as all_four:
        held.append(all_four.connection)
        assert await all_four.called() == "ok"
        await closed.wait()
        await until(lambda: all_four.wire.end_reason)
        with pytest.raises(toolwire.RemoteCallError, match="the connection was closed"):
            await all_four.called()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_asyncios_own_timeouts_end_a_body_and_leave_no_server() -> None:
    with RawServer({"tools/call": silence()}) as server, anyio.fail_after(10):
        async with nothing_left(server):
            limit = asyncio.timeout(None)

            async def expire() -> None:
                await server.arrived("tools/call")
                limit.reschedule(0)

            async def body() -> None:
                async with limit, toolwire.connect(server.argv) as connection:
                    await Lanes(connection, server).called()

            expiring = asyncio.create_task(expire())
            with pytest.raises(TimeoutError):
                await body()
            await expiring
        assert len(server.requests("notifications/cancelled")) == 1


async def test_two_wires_of_one_program_do_not_hear_of_each_other() -> None:
    async with lanes(OK) as one, lanes({"tools/call": die(3)}) as other:
        with pytest.raises(toolwire.RemoteCallError, match="exited with code 3"):
            await other.called()
        assert await one.called() == "ok"


async def test_a_burst_of_noise_before_the_handshake_costs_nothing() -> None:
    async with lanes(OK, peer={"at_start": raw(b"booting...\n", times=50_000)}) as all_four:
        assert await all_four.called() == "ok"
        assert all_four.counters == {"noise_lines": 50_000}


async def test_a_client_and_a_session_of_the_sdk_may_end_before_the_wire() -> None:
    with RawServer(OK) as server, anyio.fail_after(10):
        wire = ClientWire(server.argv)
        async with nothing_left(server), wire as streams:
            async with mcp.ClientSession(*streams) as session:
                await session.initialize()
                assert [tool.name for tool in await toolwire.tools(session)] == ["t"]
            late = [tool.name for tool in await toolwire.tools(wire)]
        assert late == ["t"]
