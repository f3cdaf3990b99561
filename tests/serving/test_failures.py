"""Whatever happens in a handler is one answer that a model can read, on either lane, and the server lives."""

import asyncio
import contextvars
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from mcp.server.lowlevel import Server

import toolwire
from tests.serving.raw_client import ERAS, HANDSHAKE, call_line, request_line, served, text_of
from toolwire import Tool, ToolError, ToolFailure


class Broken(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


class Empty(Exception):
    pass


class PanicException(BaseException):
    """What a panic of a Rust extension arrives as: it derives from BaseException too."""


class BrokenPanic(BaseException):
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


class BrokenToolError(ToolError):
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


def _from_stop_iteration() -> RuntimeError:
    error = RuntimeError("no such row")
    error.__cause__ = StopIteration()
    return error


FAILURES: list[tuple[BaseException, str]] = [
    (RuntimeError("warehouse unreachable"), "warehouse unreachable"),
    (ToolError("NOT_FOUND", "no such order", ValueError("hidden")), "NOT_FOUND: no such order"),
    (ToolError("NOT_FOUND"), "NOT_FOUND"),
    (ToolFailure("said by the tool"), "said by the tool"),
    (KeyError("k"), "'k'"),
    (Empty(), "Empty"),
    (Broken(), "Broken"),
    (BrokenToolError("CODE"), "BrokenToolError"),
    (ValueError("cut \ud83d"), "cut ?"),
    (StopIteration(), "StopIteration"),
    (StopIteration("no more rows"), "no more rows"),
    (_from_stop_iteration(), "no such row"),
    (ExceptionGroup("unhandled errors", [ToolError("GONE", "away")]), "GONE: away"),
    (ExceptionGroup("unhandled errors", [ValueError("a"), ExceptionGroup("x", [Empty()])]), "a; Empty"),
    (SystemExit("bang"), 'tool "fail" panicked: bang'),
    (SystemExit(), 'tool "fail" panicked: SystemExit'),
    (PanicException("called `Option::unwrap()` on a `None` value"),
     'tool "fail" panicked: called `Option::unwrap()` on a `None` value'),
    (BrokenPanic(), 'tool "fail" panicked: BrokenPanic'),
    (BaseExceptionGroup("x", [SystemExit("bang")]), 'tool "fail" panicked: bang'),
    (GeneratorExit("bang"), 'tool "fail" panicked: bang'),
]  # fmt: skip


def fails(error: BaseException, *, sync: bool = False) -> Tool:
    async def fail() -> str:
        raise error

    def fail_in_thread() -> str:
        raise error

    return toolwire.tool(fail_in_thread if sync else fail, name="fail")


@pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])
@pytest.mark.parametrize(("error", "text"), FAILURES, ids=[type(error).__name__ for error, _ in FAILURES])
async def test_e7_e8_e9_every_failure_is_a_text_and_the_next_call_works(
    error: BaseException, text: str, express: bool
) -> None:
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, fails(error), Tool.raw("ok", "", None, lambda _: "ok"))
    for era in ERAS:
        async with served(server, express=express) as client:
            await client.open(era)
            result = await client.call(era, "fail")
            assert (text_of(result), result["isError"]) == (text, True)
            assert "structuredContent" not in result
            assert text_of(await client.call(era, "ok")) == "ok"


THREADED = (RuntimeError, StopIteration, SystemExit, GeneratorExit, PanicException)


@pytest.mark.parametrize("error", [kind("in a thread") for kind in THREADED])
async def test_a_sync_handler_fails_like_any_other(error: BaseException) -> None:
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, fails(error, sync=True))
    async with served(server) as client:
        await client.open(HANDSHAKE)
        text = text_of(await client.call(HANDSHAKE, "fail"))
    assert text == "in a thread" if isinstance(error, Exception) else 'tool "fail" panicked: in a thread'


async def test_the_cause_is_for_the_log_and_never_for_the_client(caplog: pytest.LogCaptureFixture) -> None:
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, fails(ToolError("NOT_FOUND", "no such order", ValueError("hidden"))))
    async with served(server) as client:
        await client.open(HANDSHAKE)
        await client.call(HANDSHAKE, "fail")
        assert b"hidden" not in client.lines[-1]
    with caplog.at_level(logging.DEBUG, "toolwire.bridge"):
        server = Server("s")
        toolwire.add_tools(server, fails(RuntimeError("told")))
        async with served(server) as client:
            await client.open(HANDSHAKE)
            await client.call(HANDSHAKE, "fail")
    told = [record.getMessage() for record in caplog.records if record.name == "toolwire.bridge"]
    assert told == ["tool 'fail' failed"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])
