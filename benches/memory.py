"""What 10,000 imported tools keep, names read, after gc: the growth of the resident set over several listings.

Each measurement is a process of its own: `python -m benches.memory LISTING` prints the bytes that one more toolset
costs.
"""

import asyncio
import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import toolwire
from benches.listings import minimal, of_size
from benches.peer import echo
from benches.sides import ours
from benches.table import Row, figure

COUNT = 10_000
KEPT = 6
BAR = 3.0


def resident() -> int:
    """Read the bytes of this process that are in memory. Linux only."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def _import(listing: str) -> tuple[toolwire.Toolset, int]:
    async with ours([echo(), listing], "2025-11-25") as connection:
        tools = await toolwire.tools(connection)
    assert len(tools) == COUNT
    return tools, sum(len(tool.name) for tool in tools)


def _measure(listing: str) -> int:
    """Import the listing several times and keep each: the growth after the first is what a toolset costs."""
    kept = [asyncio.run(_import(listing))]
    gc.collect()
    before = resident()
    for _ in range(KEPT):
        kept.append(asyncio.run(_import(listing)))
        gc.collect()
    return (resident() - before) // KEPT


def _row(what: str, listing: bytes, *, bar: float | None) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "listing.json"
        file.write_bytes(listing)
        child = [sys.executable, "-m", "benches.memory", str(file)]
        root = Path(__file__).resolve().parents[1]
        kept = int(subprocess.run(child, cwd=root, capture_output=True, text=True, check=True).stdout)
    return Row(
        what=f"memory, 10,000 {what} ({figure(len(listing) / COUNT)} bytes each)",
        toolwire=f"{kept / COUNT:,.0f} bytes a tool",
        ratio=f"{kept / len(listing):.2f} x",
        bar="" if bar is None else f"at most {bar:g} x",
        met=None if bar is None else kept <= bar * len(listing),
    )


def rows(*, quick: bool) -> Iterator[Row]:
    """Measure tools of a usual size and minimal ones; --quick changes nothing here."""
    del quick
    if not Path("/proc/self/statm").exists():
        yield Row(what="memory: not measured, there is no /proc here", toolwire="")
        return
    yield _row("tools", of_size(COUNT, 600), bar=BAR)
    yield _row("minimal tools", minimal(COUNT), bar=None)


if __name__ == "__main__":
    print(_measure(sys.argv[1]))
