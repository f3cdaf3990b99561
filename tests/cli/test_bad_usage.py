"""Whatever is wrong with the command line or the server's command: one message, the right exit code."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from toolwire.testing import RawServer, die, linger, listing, silence

COMMANDS = [("list",), ("call", "search", "{}"), ("check",)]


@pytest.mark.parametrize("words", COMMANDS)
def test_an_unknown_command_is_named(toolwire: Run, words: tuple[str, ...]) -> None:
    ran = toolwire(*words, "--", "no-such-server-command", "--flag")
    assert (ran.code, ran.out) == (3, b"")
    assert "no-such-server-command" in ran.said


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_that_exits_at_once_gives_its_code_and_its_last_words(toolwire: Run, words: tuple[str, ...]) -> None:
    with RawServer(at_start=die(7, b"no licence found\n")) as server:
        ran = toolwire(*words, "--", *server.argv)
    assert (ran.code, ran.out) == (3, b"")
    assert "7" in ran.said
    assert "no licence found" in ran.said


def test_a_command_that_prints_nothing_is_not_waited_for_longer_than_asked(toolwire: Run) -> None:
    answers = {"initialize": silence(), "server/discover": silence()}
    with RawServer(answers, stderr=b"waiting for a key\n", at_eof=linger()) as server:
        ran = toolwire("list", "--timeout", "1", "--", *server.argv)
        assert server.alive() == []
    assert (ran.code, ran.out) == (3, b"")
    assert "waiting for a key" in ran.said


def test_a_command_that_ends_without_a_word_says_so(toolwire: Run) -> None:
    ran = toolwire("list", "--", "true")
    assert (ran.code, ran.out) == (3, b"")
    assert "true" in ran.said


def test_a_command_that_prints_something_else_shows_it(toolwire: Run) -> None:
    ran = toolwire("list", "--", "echo", "usage: server\x1b[2J --port N")
    assert (ran.code, ran.out) == (3, b"")
    assert r"usage: server\x1b[2J --port N" in ran.said


def test_a_file_that_cannot_be_run_is_named(toolwire: Run, tmp_path: Path) -> None:
    ran = toolwire("list", "--", str(tmp_path))
    assert (ran.code, ran.out) == (3, b"")
    assert str(tmp_path) in ran.said


@pytest.mark.parametrize("kind", ["missing", "file", "forbidden"])
def test_a_directory_that_cannot_be_entered_is_named(toolwire: Run, tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    if kind == "file":
        place.touch()
    if kind == "forbidden":
        if os.geteuid() == 0:
            pytest.skip("nothing is forbidden to root")
        place.mkdir(mode=0)
    with RawServer() as server:
        ran = toolwire("list", "--cwd", str(place), "--", *server.argv)
        assert server.starts == 0
    assert (ran.code, ran.out) == (3, b"")
    assert str(place) in ran.said


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        (("--env", "NOVALUE"), "NAME=VALUE"),
        (("--timeout", "0"), "--timeout"),
        (("--timeout", "nan"), "--timeout"),
        (("--timeout", "soon"), "--timeout"),
        (("--no-such-option",), "--no-such-option"),
    ],
)
def test_a_wrong_option_is_bad_usage(toolwire: Run, option: tuple[str, ...], reason: str) -> None:
    with RawServer() as server:
        ran = toolwire("list", *option, "--", *server.argv)
        assert (ran.code, ran.out, server.starts) == (2, b"", 0)
    assert reason in ran.said


@pytest.mark.parametrize(
    "words", [("list",), ("list", "npx", "-y", "server"), ("call", "search", "{}"), ("check", "-x")]
)
def test_a_server_command_that_is_missing_or_without_its_dashes_is_explained(
    toolwire: Run, words: tuple[str, ...]
) -> None:
    ran = toolwire(*words)
    assert (ran.code, ran.out) == (2, b"")
    assert f"toolwire {words[0]} … -- COMMAND…" in ran.said


def test_an_unknown_subcommand_is_bad_usage(toolwire: Run) -> None:
    ran = toolwire("nonsense")
    assert ran.code == 2
    assert "nonsense" in ran.said


def test_variables_and_the_directory_reach_the_server(toolwire: Run, tmp_path: Path) -> None:
    with RawServer({"tools/list": listing()}) as server:
        words = ("--env", "A=1=2", "--env", "B=", "--cwd", str(tmp_path), "--", *server.argv)
        assert toolwire("list", *words, env={"SECRET_KEY": "x"}).code == 0
        (launch,) = server.launches
    assert launch.cwd == str(tmp_path)
    assert (launch.env["A"], launch.env["B"]) == ("1=2", "")
    assert "SECRET_KEY" not in launch.env, "a server gets what it is given, not what the shell holds"


def test_the_version_and_the_help_are_printed(toolwire: Run) -> None:
    assert toolwire("--version").text == f"toolwire {version('toolwire')}\n"
    helped = toolwire("--help")
    assert helped.code == 0
    for command in ("list", "call", "check", "demo"):
        assert command in helped.text
    assert "--prefix" in toolwire("call", "--help").text


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_the_command_says_what_to_install(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from toolwire.cli import main; main()"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"toolwire: the command line needs {missing}: pip install 'toolwire[cli]'\n"