async def test_a_cancellation_that_nobody_asked_for_is_an_answer(express: bool) -> None:
    """A handler that awaits a task which somebody else cancelled raises CancelledError by itself."""

    @toolwire.tool
    async def stray() -> str:
        task = asyncio.get_running_loop().create_task(asyncio.Event().wait())
        task.cancel()
        return str(await task)

    server: Server[Any] = Server("s")
    toolwire.add_tools(server, stray)
    async with served(server, express=express) as client:
        await client.open(HANDSHAKE)
        assert text_of(await client.call(HANDSHAKE, "stray")) == 'tool "stray" panicked: CancelledError'


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("era", ERAS)
async def test_a_handler_that_cancels_its_own_task_ends_its_own_call_and_no_other(era: str) -> None:
    """On the SDK lane it ends the whole session: that is the SDK's."""

    @toolwire.tool
    async def itself(wait: bool) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        if wait:
            await asyncio.Event().wait()
        return "said"

    @toolwire.tool
    async def other() -> str:
        await anyio.lowlevel.checkpoint()
        return "done"

    server: Server[Any] = Server("s")
    toolwire.add_tools(server, itself, other)
    async with served(server) as client:
        await client.open(era)
        for wait, outcome in (
            (b"true", b"the call was cancelled, and not by its client"),
            (b"false", b'"text":"said"'),
        ):
            calls = [
                call_line(era, "itself", b'{"wait":%s}' % wait, 1),
                *(call_line(era, "other", b"{}", i) for i in (2, 3)),
            ]
            answers = sorted(await client.say(*calls), key=lambda line: str(json.loads(line)["id"]))
            assert outcome in answers[0]
            assert [b'"text":"done"' in line for line in answers[1:]] == [True, True]


CANCELLED = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}'


@pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])
@pytest.mark.parametrize(("sent", "named"), [(b"7", b"7"), (b"7", b'"7"'), (b'"7"', b"7"), (b'"x"', b'"x"')])
async def test_e21_a_cancelled_call_ends_its_handler_and_is_never_answered(
    sent: bytes, named: bytes, express: bool
) -> None:
    """Whatever the handler does after it: it is level with the SDK, which answers nothing either."""
    ended: list[str] = []
    running = anyio.Event()

    @toolwire.tool
    async def wait() -> str:
        running.set()
        try:
            await anyio.Event().wait()
        except BaseException:
            ended.append("cancelled")
            if named == b'"x"':
                return "swallowed"
            raise
        return "never"

    server: Server[Any] = Server("s")
    toolwire.add_tools(server, wait)
    async with served(server, express=express) as client:
        await client.open(HANDSHAKE)
        client.write(call_line(HANDSHAKE, "wait", identifier=77777).replace(b"77777", sent))
        with anyio.fail_after(10):
            await running.wait()
        assert await client.say(CANCELLED % named) == []
        assert ended == ["cancelled"]
        assert (await client.ask(request_line(HANDSHAKE, "ping")))["result"] == {}


@pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])
async def test_a_handler_that_shields_itself_is_cancelled_only_behind_its_shield(express: bool) -> None:
    """What must not be cut in two is not, on either lane.

    A contract test of `_sdk.shielded`: without it asyncio's own cancellation goes through the shield.
    """
    running, release = anyio.Event(), anyio.Event()
    done: list[str] = []

    @toolwire.tool
    async def commit() -> str:
        with anyio.CancelScope(shield=True), anyio.CancelScope():
            running.set()
            await release.wait()
            done.append("committed")
        await anyio.lowlevel.checkpoint()
        await anyio.Event().wait()
        return "never"

    server: Server[Any] = Server("s")
    toolwire.add_tools(server, commit)
    async with served(server, express=express) as client:
        await client.open(HANDSHAKE)
        client.write(call_line(HANDSHAKE, "commit", identifier=1))
        with anyio.fail_after(10):
            await running.wait()
        client.write(CANCELLED % b"1")
        for _ in range(30):
            await anyio.lowlevel.checkpoint()
        release.set()
        assert await client.say() == []
        assert done == ["committed"]
        assert client.wire.counters["express_calls"] == express


