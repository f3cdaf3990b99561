"""What a handler returns, as a client gets it: compact, exact, and never what JSON cannot say (fault D20)."""

import collections
import dataclasses
import datetime as dt
import math
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from mcp.server.lowlevel import Server
from pydantic import BaseModel, Field, field_serializer

import toolwire
from tests.serving.raw_client import ERAS, HANDSHAKE, MODERN, served, text_of
from toolwire import MediaPart, TextPart, Tool, ToolFailure, ToolOutput


class Order(BaseModel):
    zeta: str = Field(serialization_alias="Z")
    alpha: float = 1.0
    none: str | None = None


class Colour(Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    y: float
    x: float


def gives(value: Any, annotation: Any = Any) -> Tool:
    """A tool that returns a value under an annotation."""

    async def give() -> Any:
        return value

    give.__annotations__["return"] = annotation
    return toolwire.tool(give)


VALUES: list[tuple[Any, Any, str]] = [
    (str, "sunny in Paris", "sunny in Paris"),
    (str, "", ""),
    (str, '{"not":"parsed"}', '{"not":"parsed"}'),
    (int, 3, "3"),
    (float, 1.0, "1.0"),
    (float, 1e22, "1e+22"),
    (float, 0.1, "0.1"),
    (bool, True, "true"),
    (int | None, None, "null"),
    (str | None, "a", '"a"'),
    (int, 2**100, str(2**100)),
    (list[Any], [], "[]"),
    (dict[str, Any], {"b": 1, "a": {"é": '"<>&'}}, '{"b":1,"a":{"é":"\\"<>&"}}'),
    (Order, Order(zeta="z"), '{"Z":"z","alpha":1.0,"none":null}'),
    (Point, Point(1, 2.5), '{"y":1,"x":2.5}'),
    (list[Point], [Point(1, 2)], '[{"y":1,"x":2}]'),
    (Colour, Colour.RED, '"red"'),
    (Decimal, Decimal("19.990000000000000001"), '"19.990000000000000001"'),
    (dt.date, dt.date(2026, 7, 28), '"2026-07-28"'),
    (uuid.UUID, uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
    (bytes, b"abc", '"abc"'),
    (tuple[int, str], (1, "a"), '[1,"a"]'),
    (Any, "text", '"text"'),
]


@pytest.mark.parametrize(("annotation", "value", "text"), VALUES)
async def test_a_value_is_compact_json_in_the_order_of_its_declaration(annotation: Any, value: Any, text: str) -> None:
    """Rows B17 to B20; floats in Python's shortest form (design 4.4)."""
    output = await gives(value, annotation).call(b"{}")
    assert output.text == text
    assert output.structured == (None if annotation is str else text.encode())


@pytest.mark.parametrize("annotation", [None, type(None)])
async def test_without_a_promise_a_value_that_is_no_text_is_json_all_the_same(annotation: Any) -> None:
    output = await gives({"n": 1}, annotation).call(b"{}")
    assert (output.text, output.structured) == ('{"n":1}', None)


class Measured(BaseModel):
    name: str
    ratio: float
    more: dict[str, Any] = {}


class Odd(Enum):
    NOT = math.nan


def measured() -> Iterator[float]:
    yield 1.0
    yield math.nan


class Softened(BaseModel):
    ratio: float

    @field_serializer("ratio")
    def soften(self, value: float) -> float | None:
        return value if math.isfinite(value) else None


NOT_FINITE: list[tuple[Any, str]] = [
    (math.nan, "the value: NaN is no JSON"),
    ({"x": math.inf}, 'field "x": Infinity is no JSON'),
    ({"x": [1, {"y": -math.inf}]}, 'field "x.1.y": -Infinity is no JSON'),
    (Point(1, math.nan), 'field "x": NaN is no JSON'),
    (Measured(name="a", ratio=math.nan), 'field "ratio": NaN is no JSON'),
    (Measured(name="a", ratio=1, more={"k": [math.inf]}), 'field "more.k.0": Infinity is no JSON'),
    ([Measured(name="a", ratio=math.nan)], 'field "0.ratio": NaN is no JSON'),
    ({"k": Measured(name="a", ratio=-math.inf)}, 'field "k.ratio": -Infinity is no JSON'),
    (Odd.NOT, "the value: NaN is no JSON"),
    ({"x": collections.deque([math.inf])}, 'field "x.0": Infinity is no JSON'),
    (Decimal("NaN"), "the value: NaN is no JSON"),
    ([Decimal("-Infinity")], 'field "0": -Infinity is no JSON'),
]


@pytest.mark.parametrize(("value", "problem"), NOT_FINITE)
async def test_d20_nan_and_infinity_are_an_error_that_names_the_path(value: Any, problem: str) -> None:
    """Never null, and never letters on the wire: not in a model either, which pydantic would write as null."""
    with pytest.raises(ToolFailure) as caught:
        await gives(value).call(b"{}")
    assert str(caught.value) == f'marshal output of tool "give": {problem}'


@pytest.mark.parametrize("annotation", [Any, None])
@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (measured, 'field "1": NaN is no JSON'),
        (lambda: {"a": measured()}, 'field "a.1": NaN and Infinity are not JSON'),
        (lambda: iter(["a", "cut \ud83d"]), 'field "1": half of a surrogate pair in the text'),
    ],
)
async def test_what_an_iterator_gave_is_judged_too(make: Callable[[], Any], problem: str, annotation: Any) -> None:
    """It is empty by the time that somebody looks for what is wrong in it."""
    with pytest.raises(ToolFailure) as caught:
        await gives(make(), annotation).call(b"{}")
    assert str(caught.value) == f'marshal output of tool "give": {problem}'


