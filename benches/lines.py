"""One long line: an answer of 16 and of 64 MiB through toolwire's client, of 1 and 4 MiB through the SDK's.

Each measurement is a process of its own, `python -m benches.lines SIDE SIZE`, and ends with the text in hand. In one
process the second line of 16 MiB would get the pages that the first one gave back, and a line of 64 MiB fresh ones from
the system: the allocator would be measured, and not the line.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import toolwire
from benches.peer import echo
from benches.sides import ours, sdk
from benches.table import Row, milliseconds

MIB = 1 << 20
ERA = "2025-11-25"
GROWTH = 5.0
LONGEST = 1.0


async def by_us(size: int) -> tuple[float, str]:
    """Time one answer of a size in bytes, after a small one."""
    async with ours([echo()], ERA) as connection:
        tool = (await toolwire.tools(connection))["big"]
        await tool.invoke(b'{"size":1000}')
        began = time.perf_counter()
        text = (await tool.call(b'{"size":%d}' % size)).text
        return time.perf_counter() - began, text


async def by_sdk(size: int) -> tuple[float, str]:
    """Time the same through the SDK."""
    async with sdk([echo()], ERA) as session:
        await session.call_tool("big", {"size": 1000})
        began = time.perf_counter()
        block = (await session.call_tool("big", {"size": size})).content[0]
        taken = time.perf_counter() - began
        assert block.type == "text"
        return taken, block.text


SIDES = {"toolwire": by_us, "sdk": by_sdk}


def _best(side: str, sizes: tuple[int, int], rounds: int) -> tuple[float, float]:
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for index, size in enumerate(sizes):
            child = [sys.executable, "-m", "benches.lines", side, str(size * MIB)]
            root = Path(__file__).resolve().parents[1]
            taken = float(subprocess.run(child, cwd=root, capture_output=True, text=True, check=True).stdout)
            best[index] = min(best[index], taken)
    return best[0], best[1]


def rows(*, quick: bool) -> Iterator[Row]:
    """Measure the growth of both."""
    short, long = _best("toolwire", (16, 64), 1 if quick else 5)
    growth = long / short
    yield Row(
        what="one line, 64 MiB against 16 MiB",
        toolwire=f"{milliseconds(long)}, {milliseconds(short)}",
        ratio=f"{growth:.1f} x",
        bar=f"at most {GROWTH:g} x",
        met=growth <= GROWTH,
    )
    yield Row(what="one line of 64 MiB", toolwire=milliseconds(long), bar="under 1,000 ms", met=long < LONGEST)
    small, large = _best("sdk", (1, 4), 1 if quick else 3)
    yield Row(
        what="the SDK's line, 4 MiB against 1 MiB",
        toolwire="",
        peer=f"{milliseconds(large)}, {milliseconds(small)}",
        ratio=f"{large / small:.1f} x",
    )


def _main(side: str, size: str) -> None:
    taken, text = asyncio.run(SIDES[side](int(size)))
    # A line of this size, all but its envelope.
    assert int(size) - 200 < len(text) < int(size)
    assert text.count("x") == len(text)
    print(taken)


if __name__ == "__main__":
    _main(*sys.argv[1:])
