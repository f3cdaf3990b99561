"""The real servers in every era that they speak, each started as a person would start it."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.real.recording import Recording
from tests.servers.commands import command

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
PATIENCE = 60.0
"""Seconds after which a test gives up: a server of Node starts in under one, on a busy machine in a few."""


@dataclass(frozen=True)
class RealServer:
    """A server to start: its command, the SDK's mode for it, the era that it then speaks, and a folder of its own."""

    name: str
    argv: list[str]
    mode: str
    era: str
    folder: Path
    recording: Recording

    @property
    def recorded(self) -> list[str]:
        """The command under the recorder."""
        return self.recording.of(self.argv)


ERAS = [
    ("everything", "legacy", HANDSHAKE),
    ("everything", "auto", HANDSHAKE),
    ("filesystem", "legacy", HANDSHAKE),
    ("filesystem", "auto", HANDSHAKE),
    ("time", "legacy", HANDSHAKE),
    ("time", "auto", MODERN),
    ("git", "legacy", HANDSHAKE),
    ("git", "auto", MODERN),
]
"""`auto` asks for 2026-07-28 first. The two of Node answer that they do not know it, and are then asked the old way."""

Start = Callable[..., RealServer]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    def start(name: str, mode: str = "legacy", era: str = HANDSHAKE) -> RealServer:
        folder = tmp_path / name
        folder.mkdir()
        arguments: list[str] = []
        if name == "filesystem":
            (folder / "a plain file.txt").write_text('"quoted", {braced}\nsecond line — é 😀\n')
            (folder / "sub").mkdir()
            arguments = [str(folder)]
        elif name == "git":
            _repository(folder)
            arguments = ["--repository", str(folder)]
        elif name == "time":
            arguments = ["--local-timezone", "UTC"]
        return RealServer(name, command(name, *arguments), mode, era, folder, Recording(tmp_path / "recorded"))

    return start


@pytest.fixture(params=ERAS, ids=lambda era: f"{era[0]}-{era[1]}")
def server(start: Start, request: pytest.FixtureRequest) -> RealServer:
    """Every server in every mode."""
    return start(*request.param)


DISTINCT = [era for era in ERAS if era[1:] != ("auto", HANDSHAKE)]


@pytest.fixture(params=DISTINCT, ids=lambda era: f"{era[0]}-{era[2]}")
def called(start: Start, request: pytest.FixtureRequest) -> RealServer:
    """Every server in every era."""
    return start(*request.param)


def _repository(folder: Path) -> None:
    """Make a repository with one commit, the same in every run."""
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed, and its server needs it")
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _WHO.items()}
    env = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    (folder / "file.txt").write_text("one\n")
    for words in (["init", "-q", "-b", "main"], ["add", "file.txt"], ["commit", "-q", "-m", "first"]):
        subprocess.run([git, *words], cwd=folder, env=env, check=True)
    (folder / "file.txt").write_text("one\ntwo\n")


_WHO = {"NAME": "A Person", "EMAIL": "person@example.invalid", "DATE": "2026-01-02T03:04:05+00:00"}
