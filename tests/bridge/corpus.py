"""The corpus of real listings and results, read by a second reader: `json.JSONDecoder.raw_decode` over the text.

The folder is `../shared/corpus` from the project's root, or where `TOOLWIRE_CORPUS` points; without it the tests skip.
"""

import base64
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolwire.testing import Steps, raw, then

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("TOOLWIRE_CORPUS", ROOT.parent / "shared" / "corpus"))

needs_corpus = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no corpus at {FOLDER} (TOOLWIRE_CORPUS names another)")

_decode = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode
_SPACE = re.compile(r"[ \t\r\n]*")
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[^"\s]+')


def files(folder: str) -> list[Path]:
    """Give the files of a folder in order; none where there is no corpus."""
    return sorted((FOLDER / folder).glob("*.json"))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def members(text: str) -> dict[str, str]:
    """Cut an object's members out of its text, each value exactly as written."""
    found: dict[str, str] = {}
    at = _skip(text, 1)
    while text[at] != "}":
        name, at = _decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, end = _decode(text, start)
        found[name] = text[start:end]
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def elements(text: str) -> Iterator[str]:
    """Cut an array's elements out of its text."""
    at = _skip(text, 1)
    while text[at] != "]":
        _, end = _decode(text, at)
        yield text[at:end]
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at


def compact(text: str) -> str:
    """Take the white space between tokens out, and nothing else."""
    return "".join(_TOKENS.findall(text))


def answer(line: str) -> Steps:
    """Answer with this recorded line, every byte of it but its id, which is the request's."""
    identifier = members(line)["id"]
    # An id stands before or behind a body that may hold the same digits, so it is found by its name.
    spot = [at.end() for at in re.finditer(r'"id"\s*:\s*', line) if line.startswith(identifier, at.end())]
    at = next(at for at in spot if members(line[:at] + '"?"' + line[at + len(identifier) :])["id"] == '"?"')
    head, tail = line[:at].encode(), line[at + len(identifier) :].encode()
    return then(raw(head, verbatim=True), raw(b"{id}"), raw(tail, verbatim=True))


def line_of(block: str) -> str:
    """Write the line that stands for a content block, after the pinned table."""
    value: dict[str, Any] = json.loads(block)
    match value["type"]:
        case "text":
            return str(value["text"])
        case "image" | "audio":
            return f"[{value['type']} {value['mimeType']}, {len(base64.b64decode(value['data']))} bytes]"
        case "resource":
            return f"[resource {value['resource']['uri']}]"
        case "resource_link":
            return f"[resource {value['uri']}]"
    raise AssertionError(f"the corpus holds no block of type {value['type']}")
