"""The README runs.

A fenced block marked `python runnable` is a program, and a `text output` block right after it is what it prints. One
that starts a real server says so, `python runnable needs=mcp-server-time`: it finds that command as a reader would
after installing it, and is skipped, with the reason, where it is not installed.
"""

import ast
import itertools
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.servers.commands import NODE, PYTHON

README = Path(__file__).resolve().parents[1] / "README.md"
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
DEADLINE = 60


@dataclass(frozen=True, kw_only=True)
class Block:
    """A Python block: where it stands, how it is marked, its text, and what it prints if the README says."""

    line: int
    info: str
    source: str
    output: str | None

    @property
    def needs(self) -> list[str]:
        return re.findall(r"needs=(\S+)", self.info)


def python_blocks() -> list[Block]:
    text = README.read_text() if README.exists() else ""
    found = list(FENCE.finditer(text))
    following = {first.start(): second for first, second in itertools.pairwise(found)}
    blocks = []
    for match in found:
        if match["info"].split()[:1] != ["python"]:
            continue
        after = following.get(match.start())
        output = after["body"] if after is not None and after["info"].split() == ["text", "output"] else None
        line = text.count("\n", 0, match.start()) + 1
        blocks.append(Block(line=line, info=match["info"], source=match["body"], output=output))
    return blocks


BLOCKS = python_blocks()
RUNNABLE = [block for block in BLOCKS if "runnable" in block.info.split()]


def test_every_python_block_of_the_readme_is_valid_python() -> None:
    if not BLOCKS:
        pytest.skip("README.md has no Python block yet")
    for block in BLOCKS:
        compile(block.source, f"README.md:{block.line}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST)


@pytest.mark.skipif(not RUNNABLE, reason="README.md has no block marked `python runnable` yet")
@pytest.mark.parametrize("block", RUNNABLE, ids=lambda block: f"line {block.line}")
def test_a_runnable_block_of_the_readme_runs(block: Block, tmp_path: Path) -> None:
    path = os.pathsep.join([str(PYTHON), str(NODE), os.environ.get("PATH", "")])
    for command in block.needs:
        if shutil.which(command, path=path) is None:
            pytest.skip(f"{command} is not installed here (`make servers`)")
    program = tmp_path / "block.py"
    program.write_text(block.source)
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if block.output is not None:
        assert done.stdout == block.output
