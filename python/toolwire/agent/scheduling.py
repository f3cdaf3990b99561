"""The calls of one step: started in call order, side by side up to a bound, with barriers, their results in call order.

An exclusive call waits for everything in flight and runs alone. A call with a key waits for an earlier holder of that
key (design 4.4). `waves` is the same plan for hosts that run calls themselves.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import anyio

__all__ = ["ALONE", "BESIDE", "Overlap", "run_all", "waves"]

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Overlap:
    """Whether a call may run beside others, and the key that it must not share with one that runs."""

    exclusive: bool = False
    key: str = ""


ALONE = Overlap(exclusive=True)
BESIDE = Overlap()


def waves(overlaps: Sequence[Overlap]) -> list[list[int]]:
    """Calls by index in batches that may run side by side, in order (spec many-sources 2.8): pure, for hosts.

    The longest run of consecutive overlapping calls in which no non-empty key repeats; an exclusive call is alone.
    """
    plan: list[list[int]] = []
    keys: set[str] = set()
    closed = True
    for index, overlap in enumerate(overlaps):
        if closed or overlap.exclusive or overlap.key in keys:
            plan.append([])
            keys = set()
        plan[-1].append(index)
        closed = overlap.exclusive
        if overlap.key:
            keys.add(overlap.key)
    return plan


async def run_all(
    items: Sequence[Item],
    overlap: Callable[[Item], Overlap],
    start: Callable[[Item], None],
    run: Callable[[Item], Awaitable[Result]],
    parallelism: int,
) -> list[Result]:
    """Runs every item; the results in the items' order. `start` is called when an item's turn has come, in order.

    `run` must contain its failures: one that raises ends the others. Raises ValueError for a parallelism below 1.
    """
    if parallelism < 1:
        raise ValueError(f"parallelism is at least 1, got {parallelism}")
    plans = [overlap(item) for item in items]
    if len(items) == 1 or parallelism == 1 or all(plan.exclusive for plan in plans):
        # One after the other: that takes no task.
        return [await _alone(item, start, run) for item in items]
    results: dict[int, Result] = {}
    slots = anyio.Semaphore(parallelism)
    keys: dict[str, anyio.Event] = {}

    async def one(index: int, item: Item, key: str, done: anyio.Event) -> None:
        try:
            results[index] = await run(item)
        finally:
            slots.release()
            done.set()
            if keys.get(key) is done:
                del keys[key]

    in_flight: list[anyio.Event] = []

    async def quiet() -> None:
        while in_flight:
            await in_flight.pop().wait()

    async with anyio.create_task_group() as tasks:
        for index, (item, plan) in enumerate(zip(items, plans, strict=True)):
            if plan.exclusive:
                await quiet()
            while plan.key in keys:
                await keys[plan.key].wait()
            await slots.acquire()
            done = anyio.Event()
            if plan.key:
                keys[plan.key] = done
            start(item)
            if plan.exclusive:
                await one(index, item, plan.key, done)
            else:
                in_flight.append(done)
                tasks.start_soon(one, index, item, plan.key, done)
    return [results[index] for index in range(len(items))]


async def _alone(item: Item, start: Callable[[Item], None], run: Callable[[Item], Awaitable[Result]]) -> Result:
    start(item)
    return await run(item)
