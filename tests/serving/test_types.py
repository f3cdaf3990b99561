"""Types of every kind, as parameters and as results: what is advertised is what is decoded."""

import dataclasses
import datetime as dt
import re
import uuid
from collections.abc import Awaitable, Coroutine, Iterable, Iterator
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal, NoReturn, Optional, Union

import pytest
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field
from typing_extensions import TypedDict

import toolwire
from toolwire import TextPart, Tool, ToolFailure, ToolOutput


class Colour(Enum):
    RED = "red"
    TWO = 2


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    good: bool = True


class Tree(BaseModel):
    name: str
    below: list["Tree"] = []


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


class Where(TypedDict):
    city: str


def takes(annotation: Any, default: Any = ...) -> Tool:
    """A tool with one parameter `x` of a type; it says what it got."""

    async def take(x: Any) -> str:
        return repr(x)

    take.__annotations__["x"] = annotation
    if default is not ...:
        take.__defaults__ = (default,)
    return toolwire.tool(take)


def advertised(tool: Tool) -> bytes:
    """The schema of `x`."""
    return tool.input_schema.properties["x"].raw


DECIMAL = b'{"anyOf":[{"type":"number"},{"type":"string"}]}'
LISTED = b'{"items":%s,"type":"array"}' % DECIMAL
EITHER = b'{"anyOf":[%s,{"additionalProperties":%s,"type":"object"}]}' % (LISTED, LISTED)
PETS = b'{"anyOf":[{"$ref":"#/$defs/Cat"},{"$ref":"#/$defs/Dog"}]}'
PAIR = b'{"maxItems":2,"minItems":2,"prefixItems":[{"type":"integer"},{"type":"string"}],"type":"array"}'
COUNT = b'{"description":"how many","minimum":1,"type":"integer"}'
A_TREE = "Tree(name='a', below=[Tree(name='b', below=[])])"
A_UUID = "00000000-0000-0000-0000-000000000001"
TREE = (
    b'"properties":{"name":{"type":"string"},"below":{"default":[],"items":{"$ref":"#/$defs/Tree"},"type":"array"}},'
    b'"required":["name"],"type":"object"'
)

SHAPES: list[tuple[Any, bytes, bytes, str]] = [
    (str, b'{"type":"string"}', b'"a"', "'a'"),
    (int, b'{"type":"integer"}', b"123456789012345678901234567890", "123456789012345678901234567890"),
    (float, b'{"type":"number"}', b"1", "1.0"),
    (bool, b'{"type":"boolean"}', b"true", "True"),
    (Any, b"{}", b'{"a":[1]}', "{'a': [1]}"),
    (int | None, b'{"anyOf":[{"type":"integer"},{"type":"null"}]}', b"null", "None"),
    (Optional[str], b'{"anyOf":[{"type":"string"},{"type":"null"}]}', b'"null"', "'null'"),  # noqa: UP045 - tested as spelled
    (Union[int, str], b'{"anyOf":[{"type":"integer"},{"type":"string"}]}', b'"5"', "'5'"),  # noqa: UP007 - the same
    (Literal["a", "b"], b'{"enum":["a","b"],"type":"string"}', b'"b"', "'b'"),
    (Colour, b'{"$ref":"#/$defs/Colour"}', b"2", "<Colour.TWO: 2>"),
    (Level, b'{"$ref":"#/$defs/Level"}', b"1", "<Level.LOW: 1>"),
    (list[int], b'{"items":{"type":"integer"},"type":"array"}', b"[1,2]", "[1, 2]"),
    (set[int], b'{"items":{"type":"integer"},"type":"array","uniqueItems":true}', b"[1]", "{1}"),
    (tuple[int, str], PAIR, b'[1,"a"]', "(1, 'a')"),
    (dict[str, int], b'{"additionalProperties":{"type":"integer"},"type":"object"}', b'{"a":1}', "{'a': 1}"),
    (Decimal, DECIMAL, b"19.990000000000000001", "Decimal('19.990000000000000001')"),
    (Decimal, DECIMAL, b"1.50", "Decimal('1.50')"),
    (Decimal, DECIMAL, b'"1e400"', "Decimal('1E+400')"),
    (dt.date, b'{"format":"date","type":"string"}', b'"2026-07-28"', "datetime.date(2026, 7, 28)"),
    (dt.timedelta, b'{"format":"duration","type":"string"}', b'"P1D"', "datetime.timedelta(days=1)"),
    (uuid.UUID, b'{"format":"uuid","type":"string"}', f'"{A_UUID}"'.encode(), f"UUID('{A_UUID}')"),
    (bytes, b'{"format":"binary","type":"string"}', '"é"'.encode(), r"b'\xc3\xa9'"),
    (Point, b'{"$ref":"#/$defs/Point"}', b'{"x":1}', "Point(x=1.0, y=0.0)"),
    (Where, b'{"$ref":"#/$defs/Where"}', b'{"city":"Oslo"}', "{'city': 'Oslo'}"),
    (Cat | Dog, PETS, b'{"kind":"dog"}', "Dog(kind='dog', good=True)"),
    (Tree, b'{"$ref":"#/$defs/Tree"}', b'{"name":"a","below":[{"name":"b"}]}', A_TREE),
    (Annotated[int, Field(ge=1, description="how many")], COUNT, b"1", "1"),
    (Annotated[str, BeforeValidator(str)], b'{"type":"string"}', b"5", "'5'"),
    (list[Decimal] | dict[str, list[Decimal]], EITHER, b'{"a":[1.50,2]}', "{'a': [Decimal('1.50'), Decimal('2')]}"),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "schema", "argument", "seen"), SHAPES)
