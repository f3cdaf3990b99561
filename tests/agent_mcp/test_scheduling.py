"""The scheduler of a step: keys, barriers, bounds; and `waves`, its plan for hosts (many-sources 2.8, design 4.4)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest

from tests.agent_mcp.support import PATIENCE, results, ticks
from toolwire import Agent, Policy, Tool, sequential, tool
from toolwire.agent.scheduling import Overlap, run_all, waves
from toolwire.testing import Call, Say, Script, ToolCalls


def keyed(policy: Callable[[bytes], tuple[str, bool]]) -> Policy:
    return Policy("keyed", lambda settings: replace(settings, concurrency=policy))


class Clock:
    """Tools that run for some turns of the loop and note who ran beside whom."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.running: list[str] = []
        self.most = 0

    def tool(self, name: str, *policies: Policy) -> Tool:
        async def body(args: bytes) -> str:
            label = f"{name}{args.decode()}"
            self.lines.append(f">{label}")
            self.running.append(label)
            self.most = max(self.most, len(self.running))
            await ticks(9)
            self.running.remove(label)
            self.lines.append(f"<{label}")
            return label

        return Tool.raw(name, "", None, body, *policies)


async def test_calls_with_one_key_take_turns_and_all_others_overlap() -> None:
    clock = Clock()
    account = clock.tool("pay", keyed(lambda args: (args.decode(), True)))
    calls = [Call("pay", args, str(index)) for index, args in enumerate((b"1", b"2", b"1", b"3"))]
    agent = Agent(Script(ToolCalls(*calls), Say("done")), tools=[account])
    with anyio.fail_after(PATIENCE):
        outcome = await agent.generate("go")
    # The third waits for the first, and the fourth starts behind it: starts are in call order.
    assert [line for line in clock.lines if line.endswith("1")] == [">pay1", "<pay1", ">pay1", "<pay1"]
    assert clock.most > 1
    assert [line for line in clock.lines if line[0] == ">"] == [">pay1", ">pay2", ">pay1", ">pay3"]
    assert [said for said, _ in results(outcome)] == ["pay1", "pay2", "pay1", "pay3"]


async def test_an_empty_key_holds_nobody_up() -> None:
    clock = Clock()
    read = clock.tool("read", keyed(lambda _: ("", True)))
    calls = [Call("read", b"%d" % index, str(index)) for index in range(4)]
    await Agent(Script(ToolCalls(*calls), Say("done")), tools=[read]).generate("go")
    assert clock.most == 4


@pytest.mark.parametrize("refusal", ["says no", "raises"])
async def test_a_policy_that_refuses_or_fails_is_never_read_as_permission(refusal: str) -> None:
    def policy(_: bytes) -> tuple[str, bool]:
        if refusal == "raises":
            raise ValueError("the arguments are no JSON")
        return "", False

    clock = Clock()
    write = clock.tool("write", keyed(policy))
    calls = [Call("write", b"%d" % index, str(index)) for index in range(3)]
    await Agent(Script(ToolCalls(*calls), Say("done")), tools=[write]).generate("go")
    assert clock.most == 1
    assert clock.lines == [f"{sign}write{index}" for index in range(3) for sign in "><"]


async def test_a_concurrency_policy_wins_over_the_sequential_flag() -> None:
    """An import marks a tool sequential that says nothing; a policy that looks at the call knows more."""
    clock = Clock()
    both = clock.tool("both", sequential(), keyed(lambda _: ("", True)))
    calls = [Call("both", b"%d" % index, str(index)) for index in range(2)]
    await Agent(Script(ToolCalls(*calls), Say("done")), tools=[both]).generate("go")
    assert clock.most == 2


@pytest.mark.parametrize("parallelism", [1, 2, 3, 7])
async def test_parallelism_is_a_bound(parallelism: int) -> None:
    clock = Clock()
    calls = [Call("read", b"%d" % index, str(index)) for index in range(7)]
    agent = Agent(Script(ToolCalls(*calls), Say("done")), tools=[clock.tool("read")], parallelism=parallelism)
    outcome = await agent.generate("go")
    assert clock.most == parallelism
    assert [said for said, _ in results(outcome)] == [f"read{index}" for index in range(7)]


async def test_a_cancelled_run_leaves_nothing_running() -> None:
    clock = Clock()
    started = anyio.Event()

    @tool
    async def hold() -> str:
        started.set()
        await anyio.sleep_forever()
        return ""

    agent = Agent(Script(ToolCalls(Call("hold"), Call("read", b"1", "2"))), tools=[hold, clock.tool("read")])
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.generate, "go")
            await started.wait()
            tasks.cancel_scope.cancel()
    assert "<read1" not in clock.lines


async def test_one_call_takes_no_task() -> None:
    """The usual step has one call: it runs where the run does."""
    tasks: list[Any] = []

    async def run(item: int) -> int:
        tasks.append(anyio.get_current_task().id)
        return item * 2

    assert await run_all([21], lambda _: Overlap(), lambda _: None, run, 4) == [42]
    assert tasks == [anyio.get_current_task().id]


async def test_no_calls_are_no_results_and_no_slots_are_refused() -> None:
    async def run(item: int) -> int:
        return item

    assert await run_all([], lambda _: Overlap(), lambda _: None, run, 4) == []
    with pytest.raises(ValueError, match="parallelism is at least 1, got 0"):
        await run_all([1], lambda _: Overlap(), lambda _: None, run, 0)


A, B, FREE, ALONE = Overlap(key="a"), Overlap(key="b"), Overlap(), Overlap(exclusive=True)


@pytest.mark.parametrize(
    ("overlaps", "plan"),
    [
        ([], []),
        ([FREE, FREE, FREE], [[0, 1, 2]]),
        ([ALONE, ALONE], [[0], [1]]),
        ([FREE, FREE, ALONE, FREE, FREE], [[0, 1], [2], [3, 4]]),
        ([A, B, FREE, A, B], [[0, 1, 2], [3, 4]]),
        ([A, A, A], [[0], [1], [2]]),
        ([A, ALONE, A], [[0], [1], [2]]),
        ([FREE, A, FREE, B, A, FREE], [[0, 1, 2, 3], [4, 5]]),
    ],
)
def test_waves_are_the_longest_runs_without_a_repeated_key(overlaps: list[Overlap], plan: list[list[int]]) -> None:
    assert waves(overlaps) == plan
