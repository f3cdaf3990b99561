"""The courier, which the suite starts, and the process that plays what it brings."""

import os
import shlex
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from conformance import scenarios
from conformance.playing import playing
from conformance.scenarios import Told

pytestmark = pytest.mark.anyio

ENVIRONMENT = {
    "MCP_CONFORMANCE_SCENARIO": "a-test",
    "MCP_CONFORMANCE_PROTOCOL_VERSION": "2026-07-28",
    "MCP_CONFORMANCE_CONTEXT": '{"n":1}',
}
PATIENCE = 60


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[Told]:
    told: list[Told] = []

    async def play(each: Told) -> None:
        told.append(each)
        if each.url == "bad":
            raise ValueError("no such server")

    monkeypatch.setitem(scenarios.SCENARIOS, "a-test", play)
    return told


@asynccontextmanager
async def courier(url: str) -> AsyncIterator[anyio.abc.Process]:
    async with playing() as command:
        line = f"{command} {shlex.quote(url)}"
        process = await anyio.open_process(line, stderr=subprocess.PIPE, env={**os.environ, **ENVIRONMENT})
        async with process:
            yield process


async def test_a_courier_carries_what_the_suite_tells_and_ends_well(heard: list[Told]) -> None:
    with anyio.fail_after(PATIENCE):
        async with courier("http://localhost:1/mcp") as process:
            assert await process.wait() == 0
    assert heard == [Told("a-test", "2026-07-28", "http://localhost:1/mcp", {"n": 1})]


async def test_what_a_scenario_raises_is_said_and_makes_the_exit_code_1(heard: list[Told]) -> None:
    with anyio.fail_after(PATIENCE):
        async with courier("bad") as process:
            assert process.stderr is not None
            said = b"".join([chunk async for chunk in process.stderr])
            assert await process.wait() == 1
    assert said.decode().strip().splitlines()[-1] == "ValueError: no such server"


async def test_a_courier_that_the_suite_ends_takes_its_scenario_with_it(
    heard: list[Told], monkeypatch: pytest.MonkeyPatch
) -> None:
    began, ended = anyio.Event(), anyio.Event()

    async def play(told: Told) -> None:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    monkeypatch.setitem(scenarios.SCENARIOS, "a-test", play)
    with anyio.fail_after(PATIENCE):
        async with courier("http://localhost:1/mcp") as process:
            await began.wait()
            process.terminate()
            await ended.wait()