async def test_a_type_is_advertised_and_decoded(annotation: Any, schema: bytes, argument: bytes, seen: str) -> None:
    tool = takes(annotation)
    assert advertised(tool) == schema
    assert await tool.invoke(b'{"x":%s}' % argument) == seen


def test_titles_that_nobody_wrote_are_left_out_and_written_ones_stay() -> None:
    class Titled(BaseModel):
        """A thing."""

        a: int = Field(title="The A")

    properties = b'"properties":{"a":{"title":"The A","type":"integer"}}'
    titled = b'{"description":"A thing.",%s,"required":["a"],"type":"object"}' % properties
    rest = b'"properties":{"x":{"$ref":"#/$defs/Titled"}},"required":["x"]'
    assert takes(Titled).input_schema.raw == b'{"type":"object","$defs":{"Titled":%s},%s}' % (titled, rest)


OUTPUTS: list[tuple[Any, bytes | None]] = [
    (str, None),
    (None, None),
    (NoReturn, None),
    (Annotated[str, Field(description="text")], None),
    (Awaitable[str], None),
    (ToolOutput, None),
    (TextPart, None),
    (list[TextPart], None),
    (TextPart | None, None),
    (int, b'{"type":"integer"}'),
    (Coroutine[Any, Any, int], b'{"type":"integer"}'),
    (Any, b"{}"),
    (bytes, b'{"format":"binary","type":"string"}'),
    (Decimal, b'{"type":"string"}'),
    (list[int], b'{"items":{"type":"integer"},"type":"array"}'),
    (
        Point,
        b'{"properties":{"x":{"type":"number"},"y":{"default":0.0,"type":"number"}},"required":["x"],"type":"object"}',
    ),
    (Tree, b'{%s,"$defs":{"Tree":{%s}}}' % (TREE, TREE)),
]


@pytest.mark.parametrize(("annotation", "schema"), OUTPUTS)
def test_the_return_type_is_the_output_schema(annotation: Any, schema: bytes | None) -> None:
    """Row B20; a recursive type has its own root at the root, or no era before 2026-07-28 could carry it."""

    def give() -> Any:
        return None

    give.__annotations__["return"] = annotation
    promised = toolwire.tool(give).definition.output_schema
    # pydantic's pattern of a decimal is its own affair.
    shown = None if promised is None else re.sub(rb',"pattern":"[^"]*"', b"", promised)
    assert shown == schema


