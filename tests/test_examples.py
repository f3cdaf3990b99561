"""The examples run as a person runs them, each program in a process of its own, on the scripted model."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.commands import command

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PATIENCE = 120
"""Seconds after which a program is given up: each takes one or two, with its servers."""


def lines(example: str, *arguments: str) -> list[str]:
    """What a program prints; nothing may go to stderr."""
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / example), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.splitlines()


def test_an_agent_over_two_real_servers(tmp_path: Path) -> None:
    for server in ("time", "git"):
        command(server)
    git = ["git", "-C", str(tmp_path)]
    try:
        subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    except FileNotFoundError:
        pytest.skip("git is not installed, and its server needs it")
    (tmp_path / "new.txt").write_text("new\n")
    printed = lines("two_servers.py", str(tmp_path))
    assert printed[0].startswith("time_convert_time: ")
    assert any("T20:00:00+05:30" in line for line in printed)
    assert any(line.startswith("repo_git_status: ") for line in printed)
    assert any("new.txt" in line for line in printed)
    assert printed[-1] == "It is 20:00 in Kolkata, and here is where the repository stands."


def test_an_approval_is_saved_by_one_process_and_carried_out_by_another(tmp_path: Path) -> None:
    file = tmp_path / "approval.json"
    assert lines("approval.py", "ask", str(file)) == ['echo wants to run with {"pay":1249.50,"to":"ACME"}']
    assert [call["id"] for call in json.loads(file.read_text())["pending"]] == ["pay-1"]
    assert lines("approval.py", "approve", str(file)) == [
        'echo gave {"pay":1249.50,"to":"ACME"}',
        "ACME is paid.",
    ]


def test_an_agent_is_served_over_stdio_and_called_by_another() -> None:
    assert sorted(lines("served_agent.py")) == sorted(
        [
            "research: Order 1234 shipped and is on its way.",
            'lookup_order: {"id":"5678","status":"shipped"}',
            "Both orders are on their way.",
        ]
    )


def test_a_question_is_saved_to_a_file_and_its_call_is_finished() -> None:
    assert lines("input_round.py") == [
        "the tool asks: When at Maaemo?",
        (
            "refused before the server heard of it: the answer does not match what was asked: "
            'toolwire: validate value: field "content.time": expected string, got number 19'
        ),
        "booked b-17: 4 people at Maaemo, 19:30",
        "the tool asks: When at Maaemo?",
        "nothing was booked",
    ]


def test_every_example_says_what_it_shows_and_is_tested() -> None:
    tested = Path(__file__).read_text()
    programs = sorted(EXAMPLES.glob("*.py"))
    assert len(programs) == 4
    for program in programs:
        docstring = ast.get_docstring(ast.parse(program.read_text()))
        assert docstring is not None
        assert docstring.startswith("Shows ")
        assert f'"{program.name}"' in tested
