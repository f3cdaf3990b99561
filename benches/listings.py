"""Listings to import: the corpus's own tools where it stands, else tools of the same sizes; minimal ones."""

import itertools
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

CORPUS = Path(os.environ.get("TOOLWIRE_CORPUS", Path(__file__).resolve().parents[2] / "shared" / "corpus"))
SIZES = (
    133,
    383,
    474,
    582,
    698,
    842,
    1001,
    1207,
    1447,
    1690,
    2003,
    2149,
    2272,
    2430,
    2621,
    2870,
    3161,
    3513,
    4403,
    9704,
)
"""Bytes of a corpus tool at every twentieth: where the corpus is absent, listings are made of these."""


def corpus(count: int) -> tuple[bytes, str]:
    """Make a listing of `count` tools as servers have them, names made unique; and where they come from."""
    files = sorted(CORPUS.glob("listings*/*.json"))
    if not files:
        return listing(_made(size) for size in itertools.islice(itertools.cycle(SIZES), count)), "of corpus sizes"
    tools = itertools.chain.from_iterable(json.loads(file.read_bytes())["result"]["tools"] for file in files)
    return listing(itertools.islice(itertools.cycle(list(tools)), count)), "corpus tools"


def minimal(count: int) -> bytes:
    """Make a listing of tools of 120 bytes each."""
    return listing(_minimal() for _ in range(count))


def of_size(count: int, size: int) -> bytes:
    """Make a listing of tools of about `size` bytes each."""
    return listing(_made(size) for _ in range(count))


def listing(tools: Iterator[dict[str, object]]) -> bytes:
    """Write tools as the result of `tools/list`, each name with its number."""
    written = (
        json.dumps({**tool, "name": f"{tool['name']}_{index:05}"}, ensure_ascii=False, separators=(",", ":"))
        for index, tool in enumerate(tools)
    )
    return b'{"tools":[' + ",".join(written).encode() + b"]}"


def _minimal() -> dict[str, object]:
    tool: dict[str, object] = {"name": "tool", "description": "", "inputSchema": {"type": "object", "properties": {}}}
    # `_12345` comes behind the name.
    tool["description"] = "x" * (120 - 6 - len(json.dumps(tool, separators=(",", ":"))))
    return tool


def _made(size: int) -> dict[str, object]:
    """Make a tool with as many described properties as `size` bytes take."""
    words = random.Random(size)  # noqa: S311 - text that compresses like text, the same in every run
    properties: dict[str, object] = {}
    schema = {"type": "object", "properties": properties, "required": []}
    tool = {"name": "made_tool", "description": "Does what it says, and nothing else.", "inputSchema": schema}
    while len(json.dumps(tool, separators=(",", ":"))) + 150 < size:
        name = f"{words.choice(('path', 'query', 'limit', 'owner', 'filter'))}_{len(properties)}"
        text = " ".join(words.choice(("the", "value", "of", "a", "file", "to", "read")) for _ in range(12))
        properties[name] = {"type": "string", "description": text, "default": "", "maxLength": 1000}
    return {**tool, "description": str(tool["description"]) + "." * max(0, size - len(json.dumps(tool)) - 6)}
