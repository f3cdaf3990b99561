"""What a real server really wrote, cut into spans by a second reader of JSON than the one under test."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolwire._raw_peer import members

RECORDER = Path(__file__).with_name("recorder.py")
SPACE = " \t\r\n"


@dataclass(frozen=True)
class Recording:
    """The stdout of one server, kept in `file`."""

    file: Path

    def of(self, command: Sequence[str]) -> list[str]:
        """Give the argv that runs `command` under the recorder."""
        return [sys.executable, "-I", str(RECORDER), str(self.file), *command]

    def results(self) -> list[str]:
        """Every result that the server wrote, in order, as latin-1: a character a byte."""
        texts = (line.decode("latin-1") for line in self.file.read_bytes().splitlines())
        return [found for text in texts if (found := member(text, "result"))]

    def listed(self) -> list[str]:
        """Give the entries of the first listing."""
        listing = next(result for result in self.results() if member(result, "tools"))
        return elements(member(listing, "tools"))


def member(text: str, name: str) -> str:
    """Cut a member's value out of an object, as it is spelled there; `""` where there is none."""
    start, end = members(text).get(name, (0, 0))
    return text[start:end]


def elements(text: str) -> list[str]:
    """Cut an array into its elements, as they are spelled there."""
    scan = json.JSONDecoder(strict=False).raw_decode
    found: list[str] = []
    at = 1
    while True:
        while text[at] in SPACE + ",":
            at += 1
        if text[at] == "]":
            return found
        _, end = scan(text, at)
        found.append(text[at:end])
        at = end
