"""Any task, any loop, no loop: faults I7, I8 and I9, from both sides, with a clear error where a call cannot work."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import Context
from typing import Any, Self, TypeVar

import anyio
import anyio.to_thread
import pytest

import toolwire
from tests.agent_mcp.support import PATIENCE, entry, results, serving, text
from toolwire import Agent, Connection, RemoteCallError, Tool
from toolwire.testing import Call, RawServer, Say, Script, ToolCalls, silence

Given = TypeVar("Given")

ENDED = "the event loop that the connection was opened in does not run any more: open the connection in this one"


def server(**calls: Any) -> RawServer:
    return serving([entry("t"), entry("hang")], {"t": text("answered"), "hang": silence(), **calls})


async def opened(raw: RawServer, name: str = "t") -> tuple[toolwire.connect, Connection, Tool]:
    manager = toolwire.connect(raw.argv, mode="legacy")
    connection = await manager.__aenter__()
    return manager, connection, (await toolwire.tools(connection))[name]


def in_thread(work: Callable[[], Given]) -> Given:
    """What `work` gives in a thread of its own; a thread that hangs fails the test and not the suite."""
    outcome: Future[Given] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised below, where the test is
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return outcome.result(PATIENCE)


class Beside:
    """An asyncio loop that runs in a thread of its own, as an application's does."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def do(self, job: Coroutine[Any, Any, Given]) -> Given:
        # In a context of its own: trio's says which library runs.
        return Context().run(asyncio.run_coroutine_threadsafe, job, self.loop).result(PATIENCE)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def __exit__(self, *_: object) -> None:
        if self._thread.is_alive():
            self.stop()
        self.loop.close()


# Any task of its loop


