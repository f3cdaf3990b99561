"""Where the real servers stand: how each is started here, or why it can't be.

`make servers` puts the npm ones under .servers/node; those from PyPI come with the `test` extra, beside this Python.
"""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NODE = ROOT / ".servers" / "node" / "node_modules" / ".bin"
PYTHON = Path(sys.executable).parent

PLACES = {
    "everything": NODE / "mcp-server-everything",
    "filesystem": NODE / "mcp-server-filesystem",
    "time": PYTHON / "mcp-server-time",
    "git": PYTHON / "mcp-server-git",
}


def command(server: str, *arguments: str) -> list[str]:
    """Return the argv of a real server over stdio; skip the calling test, with the reason, where there is none."""
    place = PLACES[server]
    if not place.exists():
        kind = "npm (is Node here?)" if place.parent == NODE else "the test extra"
        pytest.skip(f"the {server} server is not installed: `make servers` takes it from {kind}")
    return [str(place), *arguments]