async def test_a_null_that_a_serializer_made_and_letters_in_a_text_are_nobodys_fault() -> None:
    assert await gives(Softened(ratio=math.nan)).invoke(b"{}") == '{"ratio":null}'
    assert await gives({"a": "NaN", "b": "Infinity", "c": None}).invoke(b"{}") == '{"a":"NaN","b":"Infinity","c":null}'
    assert await gives({"a": iter(["NaN"])}).invoke(b"{}") == '{"a":["NaN"]}'
    assert await gives("NaN", str).invoke(b"{}") == "NaN"


def loop() -> Any:
    around: list[Any] = []
    around.append({"again": around})
    return around


NO_DATA: list[tuple[Callable[[], Any], str]] = [
    (lambda: {"a": "cut \ud83d"}, 'field "a": half of a surrogate pair in the text'),
    (lambda: {"a": {"\udc00": 1}}, 'field "a": half of a surrogate pair in a member\'s name'),
    (object, "Unable to serialize unknown type: <class 'object'>"),
    (loop, "it contains itself"),
    (lambda: b"\xff", "invalid utf-8 sequence of 1 bytes from index 0"),
]


@pytest.mark.parametrize(("make", "problem"), NO_DATA)
async def test_what_is_no_data_is_an_error_of_that_call(make: Callable[[], Any], problem: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        await gives(make()).call(b"{}")
    assert str(caught.value).startswith('marshal output of tool "give": ')
    assert problem in str(caught.value)


async def test_half_of_a_surrogate_pair_in_a_text_is_refused_the_same_way() -> None:
    with pytest.raises(ToolFailure) as caught:
        await gives("cut \ud83d", str).call(b"{}")
    assert str(caught.value) == 'marshal output of tool "give": half of a surrogate pair in the text'


@pytest.mark.parametrize("value", [TextPart("cut \ud83d"), [TextPart("a"), TextPart("\udc00")], ToolOutput("\ud83d")])
async def test_half_of_a_surrogate_pair_in_a_part_is_refused_by_whoever_calls(value: Any) -> None:
    with pytest.raises(ToolFailure) as caught:
        await gives(value, ToolOutput).call(b"{}")
    assert str(caught.value) == 'marshal output of tool "give": half of a surrogate pair in the text'


@pytest.mark.parametrize("era", ERAS)
async def test_half_of_a_surrogate_pair_in_a_structured_value_is_never_written(era: str) -> None:
    """As an escape it is legal grammar, and most readers lose the whole message over it."""
    server: Server[Any] = Server("s")
    half, whole = b'{"a":"cut \\ud83d"}', b'{"a":"\\ud83d\\ude00 \\\\ud83d"}'
    toolwire.add_tools(
        server,
        Tool.raw("promised", "", None, raw(half.decode()), output_schema=b'{"type":"object"}'),
        Tool.raw("given", "", None, lambda _: ToolOutput("text", structured=half)),
        Tool.raw("whole", "", None, lambda _: ToolOutput("text", structured=whole)),
        Tool.raw("block", "", None, lambda _: TextPart("", raw=b'{"type":"odd","x":"\\ud83d"}')),
    )
    async with served(server) as client:
        await client.open(era)
        for name in ("promised", "given"):
            result = await client.call(era, name)
            problem = "half of a surrogate pair in the structured value"
            assert (text_of(result), result["isError"]) == (f'marshal output of tool "{name}": {problem}', True)
            assert "structuredContent" not in result
        await client.call(era, "whole")
        assert whole in client.lines[-1]
        await client.call(era, "block")
        assert b'{"type":"odd","x":"\\ufffd"}' in client.lines[-1]


def test_a_structured_value_that_is_no_json_cannot_be_made() -> None:
    for broken in (b"{bad", b"NaN", b'{"a":1} x', b" "):
        with pytest.raises(ValueError, match=r"^the structured value is no JSON: "):
            ToolOutput("text", structured=broken)


IMAGE = MediaPart(b"\x89PNG", block="image", mime_type="image/png")
PARTS: list[tuple[Any, list[bytes]]] = [
    (TextPart("a"), [b'{"type":"text","text":"a"}']),
    (
        [TextPart("a"), IMAGE],
        [b'{"type":"text","text":"a"}', b'{"type":"image","data":"iVBORw==","mimeType":"image/png"}'],
    ),
    (
        (MediaPart(b"x", block="resource", uri="n://1"),),
        [b'{"type":"resource","resource":{"uri":"n://1","mimeType":"application/octet-stream","blob":"eA=="}}'],
    ),
    (
        TextPart("# T", block="resource", uri="n://1", mime_type="text/markdown"),
        [b'{"type":"resource","resource":{"uri":"n://1","mimeType":"text/markdown","text":"# T"}}'],
    ),
    (
        MediaPart(None, block="resource_link", uri="n://3", name="r"),
        [b'{"type":"resource_link","uri":"n://3","name":"r"}'],
    ),
    (TextPart("", raw=b'{"type":"odd","x":1.50}'), [b'{"type":"odd","x":1.50}']),
    (ToolOutput("a", parts=[]), []),
]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("value", "blocks"), PARTS)
async def test_d16_parts_are_blocks_in_their_order(value: Any, blocks: list[bytes], era: str) -> None:
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, gives(value, ToolOutput))
    async with served(server) as client:
        await client.open(era)
        await client.call(era, "give")
        assert b'"content":[' + b",".join(blocks) + b'],"isError":false' in client.lines[-1]


