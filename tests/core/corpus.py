"""The real listings and results, where they stand; and a second way to a value's bytes, through `json`'s scanner."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(os.environ.get("TOOLWIRE_CORPUS") or Path(__file__).resolve().parents[3] / "shared" / "corpus")
needs_corpus = pytest.mark.skipif(
    not ROOT.is_dir(), reason=f"no corpus at {ROOT} (TOOLWIRE_CORPUS names another place)"
)

decode = json.JSONDecoder().raw_decode


def files(folder: str) -> list[str]:
    return sorted(path.name for path in (ROOT / folder).glob("*.json"))


def line(folder: str, name: str) -> bytes:
    """Return one line of a server's stdout, with its newline."""
    return (ROOT / folder / name).read_bytes()


def space(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def members(text: str) -> dict[str, str]:
    """Return the text of each member's value in the object that is all of `text`."""
    found = {}
    at = space(text, 1)
    while text[at] != "}":
        name, at = decode(text, at)
        start = space(text, space(text, at) + 1)
        _, end = decode(text, start)
        found[name] = text[start:end]
        at = space(text, end)
        at = space(text, at + 1) if text[at] == "," else at
    return found


def elements(text: str) -> Iterator[str]:
    """Yield the text of each element of the array that is all of `text`."""
    at = space(text, 1)
    while text[at] != "]":
        _, end = decode(text, at)
        yield text[at:end]
        at = space(text, end)
        at = space(text, at + 1) if text[at] == "," else at
