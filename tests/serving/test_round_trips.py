"""Spec one-session, rows H14 to H18: a tool served and imported again is the same tool, byte for byte, in both eras.

Beside them what real servers list and answer: the corpus, where it stands, goes through both lanes too.
"""

import datetime as dt
import functools
import json
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from mcp.server.lowlevel import Server
from pydantic import BaseModel, Field

import toolwire
from tests.core.corpus import files, line, needs_corpus
from tests.serving.parity import compare, opening
from tests.serving.raw_client import ERAS, MODERN, call_line, request_line
from toolwire import Tool, ToolOutput, _core
from toolwire.contract.policies import Settings
from toolwire.contract.remote_output import RemoteOutput

ONE_LOOP = pytest.mark.parametrize("anyio_backend", ["asyncio"])
MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])


async def again(*tools: Tool, mode: str = "auto") -> list[tuple[Tool, Tool, Any]]:
    """Each tool beside what comes back when it is served and imported; the connection is closed by then."""
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, *tools)
    async with toolwire.connect(server, mode=mode) as connection:
        imported = await toolwire.tools(connection)
        imported.raise_for_skipped()
        return [(tool, imported[tool.name], connection) for tool in tools]


class Order(BaseModel):
    z: str
    a: str


@toolwire.tool
async def lookup_order(order_id: str, verbose: bool = False) -> Order:
    """Look an order up."""
    return Order(z=f"z{verbose}", a=order_id)


@MODES
async def test_h14_h17_a_typed_tool_is_the_same_tool_and_says_the_same_text(mode: str) -> None:
    """The unknown member is ignored on both sides; members keep the order of their declaration (row H17)."""
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, lookup_order)
    async with toolwire.connect(server, mode=mode) as connection:
        imported = (await toolwire.tools(connection))["lookup_order"]
        assert imported.definition_json == lookup_order.definition_json
        assert imported.fingerprint == lookup_order.fingerprint
        given = b'{"order_id":"1234","extra":"ignored"}'
        here, there = await lookup_order.call(given), await imported.call(given)
        assert here.text == there.text == '{"z":"zFalse","a":"1234"}'
        assert here.structured == there.structured == here.text.encode()


@MODES
async def test_h15_a_raw_tool_is_the_same_tool_and_says_the_same_text(mode: str) -> None:
    schema = b'{"type":"object","properties":{"uri":{"type":"string","pattern":"^https://"}},"required":["uri"]}'
    parse = Tool.raw("parse_invoice", "parses", schema, lambda given: f"parsed {given.decode()}")
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, parse)
    async with toolwire.connect(server, mode=mode) as connection:
        imported = (await toolwire.tools(connection))["parse_invoice"]
        assert imported.input_schema.raw == schema
        given = b'{"uri":"https://x/i.pdf"}'
        assert await parse.invoke(given) == await imported.invoke(given) == 'parsed {"uri":"https://x/i.pdf"}'


class Colour(Enum):
    RED = "red"


class Tree(BaseModel):
    name: str
    below: list["Tree"] = []
    more: dict[str, "Tree"] | None = None


@dataclass
class Point:
    x: float
    y: float = 0.0


class Nothing(BaseModel):
    pass


SHAPES: list[Any] = [
    str, int, float, bool, bytes, Any, None, dt.datetime, dt.date, dt.timedelta, Decimal, Colour, Literal["a", 1],
    int | None, str | int, list[int], list[list[str]], tuple[int, str], set[str], dict[str, int], dict[str, Any],
    Point, Tree, Nothing, list[Tree], dict[str, Point] | None, Annotated[int, Field(ge=1, description='quoted "é"\n')],
    Annotated[str, Field(pattern="^[a-z]+\\d$", examples=["a1"])], Annotated[list[int], Field(min_length=1)],
]  # fmt: skip


def shaped(number: int, shape: Any) -> Tool:
    async def handler(required: Any, optional: Any = None) -> Any:
        return [required, optional]

    handler.__annotations__.update(required=shape, optional=shape, **{"return": shape})
    return toolwire.tool(handler, name=f"shape_{number}", description=f"{shape}")


@MODES
async def test_h16_every_shape_survives_out_and_in_byte_for_byte(mode: str) -> None:
    tools = [shaped(number, shape) for number, shape in enumerate(SHAPES)]
    for before, after, _ in await again(*tools, mode=mode):
        assert after.input_schema.raw == before.input_schema.raw
        assert after.description == before.description
        promised = _core.members(before.definition_json).get("outputSchema")
        carried = _core.members(after.definition_json).get("outputSchema")
        rooted = promised is not None and json.loads(promised).get("type") == "object"
        assert carried == (promised if mode == "auto" or rooted else None)
        assert toolwire.Schema.parse(after.input_schema.raw).raw == before.input_schema.raw


