"""A run of 1,000 steps with four parallel imported calls each: toolwire's loop beside pydantic-ai's, one raw server.

Both on a model that costs nothing: the scripted one here, `FunctionModel` there. Theirs takes fewer steps: a call costs
it the more the longer its transcript is, so that is in its favour, and a thousand would take minutes.
"""

import asyncio
import gc
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent as TheirAgent
from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UsageLimits
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.function import AgentInfo, FunctionModel

import toolwire
from benches.peer import echo
from benches.sides import ERAS, ours
from benches.table import Row, faster, figure
from toolwire import Agent, Tool
from toolwire.agent.dispatch import contained, dispatch
from toolwire.agent.middleware import Call as ToolCall
from toolwire.agent.middleware import Next
from toolwire.contract.output import ToolOutput
from toolwire.testing import Call, Say, Script, ToolCalls

PARALLEL = 4
BAR = 5.0
MIDDLEWARE_BAR = 10e-6
LISTING = b'{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},%s}]'
READ_ONLY = b'"annotations":{"readOnlyHint":true}'
"""Without the hint toolwire would run the calls one after the other."""

Job = Callable[[], Awaitable[object]]


def arguments(index: int) -> dict[str, str]:
    return {"text": f"hello {index}"}


def raw(index: int) -> bytes:
    """Without white space: the raw server looks for the member as it looks then."""
    return json.dumps(arguments(index), separators=(",", ":")).encode()


async def by_us(tools: toolwire.Toolset | list[Tool], steps: int) -> list[str]:
    calls = ToolCalls(*(Call("echo", raw(index), f"c{index}") for index in range(PARALLEL)))
    agent = Agent(Script(*[calls] * steps, Say("done")), tools=tools, max_steps=steps + 1)
    outcome = await agent.generate("go")
    assert outcome.text == "done"
    return [part.content for message in outcome.messages for part in message.results]


async def by_them(toolset: MCPToolset[Any], steps: int) -> list[str]:
    left = steps

    def model(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        nonlocal left
        left -= 1
        if left < 0:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(
            parts=[ToolCallPart("echo", arguments(index), f"c{index}-{left}") for index in range(PARALLEL)]
        )

    agent = TheirAgent(FunctionModel(model), toolsets=[toolset])
    outcome = await agent.run("go", usage_limits=UsageLimits(request_limit=None))
    assert outcome.output == "done"
    return [
        str(part.content)
        for message in outcome.all_messages()
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]


async def bare(tools: toolwire.Toolset, steps: int) -> None:
    """The same calls without an agent."""
    args = [raw(index) for index in range(PARALLEL)]
    tool = tools["echo"]
    for _ in range(steps):
        await asyncio.gather(*map(tool.call, args))


async def seconds(job: Job, calls: int) -> tuple[float, float]:
    """Time a call by the wall clock and in processor time, which other people's work touches less."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    await job()
    return (time.perf_counter() - wall) / calls, (time.process_time() - cpu) / calls


@asynccontextmanager
async def sides(era: str) -> AsyncIterator[tuple[toolwire.Toolset, MCPToolset[Any]]]:
    with TemporaryDirectory() as folder:
        listing = Path(folder) / "listing"
        listing.write_bytes(LISTING % READ_ONLY)
        argv = [echo(), str(listing)]
        async with ours(argv, era) as connection:
            toolset: MCPToolset[Any] = MCPToolset(StdioTransport(command=argv[0], args=argv[1:]))
            async with toolset:
                yield await toolwire.tools(connection), toolset


async def _compare(*, quick: bool) -> list[Row]:
    steps, their_steps = (100, 20) if quick else (1000, 100)
    async with sides(next(iter(ERAS))) as (tools, toolset):
        expected = [arguments(index)["text"] for index in range(PARALLEL)] * 3
        assert await by_us(tools, 3) == await by_them(toolset, 3) == expected
        local = [toolwire.tool(_echo, name="echo")]
        jobs: dict[str, tuple[Job, int]] = {
            "ours": (partial(by_us, tools, steps), steps),
            "theirs": (partial(by_them, toolset, their_steps), their_steps),
            "bare": (partial(bare, tools, steps), steps),
            "local": (partial(by_us, local, steps), steps),
        }
        best = dict.fromkeys(jobs, float("inf"))
        cpu = dict.fromkeys(jobs, float("inf"))
        for _ in range(1 if quick else 3):
            for name, (job, count) in jobs.items():
                wall, own = await seconds(job, count * PARALLEL)
                best[name], cpu[name] = min(best[name], wall), min(cpu[name], own)
    what = f"agent, {steps:,} steps of {PARALLEL} imported calls"
    return [
        faster(what, 1 / best["ours"], 1 / best["theirs"], "calls/s", BAR),
        Row(what="agent, the loop's own processor time a call", toolwire=_micro(cpu["ours"] - cpu["bare"])),
        Row(what="agent, the same run over a local tool, a call", toolwire=_micro(cpu["local"])),
    ]


async def _echo(text: str) -> str:
    return text


async def _pass(call: ToolCall, following: Next) -> ToolOutput:
    return await following(call)


async def _middleware(*, quick: bool) -> Row:
    """One call through containment and three middleware, less the same call alone, in processor time."""
    count = 1_000 if quick else 20_000

    async def handler(_: bytes) -> str:
        return "ok"

    tool = Tool.raw("echo", "", None, handler)
    call = ToolCall("c", "echo", b"{}")
    chain = partial(dispatch, tools={"echo": tool}, middleware=(_pass,) * 3, strict=False)

    async def wrapped() -> None:
        for _ in range(count):
            await contained(call, chain)

    async def alone() -> None:
        for _ in range(count):
            await tool.call(b"{}")

    cost = min([(await seconds(wrapped, count))[1] for _ in range(5)])
    cost -= min([(await seconds(alone, count))[1] for _ in range(5)])
    return Row(
        what="agent, containment and three middleware a call",
        toolwire=_micro(cost),
        bar=f"at most {_micro(MIDDLEWARE_BAR)}",
        met=cost <= MIDDLEWARE_BAR,
    )


def _micro(seconds: float) -> str:
    return f"{figure(seconds * 1e6)} us"


def rows(*, quick: bool) -> Iterator[Row]:
    """Compare the two loops, then take ours apart."""
    yield from asyncio.run(_compare(quick=quick))
    yield asyncio.run(_middleware(quick=quick))