async def test_d8_an_empty_list_is_one_text_block() -> None:
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, gives([], list[int]))
    async with served(server) as client:
        await client.open(MODERN)
        assert text_of(await client.call(MODERN, "give")) == "[]"


def raw(text: str) -> Callable[[bytes], str]:
    return lambda _: text


@pytest.mark.parametrize("era", ERAS)
async def test_e13_a_broken_promise_is_an_error_that_says_so(era: str) -> None:
    server: Server[Any] = Server("s")
    promise = b'{"type":"object"}'
    toolwire.add_tools(
        server,
        Tool.raw("badge", "", None, raw("badge granted"), output_schema=promise),
        Tool.raw("kept", "", None, raw('{"a":1.50, "b":-0}'), output_schema=promise),
        gives(ToolOutput("no JSON"), int),
    )
    async with served(server) as client:
        await client.open(era)
        for name in ("badge", "give"):
            result = await client.call(era, name)
            assert result["isError"] is True
            assert "structuredContent" not in result
            assert text_of(result) == (
                f'tool "{name}" advertised an output schema, so its result must be JSON; got non-JSON text'
            )
        await client.call(era, "kept")
        assert b'"structuredContent":{"a":1.50, "b":-0},"isError":false' in client.lines[-1]
        assert await Tool.raw("x", "", None, raw("free text")).invoke() == "free text"


@pytest.mark.parametrize(("value", "carried"), [(5, b"5"), ("text", b'"text"'), ([1.0], b"[1.0]"), (None, b"null")])
async def test_a_value_that_is_no_object_is_structured_from_2026_on(value: Any, carried: bytes) -> None:
    """Before, one such value would fail the whole call at the client; its text stays (design 2)."""
    server: Server[Any] = Server("s")
    toolwire.add_tools(server, gives(value))
    for era in ERAS:
        async with served(server) as client:
            await client.open(era)
            assert text_of(await client.call(era, "give")).encode() == carried
            assert (b'"structuredContent":' + carried in client.lines[-1]) == (era != HANDSHAKE)