async def test_a_validator_of_the_users_may_raise_anything() -> None:
    def explode(value: str) -> str:
        raise {"value": ValueError("no such city"), "assert": AssertionError("not this"), "key": KeyError("k")}[value]

    tool = takes(Annotated[str, AfterValidator(explode)])
    for given, text in [
        (b'"value"', 'INVALID_INPUT: tool "take": field "x": no such city'),
        (b'"assert"', 'INVALID_INPUT: tool "take": field "x": not this'),
        (b'"key"', "'k'"),
    ]:
        with pytest.raises(ToolFailure) as caught:
            await tool.invoke(b'{"x":%s}' % given)
        assert str(caught.value) == text


class Weighed(BaseModel):
    weight: float
    note: str = ""


ANYWHERE: list[tuple[Any, bytes, str]] = [
    (Any, b"1E400", "x"),
    (Any, b'{"a":[1,-1E400]}', "x.a.1"),
    (list[Any], b"[1E400]", "x.0"),
    (dict[str, Any], b'{"a":1E400}', "x.a"),
    (dict, b'{"a":{"b":1E400}}', "x.a.b"),
    (list, b"[[1E400]]", "x.0.0"),
    (Weighed, b'{"weight":1E400}', "x.weight"),
    (list[Weighed] | None, b'[{"weight":1},{"weight":1E400}]', "x.1.weight"),
    (float, b"1E400", "x"),
    (list[float], b"[1E400]", "x.0"),
    (Point, b'{"x":1E400}', "x.x"),
]


@pytest.mark.parametrize(("annotation", "given", "place"), ANYWHERE)
async def test_b4_a_number_beyond_floats_is_refused_wherever_it_may_stand(
    annotation: Any, given: bytes, place: str
) -> None:
    """`1E400` would be infinity to the handler."""
    with pytest.raises(ToolFailure) as caught:
        await takes(annotation).invoke(b'{"x":%s}' % given)
    assert str(caught.value).startswith(
        f'INVALID_INPUT: tool "take": field "{place}": expected a finite number, got number '
    )


async def test_a_text_that_looks_like_such_a_number_is_left_alone() -> None:
    assert await takes(Weighed).invoke(b'{"x":{"weight":1.5,"note":"1E400"}}') == "Weighed(weight=1.5, note='1E400')"


class Kind(StrEnum):
    A = "a"
    B = "b"


class Metric(BaseModel):
    kind: Literal["metric"]
    x: float


class Price(BaseModel):
    kind: Literal["price"]
    x: Decimal


class First(BaseModel):
    kind: Literal[Kind.A]


class Second(BaseModel):
    kind: Literal[Kind.B]


LONG = b"19.990000000000000001"
BESIDE_DECIMALS: list[tuple[Any, bytes, str]] = [
    (Metric | Price, b'{"kind":"metric","x":1.5}', "Metric(kind='metric', x=1.5)"),
    (Price | Metric, b'{"kind":"metric","x":1.5}', "Metric(kind='metric', x=1.5)"),
    (Metric | Price, b'{"kind":"price","x":%s}' % LONG, f"Price(kind='price', x=Decimal('{LONG.decode()}'))"),
    (Annotated[Price | Metric, Field(discriminator="kind")], b'{"kind":"metric","x":1}',
     "Metric(kind='metric', x=1.0)"),
    (list[Price | Metric], b'[{"kind":"metric","x":1.5}]', "[Metric(kind='metric', x=1.5)]"),
    (dict[str, Decimal] | list[float], b"[1.5]", "[1.5]"),
    (dict[str, Decimal] | list[float], b'{"a":%s}' % LONG, f"{{'a': Decimal('{LONG.decode()}')}}"),
    (int | Decimal, b"1", "1"),
    (int | Decimal, b"1.50", "Decimal('1.50')"),
    (float | Decimal, LONG, f"Decimal('{LONG.decode()}')"),
    (str | Decimal, b"1.5", "Decimal('1.5')"),
    (str | Decimal, b'"1.50"', "'1.50'"),
    (Literal["max"] | Decimal, LONG, f"Decimal('{LONG.decode()}')"),
    (Literal["max"] | Decimal, b'"max"', "'max'"),
    (Literal[1] | Decimal, b"1", "1"),
    (Any | Decimal, b"1", "1"),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "given", "seen"), BESIDE_DECIMALS)
