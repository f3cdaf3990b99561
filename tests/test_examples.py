"""The examples run, each as a reader would start it, on a server of this machine."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
DEADLINE = 60

PRINTED = {
    "input_round.py": """\
the tool asks: When at Maaemo?
refused before the server heard of it: the answer does not match what was asked: toolwire: validate value: \
field "content.time": expected string, got number 19
booked b-17: 4 people at Maaemo, 19:30
the tool asks: When at Maaemo?
nothing was booked
""",
}


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == PRINTED.keys()


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_what_it_should(name: str) -> None:
    done = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == PRINTED[name]
