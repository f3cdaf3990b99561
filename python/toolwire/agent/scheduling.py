"""The calls of one step: started in call order, side by side up to a bound, with barriers, their results in call order.

An exclusive call waits for everything in flight and runs alone. A call with a key waits for an earlier holder of that
key (design 4.4). `waves` is the same plan for hosts that run calls themselves.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import anyio
import anyio.lowlevel

from toolwire.loops import on_asyncio

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


def waves(overlaps: Sequence[Overlap | tuple[str, bool]]) -> list[list[int]]:
    """Calls by index in batches that may run side by side, in order (spec many-sources 2.8): pure, for hosts.

    The longest run of consecutive overlapping calls in which no non-empty key repeats; an exclusive call is alone.
    A concurrency policy's own word, key and permission, is an Overlap too.
    """
    plan: list[list[int]] = []
    keys: set[str] = set()
    closed = True
    for index, given in enumerate(overlaps):
        overlap = given if isinstance(given, Overlap) else Overlap(exclusive=not given[1], key=given[0])
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
    floor = _Floor(parallelism)
    results: dict[int, Result] = {}
    # asyncio runs tasks in the order in which they were made; trio shuffles those that are ready, so each has its turn.
    in_order = on_asyncio()

    async def one(index: int, item: Item, plan: Overlap) -> None:
        try:
            results[index] = await run(item)
        finally:
            floor.leave(plan)

    async with anyio.create_task_group() as tasks:
        for index, (item, plan) in enumerate(zip(items, plans, strict=True)):
            await floor.enter(plan)
            start(item)
            if plan.exclusive:
                await one(index, item, plan)
            else:
                tasks.start_soon(one, index, item, plan)
                if not in_order:
                    await anyio.lowlevel.checkpoint()
    return [results[index] for index in range(len(items))]


async def _alone(item: Item, start: Callable[[Item], None], run: Callable[[Item], Awaitable[Result]]) -> Result:
    start(item)
    return await run(item)


class _Floor:
    """Who runs, and the one who waits to let the next in. Who need not wait does not yield: calls start together."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._running = 0
        self._keys: set[str] = set()
        self._left: anyio.Event | None = None

    async def enter(self, plan: Overlap) -> None:
        """Waits until a call with this plan may start, and counts it as running."""
        while self._running >= (1 if plan.exclusive else self._slots) or plan.key in self._keys:
            self._left = anyio.Event()
            await self._left.wait()
        self._running += 1
        if plan.key:
            self._keys.add(plan.key)

    def leave(self, plan: Overlap) -> None:
        """The call has ended."""
        self._running -= 1
        self._keys.discard(plan.key)
        if self._left is not None:
            self._left.set()