async def test_a_decimal_among_other_alternatives_takes_nothing_from_them(
    annotation: Any, given: bytes, seen: str
) -> None:
    """A number is a text to pydantic where a decimal is to be exact, and nowhere else."""
    assert await takes(annotation).invoke(b'{"x":%s}' % given) == seen


LOOKALIKES: list[tuple[Any, bytes, str]] = [
    (Level, b"true", 'field "x": expected 1 or 2, got true'),
    (Literal[1, 2], b"true", 'field "x": expected 1 or 2, got true'),
    (Literal[0, "a"] | None, b"false", 'field "x": expected 0 or "a", got false'),
    (Literal[True], b"1", 'field "x": expected true, got 1'),
    (dict[str, Level], b'{"a":true}', 'field "x.a": expected 1 or 2, got true'),
    (list[tuple[int, Literal[1]]], b"[[1,1],[1,true]]", 'field "x.1.1": expected 1, got true'),
]


@pytest.mark.parametrize(("annotation", "given", "problem"), LOOKALIKES)
async def test_b26_a_bool_is_no_choice_of_numbers_and_a_number_none_of_bools(
    annotation: Any, given: bytes, problem: str
) -> None:
    """To Python `True == 1`; JSON has no such rule (design 4.1)."""
    with pytest.raises(ToolFailure) as caught:
        await takes(annotation).invoke(b'{"x":%s}' % given)
    assert str(caught.value) == f'INVALID_INPUT: tool "take": {problem}'


@pytest.mark.parametrize(
    ("annotation", "given", "seen"),
    [
        (Level, b"1.0", "<Level.LOW: 1>"),
        (Literal[1] | bool, b"true", "1"),
        (Literal[1] | Decimal, b"9" * 5_000, f"Decimal('{'9' * 5_000}')"),
        (Literal[1, True], b"true", "True"),
    ],
)
async def test_what_the_schema_admits_is_no_lookalike(annotation: Any, given: bytes, seen: str) -> None:
    assert await takes(annotation).invoke(b'{"x":%s}' % given) == seen


@pytest.mark.parametrize("annotation", [First | Second, Annotated[First | Second, Field(discriminator="kind")]])
async def test_members_of_an_enumeration_are_named_by_their_values(annotation: Any) -> None:
    assert await takes(annotation).invoke(b'{"x":{"kind":"a"}}') == "First(kind=<Kind.A: 'a'>)"
    for given, problem in [
        (b'{"kind":"z"}', 'field "x.kind": expected "a" or "b", got "z"'),
    ]:
        with pytest.raises(ToolFailure) as caught:
            await takes(annotation).invoke(b'{"x":%s}' % given)
        assert str(caught.value) == f'INVALID_INPUT: tool "take": {problem}'


@pytest.mark.parametrize("annotation", [Iterable[int], Iterator[int] | None, Annotated[Iterable[int], Field()]])
async def test_what_is_only_iterable_is_checked_before_the_handler_runs(annotation: Any) -> None:
    tool = takes(annotation)
    assert await tool.invoke(b'{"x":[1,2]}') == "[1, 2]"
    with pytest.raises(ToolFailure) as caught:
        await tool.invoke(b'{"x":[1,"2"]}')
    assert str(caught.value) == 'INVALID_INPUT: tool "take": field "x.1": expected integer, got string'