@MODES
async def test_h18_no_schema_crosses_as_the_empty_one(mode: str) -> None:
    ((_, after, _),) = await again(Tool.raw("bare", "", None, bytes.decode), mode=mode)
    assert after.input_schema.raw == b'{"type":"object"}'


class Silent:
    """Carries no call."""

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        raise NotImplementedError


@needs_corpus
@ONE_LOOP
@pytest.mark.parametrize("name", files("listings"))
async def test_a_real_listing_leaves_both_lanes_as_it_came(name: str) -> None:
    """Every entry that an era can say, with all its members but `execution`; odd ones are left out, not changed."""
    page = _core.read_page(_core.members(line("listings", name))["result"])
    entries = [entry for entry in page.entries if entry.fault is None]

    def make() -> Server[Any]:
        server: Server[Any] = Server("s")
        toolwire.add_tools(server, *(Tool(entry.name, entry, Settings(origin="mcp"), Silent()) for entry in entries))
        return server

    for era in ERAS:
        compared = await compare(make, [*opening(era), [request_line(era, "tools/list")]])
        result = _core.members(compared.express.answers[-1][-1])["result"]
        listed = {entry.name: _core.members(entry.text) for entry in _core.read_page(result).entries}
        for entry in entries:
            told = _core.members(entry.text)
            kept = listed[entry.name]
            assert kept["inputSchema"] == told["inputSchema"]
            assert kept.items() <= told.items()
            left_out = told.keys() - kept.keys() - {"execution"}
            assert all(told[member] == b"null" or era != MODERN for member in left_out) or left_out <= {"outputSchema"}


def given_back(answer: _core.CallResult, arguments: bytes) -> ToolOutput:
    del arguments
    return RemoteOutput(answer)


@needs_corpus
@pytest.mark.parametrize("era", ERAS)
async def test_real_results_leave_both_lanes_alike(era: str) -> None:
    """Each answer that the corpus holds, given by a tool of ours: content, structured value and `_meta` to the byte."""
    answers = {}
    for name in files("results"):
        result = _core.members(line("results", name)).get("result")
        if result is not None and b'"content"' in result:
            answers[name] = _core.read_result(result)
    assert answers

    def make() -> Server[Any]:
        server: Server[Any] = Server("s")
        for name, answer in answers.items():
            toolwire.add_tools(server, Tool.raw(name, "", None, functools.partial(given_back, answer)))
        return server

    steps = [[call_line(era, name, identifier=number)] for number, name in enumerate(answers)]
    compared = await compare(make, [*opening(era), *steps])
    assert compared.express.express_calls == len(answers)
    assert compared.express.answers == compared.sdk.answers
    for answer, lines in zip(answers.values(), compared.express.answers[len(opening(era)) :], strict=True):
        told = _core.members(_core.members(lines[-1])["result"])
        assert told["content"] == answer.content
        if era == MODERN or (answer.structured or b"{").startswith(b"{"):
            assert told.get("structuredContent") == answer.structured
        assert json.loads(told["isError"]) == answer.is_error


SAMPLES = {"string": b'"\\u00e9 <&>"', "integer": b"12345678901234567890", "number": b"1.50", "boolean": b"true"}


def sampled(schema: toolwire.Schema) -> bytes:
    """Arguments that name every property, in bytes that a decoder would spell otherwise."""
    values = ((name, SAMPLES.get(found.type, b'{ "x" : [1E400, -0] }')) for name, found in schema.properties.items())
    return b"{" + b", ".join(_core.quote(name) + b" :" + value for name, value in values) + b"}"


@needs_corpus
@ONE_LOOP
@pytest.mark.parametrize("name", files("listings"))
async def test_arguments_for_real_tools_reach_both_lanes_to_the_byte(name: str) -> None:
    page = _core.read_page(_core.members(line("listings", name))["result"])
    real = {entry.name: entry.input_schema for entry in page.entries if entry.fault is None and entry.input_schema}
    tools = [Tool.raw(name, "", schema, bytes.decode) for name, schema in [*real.items()][:30]]

    def make() -> Server[Any]:
        server: Server[Any] = Server("s")
        toolwire.add_tools(server, *tools)
        return server

    given = [sampled(tool.input_schema) for tool in tools]
    steps = [[call_line(MODERN, tool.name, arguments)] for tool, arguments in zip(tools, given, strict=True)]
    compared = await compare(make, [*opening(MODERN), *steps])
    assert compared.express.express_calls == len(tools)
    echoed = [answer["result"]["content"][0]["text"].encode() for answer in compared.answers[1:]]
    assert echoed == given