@pytest.mark.parametrize("odd", [b"true", b"7.0", b"null", b"[7]", b"{}", b'"nobody"'])
async def test_an_odd_cancellation_cancels_nothing(odd: bytes) -> None:
    """For Python `True` is 1: it must not be for a request id."""
    release, running = anyio.Event(), anyio.Event()

    @toolwire.tool
    async def wait() -> str:
        running.set()
        await release.wait()
        return "done"

    server: Server[Any] = Server("s")
    toolwire.add_tools(server, wait)
    async with served(server) as client:
        await client.open(HANDSHAKE)
        client.write(call_line(HANDSHAKE, "wait", identifier=1), CANCELLED % odd, CANCELLED % b"")
        with anyio.fail_after(10):
            await running.wait()
        for _ in range(30):
            await anyio.lowlevel.checkpoint()
        release.set()
        await client.settle()
        assert b'"text":"done"' in client.lines[-1]


async def test_a_sync_handler_runs_in_a_worker_thread_and_sees_the_context() -> None:
    seen: list[Any] = []
    mark: contextvars.ContextVar[str] = contextvars.ContextVar("mark")

    @toolwire.tool
    def sync() -> str:
        request = toolwire.current_request()
        seen.append(
            (threading.current_thread() is threading.main_thread(), mark.get("unset"), request and request.request_id)
        )
        return "ok"

    server: Server[Any] = Server("s")
    toolwire.add_tools(server, sync)
    mark.set("set before the server ran")
    async with served(server) as client:
        await client.open(HANDSHAKE)
        mark.set("set by the client")
        assert text_of(await client.call(HANDSHAKE, "sync", identifier=41)) == "ok"
        assert client.wire.counters["express_calls"] == 1
    assert seen == [(False, "set before the server ran", 41)]


async def test_a_sync_handler_may_hand_back_an_awaitable() -> None:
    async def later() -> str:
        await anyio.lowlevel.checkpoint()
        return "awaited"

    def sync() -> Awaitable[str]:
        return later()

    assert await toolwire.tool(sync).invoke() == "awaited"


async def test_an_abandoned_worker_thread_keeps_nobody_waiting() -> None:
    release, running = threading.Event(), threading.Event()

    @toolwire.tool
    def stuck() -> str:
        running.set()
        release.wait(10)
        return "late"

    server: Server[Any] = Server("s")
    toolwire.add_tools(server, stuck)
    async with served(server) as client:
        await client.open(HANDSHAKE)
        client.write(call_line(HANDSHAKE, "stuck", identifier=1))
        with anyio.fail_after(10):
            await anyio.to_thread.run_sync(running.wait)
        assert await client.say(CANCELLED % b"1") == []
        release.set()


KEYBOARD = """
import anyio, toolwire
from mcp.server.lowlevel import Server
from tests.serving.raw_client import HANDSHAKE, call_line, served

@toolwire.tool
async def interrupted() -> str:
    raise KeyboardInterrupt

async def main():
    server = Server("s")
    toolwire.add_tools(server, interrupted)
    async with served(server, express=EXPRESS) as client:
        await client.open(HANDSHAKE)
        await client.say(call_line(HANDSHAKE, "interrupted"))
        print("went on")

try:
    anyio.run(main, backend="BACKEND")
except BaseException as error:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    print(type(error).__name__)
"""


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("express", ["True", "False"])
def test_a_keyboard_interrupt_always_goes_on(backend: str, express: str) -> None:
    script = KEYBOARD.replace("BACKEND", backend).replace("EXPRESS", express)
    root = Path(__file__).resolve().parents[2]
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, timeout=60, check=False, text=True
    )
    assert ran.stdout.strip() == "KeyboardInterrupt", ran.stderr


async def test_a_direct_call_lets_what_is_no_ordinary_exception_through() -> None:
    """Only serving contains a panic: whoever calls a tool himself hears what happened."""
    for error in (SystemExit("bang"), PanicException("bang")):
        with pytest.raises(type(error)):
            await fails(error).call()
    with pytest.raises(ToolFailure) as caught:
        await fails(RuntimeError("text")).call()
    assert isinstance(caught.value.cause, RuntimeError)
    assert caught.value.__cause__ is None