async def test_i7_opened_in_one_task_called_from_a_second_closed_in_a_third() -> None:
    found: list[Any] = []

    async def do(job: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        found.append(await job())

    with server() as raw, anyio.fail_after(PATIENCE):
        model = Script(ToolCalls(Call("t"), Call("t", id="2")), Say("x"))

        async def call() -> object:
            return await found[0][2].invoke()

        async def use() -> object:
            return await Agent(model, tools=[found[0][2]]).generate("go")

        async def leave() -> object:
            return await found[0][0].__aexit__(None, None, None)

        jobs: list[Callable[[], Coroutine[Any, Any, Any]]] = [lambda: opened(raw), call, use, leave]
        for job in jobs:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(do, job)
        assert found[1] == "answered"
        assert results(found[2]) == [("answered", False)] * 2
        assert found[0][1].closed
        assert raw.alive() == []
        with pytest.raises(RemoteCallError, match=r"^mcp: .*closed"):
            await found[0][2].invoke()


async def test_a_cancelled_task_that_opened_it_leaves_it_to_the_others() -> None:
    opened_it: list[Any] = []
    ready = anyio.Event()

    async def owner(raw: RawServer) -> None:
        opened_it.extend(await opened(raw))
        ready.set()
        await anyio.sleep_forever()

    with server() as raw, anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(owner, raw)
            await ready.wait()
            tasks.cancel_scope.cancel()
        assert await opened_it[2].invoke() == "answered"
        await opened_it[1].aclose()


# Worker threads, and threads without a loop


async def test_i9_a_worker_thread_calls_synchronously() -> None:
    """Also from a sync handler of another tool, which runs in such a thread: on asyncio and on trio."""
    with server() as raw, anyio.fail_after(PATIENCE):
        _, connection, remote = await opened(raw)
        assert await anyio.to_thread.run_sync(remote.invoke_sync, b"{}") == "answered"

        @toolwire.tool
        def through(q: str = "") -> str:
            return f"{q}{remote.invoke_sync()}"

        outcome = await Agent(Script(ToolCalls(Call("through")), Say("x")), tools=[through]).generate("go")
        assert results(outcome) == [("answered", False)]
        await connection.aclose()


async def test_i9_a_synchronous_call_inside_the_loop_itself_is_an_error_and_no_deadlock() -> None:
    with server() as raw, anyio.fail_after(PATIENCE):
        _, connection, remote = await opened(raw)
        with pytest.raises(RuntimeError, match=r"inside the event loop|Already running|already running"):
            remote.invoke_sync()
        assert await remote.invoke() == "answered"
        await connection.aclose()


async def test_generate_sync_inside_the_loop_of_a_tool_tells_the_model_and_does_not_hang() -> None:
    """The loop waits for the run: a call that went there would wait for itself."""
    with server() as raw, anyio.fail_after(PATIENCE):
        _, connection, remote = await opened(raw)
        agent = Agent(Script(ToolCalls(Call("t")), Say("x")), tools=[remote])
        [(said, is_error)] = results(agent.generate_sync("go"))
        assert said == (
            "mcp: the event loop that the connection lives in waits for this very call: "
            "await it instead of making it synchronously"
        )
        assert is_error
        await connection.aclose()


async def test_generate_sync_in_a_worker_thread_calls_into_the_loop_of_a_tool() -> None:
    with server() as raw, anyio.fail_after(PATIENCE):
        _, connection, remote = await opened(raw)
        agent = Agent(Script(ToolCalls(Call("t"), Call("t", id="2")), Say("x")), tools=[remote])
        outcome = await anyio.to_thread.run_sync(agent.generate_sync, "go")
        assert results(outcome) == [("answered", False)] * 2
        await connection.aclose()


def test_a_script_without_a_loop_calls_into_a_loop_in_a_thread() -> None:
    with server() as raw, Beside() as home:
        _, connection, remote = home.do(opened(raw))
        assert remote.invoke_sync('{"q":1.50}') == "answered"
        assert b'"arguments":{"q":1.50}' in raw.requests("tools/call")[0]
        home.do(connection.aclose())


def test_a_failure_comes_back_from_the_other_loop_as_it_is() -> None:
    with server(t=text("no", is_error=True)) as raw, Beside() as home:
        _, connection, remote = home.do(opened(raw))
        with pytest.raises(toolwire.ToolFailure, match=r"^no$") as caught:
            remote.invoke_sync()
        assert caught.value.remote
        home.do(connection.aclose())


# Another loop


async def test_i8_a_task_of_another_loop_calls_into_the_home_of_the_connection() -> None:
    """The other loop is asyncio's or trio's; the connection's is asyncio's."""
    with server() as raw, Beside() as home, anyio.fail_after(PATIENCE):
        _, connection, remote = home.do(opened(raw))
        answers: list[str] = []

        async def ask() -> None:
            answers.append(await remote.invoke())

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(ask)
        assert answers == ["answered"] * 8
        home.do(connection.aclose())


async def test_another_loop_lists_tools_and_closes_the_connection() -> None:
    with server() as raw, Beside() as home, anyio.fail_after(PATIENCE):
        _, connection, _ = home.do(opened(raw))
        tools = await toolwire.tools(connection, prefix="far_")
        assert tools.names == ("far_t", "far_hang")
        assert await tools["far_t"].invoke() == "answered"
        with pytest.raises(RuntimeError, match="enter it there"):
            await toolwire.live_tools(connection).__aenter__()
        await connection.aclose()
        assert connection.closed
        assert raw.alive() == []


def test_i8_a_connection_on_trio_is_called_from_a_loop_of_asyncio() -> None:
    async def on_trio() -> list[str]:
        with server() as raw, anyio.fail_after(PATIENCE):
            _, connection, remote = await opened(raw)
            said = await anyio.to_thread.run_sync(lambda: asyncio.run(remote.invoke()))
            sync = await anyio.to_thread.run_sync(remote.invoke_sync)
            await connection.aclose()
            return [said, sync]

    assert anyio.run(on_trio, backend="trio") == ["answered"] * 2


async def test_a_caller_of_another_loop_that_gives_up_cancels_its_call() -> None:
    with server() as raw, Beside() as home, anyio.fail_after(PATIENCE):
        _, connection, hang = home.do(opened(raw, "hang"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hang.invoke)
            await raw.arrived("tools/call")
            tasks.cancel_scope.cancel()
        await raw.arrived("notifications/cancelled")
        home.do(connection.aclose())


# A loop that has ended


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_i8_two_runs_one_after_the_other_with_one_tool_object(backend: str) -> None:
    async def first(raw: RawServer) -> Tool:
        _, connection, remote = await opened(raw)
        assert await remote.invoke() == "answered"
        await connection.aclose()
        return remote

    with server() as raw:
        remote = anyio.run(first, raw, backend=backend)
        for other in ("asyncio", "trio"):
            with pytest.raises(RemoteCallError) as caught:
                in_thread(lambda: anyio.run(remote.invoke, backend=other))  # noqa: B023 - called before the next turn
            assert str(caught.value) == f"mcp: {ENDED}"
            assert not caught.value.may_have_run
        with pytest.raises(RemoteCallError, match="does not run any more"):
            in_thread(remote.invoke_sync)


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_loop_that_ends_during_a_call_from_elsewhere_ends_the_call(how: str) -> None:
    with server() as raw, Beside() as home:
        _, _, hang = home.do(opened(raw, "hang"))

        def call() -> str:
            return hang.invoke_sync() if how == "sync" else asyncio.run(hang.invoke())

        def stop_when_called() -> None:
            async def watch() -> None:
                with anyio.fail_after(PATIENCE):
                    await raw.arrived("tools/call")

            asyncio.run(watch())
            home.stop()

        stopper = threading.Thread(target=stop_when_called, daemon=True)
        stopper.start()
        with pytest.raises(RemoteCallError) as caught:
            in_thread(call)
        stopper.join(PATIENCE)
        assert str(caught.value) == f"mcp: {ENDED.replace('does not run any more', 'ended during the call')}"
        assert caught.value.may_have_run
        _tidied(home.loop)


def _tidied(loop: asyncio.AbstractEventLoop) -> None:
    """What `asyncio.run` does at the end of a loop."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
