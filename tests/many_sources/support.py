"""What the tests of this folder share: discovered tools of a raw server, or of an SDK server in this process."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server

import toolwire
from tests.bridge.raw import OBJ, OK, OLD, PATIENCE, Answers, connected, entry
from toolwire import Connection, RemoteCallError, ResultError, Source, Tool, ToolOutput, Toolset, _core
from toolwire.errors import ContentError
from toolwire.testing import Answer, RawServer, listing, result

FIXED = {"code": -32603, "message": "tool call did not produce a valid result"}


@asynccontextmanager
async def discovered(
    *entries: bytes,
    calls: Answer | Sequence[Answer] = b"",
    era: str = OLD,
    source: str = "src",
    connecting: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[tuple[RawServer, Toolset]]:
    """Discover the tools of a raw server that lists these entries and answers its calls so."""
    answers: Answers = {
        "tools/list": listing(*(entries or (entry("t"),))),
        "tools/call": calls or result(OK, verbatim=True),
    }
    async with connected(answers, era=era, **(connecting or {})) as (server, connection):
        yield server, await toolwire.discover([Source(source, connection)], **options)


@asynccontextmanager
async def in_process(
    server: Any, era: str = OLD, *, source: str = "src", connecting: dict[str, Any] | None = None, **options: Any
) -> AsyncIterator[tuple[Connection, Toolset]]:
    """Discover the tools of an SDK server in this process, over the byte channel of both wires."""
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(server, mode=mode(era), **(connecting or {})) as connection:
            yield connection, await toolwire.discover([Source(source, connection)], **options)


def mode(era: str) -> Any:
    """The SDK client's mode for an era."""
    return "legacy" if era == OLD else era


@asynccontextmanager
async def registered(*tools: Any, era: str = OLD, **options: Any) -> AsyncIterator[tuple[Connection, Toolset]]:
    """Register tools on a server of the SDK, connect to it and discover them."""
    server: Server[Any] = Server("registered", version="1")
    toolwire.register(server, *tools)
    async with in_process(server, era, **options) as found:
        yield found


async def read_block(block: bytes) -> ToolOutput:
    """The output of a call that answers with one block, through a process, a wire and the codec."""
    return await read_result(b'{"content":[%s]}' % block)


async def read_result(body: bytes, schema: bytes | None = None, era: str = OLD) -> ToolOutput:
    """The output of a call that answers with this result; `schema` is the tool's output schema."""
    more = b"" if schema is None else b'"outputSchema":' + schema
    async with discovered(entry("t", more=more), calls=result(body, verbatim=True), era=era) as (_, tools):
        return await tools[0].call(b"{}")


async def broken_block(block: bytes) -> ContentError:
    """Why a block cannot be read: the error of a call between two good texts, which both stand on its output."""
    good = b'{"type":"text","text":"good"}'
    body = b'{"content":[%s,%s,%s]}' % (good, block, good)
    with pytest.raises(ResultError) as caught:
        await read_result(body)
    error = caught.value
    assert [part.text for part in error.output.parts] == ["good", "good"]
    assert error.raw == error.output.raw == body
    assert error.may_have_run
    cause = error.cause
    assert isinstance(cause, ContentError)
    assert str(error) == f"mcp: tool content[1]: {cause}"
    assert error.__cause__ is cause
    return cause


def raw_tool(answer: ToolOutput | Exception, name: str = "t") -> Tool:
    """A local tool that gives this output, or raises this."""

    async def handler(arguments: bytes) -> ToolOutput:
        del arguments
        if isinstance(answer, Exception):
            raise answer
        return answer

    return Tool.raw(name, "", OBJ, handler)


class Duck:
    """A tool of anybody's: `definition()` and `call()`, and what it raises is its own."""

    def __init__(self, answer: Any, name: str = "t", schema: Any = None) -> None:
        self.answer = answer
        self.name = name
        self.schema = {"type": "object"} if schema is None else schema
        self.read = 0
        self.calls: list[bytes] = []

    def definition(self) -> dict[str, Any]:
        self.read += 1
        return {"name": self.name, "description": "a duck", "input_schema": self.schema}

    async def call(self, invocation: Any) -> Any:
        self.calls.append(invocation.arguments)
        answer = self.answer(invocation) if callable(self.answer) else self.answer
        if isinstance(answer, BaseException):
            raise answer
        return answer


async def refused_at_server(tool: Tool, arguments: bytes = b"{}") -> None:
    """A call ends with the fixed protocol error and nothing beside it."""
    with pytest.raises(RemoteCallError) as caught:
        await tool.call(arguments)
    error = caught.value
    assert (error.code, error.data) == (FIXED["code"], None)
    assert str(FIXED["message"]) in str(error)


def same(left: bytes, right: bytes) -> bool:
    """Equal as JSON, numbers by spelling and members in any order."""
    return bool(_spelled(left) == _spelled(right))


def _spelled(text: bytes) -> Any:
    return json.loads(text, parse_int=lambda number: ("n", number), parse_float=lambda number: ("n", number))


def value(part: Any, key: str = "mcp/content") -> Any:
    """A part's metadata, decoded."""
    return json.loads(part.metadata[key])


def equal(left: bytes, right: bytes) -> bool:
    """Equal as JSON with exact numbers."""
    return _core.equal(left, right)
