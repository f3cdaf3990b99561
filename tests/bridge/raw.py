"""What the tests of this folder share: a raw server behind `toolwire.connect`, its listings and its answers."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import pytest

import toolwire
from toolwire import Connection, InvalidToolInput, Tool, ToolFailure, Toolset
from toolwire.contract.arguments import Arguments
from toolwire.errors import quoted
from toolwire.testing import Answer, RawServer, listing, result

OLD: Final = "2025-11-25"
NEW: Final = "2026-07-28"
ERAS: Final = (OLD, NEW)
PATIENCE: Final = 30
"""Seconds after which a test that hangs is ended: a guard, never a measure."""

on_both_loops: Final = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])

OBJ: Final = b'{"type":"object"}'
OK: Final = b'{"content":[{"type":"text","text":"ok"}]}'
Answers = Mapping[str, Answer | Sequence[Answer]]


def entry(name: str | bytes, schema: bytes | None = OBJ, more: bytes = b"") -> bytes:
    """Write one listed tool; a name in bytes is its JSON, `more` are further members."""
    spelled = name if isinstance(name, bytes) else toolwire._core.quote(name)
    members = b"" if schema is None else b',"inputSchema":' + schema
    return b'{"name":' + spelled + members + (b"," + more if more else b"") + b"}"


def text(value: str) -> bytes:
    """Write a result with one text block."""
    return b'{"content":[{"type":"text","text":' + toolwire._core.quote(value) + b"}]}"


def answers_in_turn(*bodies: bytes) -> list[Answer]:
    """Give one answer a call, each with this `result`, byte for byte."""
    return [result(body, verbatim=True) for body in bodies]


@asynccontextmanager
async def connected(answers: Answers, *, era: str = OLD, **options: Any) -> AsyncIterator[tuple[RawServer, Connection]]:
    """Start a raw server with these answers and connect to it; `PATIENCE` guards all that is done with it."""
    with anyio.fail_after(PATIENCE), RawServer(answers, era=era) as server:
        async with toolwire.connect(server.argv, **options) as connection:
            yield server, connection


@asynccontextmanager
async def imported(
    *entries: bytes,
    calls: Answer | Sequence[Answer] = b"",
    era: str = OLD,
    limits: Mapping[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[tuple[RawServer, Toolset]]:
    """Import the tools of a raw server that lists these entries and answers its calls so."""
    answers: Answers = {"tools/list": listing(*entries), "tools/call": calls or result(OK)}
    async with connected(answers, era=era, **(limits or {})) as (server, connection):
        yield server, await toolwire.tools(connection, **options)


async def refused(tool: Tool, arguments: Arguments) -> str:
    """Say why these arguments are refused before the wire, without the words that every such refusal begins with."""
    with pytest.raises(ToolFailure) as caught:
        await tool.call(arguments)
    failure = caught.value
    assert (failure.kind, failure.remote, failure.output) == ("invalid_input", False, None)
    assert isinstance(failure.cause, InvalidToolInput)
    head = f"INVALID_INPUT: tool {quoted(tool.name)}: "
    assert str(failure).startswith(head)
    return str(failure).removeprefix(head)


def report(toolset: Toolset) -> list[tuple[str, int, str]]:
    """Give the skipped entries as plain tuples."""
    return [(record.name, record.index, str(record.error)) for record in toolset.skipped]


def arguments_of(line: bytes) -> bytes:
    """Cut the bytes of `params.arguments` out of a received line, where the SDK's and toolwire's lines have them."""
    start = line.index(b'"arguments":') + len(b'"arguments":')
    end = line.rindex(b',"_meta":') if b',"_meta":' in line else len(line) - 2
    return line[start:end]
