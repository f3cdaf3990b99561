"""What a model reads when its arguments are refused: the place, what is expected there, what came (spec 2.5).

One sentence a refusal, about the first fault in the order of the arguments; what is missing comes behind what is there.
"""

import datetime as dt
import uuid
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

import toolwire
from toolwire import Tool, ToolFailure


class Colour(Enum):
    RED = "red"
    TWO = 2


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    good: bool


class Square(BaseModel):
    side: float


class Circle(BaseModel):
    radius: float


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int = 0


class Tree(BaseModel):
    name: str
    below: list["Tree"] = []


def takes(annotation: Any) -> Tool:
    async def take(x: Any) -> str:
        return repr(x)

    take.__annotations__["x"] = annotation
    return toolwire.tool(take)


Tagged = Annotated[Cat | Dog, Field(discriminator="kind")]
DATE, TIME = "a date as YYYY-MM-DD", "a date and time as YYYY-MM-DDThh:mm:ss with an offset"
CHOICES = Enum("Choices", {f"C{number}": f"c{number}" for number in range(30)})  # type: ignore[misc]  # made by a loop on purpose

LONG = f'"{"x" * 200}"'

REFUSALS: list[tuple[Any, str, str]] = [
    # Kinds
    (int, '"3"', "expected integer, got string"),
    (int, "[]", "expected integer, got array"),
    (int, "{}", "expected integer, got object"),
    (float, "true", "expected number, got bool"),
    (float, '"1"', "expected number, got string"),
    (bool, "1", "expected boolean, got number"),
    (str, "1.50", "expected string, got number"),
    (dict[str, int], "[]", "expected object, got array"),
    (bytes, "[]", "expected string, got array"),
    (dt.datetime, "5", "expected string, got number"),
    (Decimal, "{}", "expected number or string, got object"),
    (int | None, '"x"', "expected integer, got string"),
    # Numbers keep their spelling
    (int, "3.50", "expected integer, got number 3.50"),
    (int, "1E2", "expected integer, got number 1E2"),
    (int, "-0.0", "expected integer, got number -0.0"),
    (float, "1E400", "expected a finite number, got number 1E400"),
    (list[Any], "[[1E400]]", "0.0: expected a finite number, got number 1E400"),
    # Choices
    (Colour, '"blue"', 'expected "red" or 2, got "blue"'),
    (Colour, "3", 'expected "red" or 2, got 3'),
    (Colour, "true", "expected string or integer, got bool"),
    (Literal["a", "b"], '"c"', 'expected "a" or "b", got "c"'),
    (Literal["a"], '"c"', 'expected "a", got "c"'),
    (Literal["a", "b"], "5", "expected string, got number"),
    (Literal["a", "b"] | int, '"c"', 'expected "a" or "b", got "c"'),
    (CHOICES, '"x"', "expected " + " or ".join(f'"c{number}"' for number in range(20)) + ' or others, got "x"'),
    # Bounds
    (Annotated[int, Field(gt=3)], "3", "expected a number greater than 3, got number 3"),
    (Annotated[int, Field(ge=3)], "2", "expected a number of at least 3, got number 2"),
    (Annotated[float, Field(lt=3)], "3.50", "expected a number less than 3.0, got number 3.50"),
    (Annotated[int, Field(le=3)], "4", "expected a number of at most 3, got number 4"),
    (Annotated[int, Field(multiple_of=5)], "7", "expected a multiple of 5, got number 7"),
    (Annotated[str, Field(min_length=3)], '"ab"', 'expected at least 3 characters, got "ab"'),
    (Annotated[str, Field(max_length=1)], '"ab"', 'expected at most 1 characters, got "ab"'),
    (Annotated[str, Field(pattern="^a")], '"b"', 'expected a string that matches ^a, got "b"'),
    (Annotated[list[int], Field(min_length=2)], "[1]", "expected at least 2 elements, got 1"),
    (Annotated[list[int], Field(max_length=1)], "[1,2]", "expected at most 1 elements, got 2"),
    (Annotated[dict[str, int], Field(min_length=1)], "{}", "expected at least 1 members, got 0"),
    (tuple[int, str], "[1]", "1: required"),
    (tuple[int, str], '[1,"a",2]', "expected at most 2 elements, got 3"),
    (Annotated[Decimal, Field(max_digits=3)], "1.2345",
     "decimal input should have no more than 3 digits in total, got number 1.2345"),
    (Annotated[str, Field(min_length=300)], LONG, f"expected at least 300 characters, got {LONG[:100]}…"),
    # Formats
    (dt.date, '"soon"', f'expected {DATE}, got "soon"'),
    (dt.datetime, '"2026-07-28"', f'expected {TIME}, got "2026-07-28"'),
    (dt.time, '"noon"', 'expected a time as hh:mm:ss, got "noon"'),
    (dt.timedelta, '"long"', 'expected a duration as P1DT2H, got "long"'),
    (uuid.UUID, '"x"', 'expected a UUID, got "x"'),
    (Decimal, '"x"', 'expected a decimal number, got "x"'),
    # Places
    (list[int], '[1,"x"]', "1: expected integer, got string"),
    (dict[str, list[int]], '{"k":[0,"x"]}', "k.1: expected integer, got string"),
    (dict[int, int], '{"a":1}', 'a: its name: expected a valid integer, unable to parse string as an integer, got "a"'),
    (Tree, '{"name":"a","below":[{"name":"b","below":[{}]}]}', "below.0.below.0.name: required"),
    (Tree, '{"name":"a","below":{}}', "below: expected array, got object"),
    (Closed, '{"a":1,"b":2}', "unknown b: not in the schema"),
    # Unions
    (int | str, "[]", "expected integer or string, got array"),
    (int | list[str], "{}", "expected integer or array, got object"),
    (int | list[str], "[1]", "0: expected string, got number"),
    (Cat | Dog, "5", "expected object, got number"),
    (Cat | Dog, '{"kind":"cat","lives":"9"}', "lives: expected integer, got string"),
    (Cat | Dog, '{"kind":"bird"}', 'kind: expected "cat" or "dog", got "bird"'),
    (Cat | Dog, '{"lives":9}', "kind: required"),
    (Tagged, '{"kind":"cat","lives":"9"}', "lives: expected integer, got string"),
    (Tagged, '{"kind":"bird"}', 'kind: expected "cat" or "dog", got "bird"'),
    (Tagged, '{"lives":9}', "kind: required"),
    (Tagged, "[]", "expected object, got array"),
    (Square | Circle, '{"x":1}', 'fits no alternative: field "x.side": required; or field "x.radius": required'),
    (list[Cat | Dog], '[{"kind":"dog","good":1}]', "0.good: expected boolean, got number"),
    (Square | list[Square], '[{"side":1},{"side":"2"}]', "1.side: expected number, got string"),
    # What JSON allows and no reader here does
    (int, "1" * 5000, "a number has too many digits"),
    (Any, "[" * 210 + "]" * 210, "the arguments nest too deep"),
]  # fmt: skip


def sentence(text: str) -> str:
    """`a.b: what` and `unknown a: what` under `x`, as they are shown."""
    if text.startswith(("a number has", "the arguments")):
        return text
    unknown = "unknown " if text.startswith("unknown ") else ""
    place, colon, what = text.removeprefix(unknown).partition(": ")
    if colon and " " not in place:
        return f'{unknown}field "x.{place}": {what}'
    return f'field "x": {text}'


@pytest.mark.parametrize(("annotation", "argument", "text"), REFUSALS)
async def test_a_refusal_says_the_place_what_is_expected_and_what_came(
    annotation: Any, argument: str, text: str
) -> None:
    with pytest.raises(ToolFailure) as caught:
        await takes(annotation).call(f'{{"x":{argument}}}')
    assert str(caught.value) == f'INVALID_INPUT: tool "take": {sentence(text)}'


class Inner(BaseModel):
    p: int
    q: int


@toolwire.tool
async def order(a: int, b: int, inner: Inner, c: int = 0) -> str:
    return f"{a}{b}{inner}{c}"


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        ('{"c":"x","a":"x"}', '"c": expected integer, got string'),
        ('{"a":"x","c":"x"}', '"a": expected integer, got string'),
        ('{"inner":{"q":"x","p":"x"},"a":"x"}', '"inner.q": expected integer, got string'),
        ('{"inner":{"p":1},"a":"x","b":1}', '"inner.q": required'),
        ('{"b":1}', '"a": required'),
        ('{"inner":{},"a":1,"b":1}', '"inner.p": required'),
        ('{"a":null,"b":1,"inner":{"p":1,"q":1}}', '"a": expected integer, got null'),
        ('{"c":null,"a":"x"}', '"a": expected integer, got string'),
    ],
)
async def test_the_first_fault_in_the_order_of_the_arguments_is_told(arguments: str, first: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        await order.call(arguments)
    assert str(caught.value) == f'INVALID_INPUT: tool "order": field {first}'


async def test_a_member_that_is_named_like_an_alternative_is_told_apart_from_it() -> None:
    """The steps of pydantic mix members with its own names for alternatives: the arguments say which is which."""

    class int_(BaseModel):  # noqa: N801 - the name that pydantic would show
        int: str

    int_.__name__ = "int"

    @toolwire.tool
    async def take(x: dict[str, int] | list[dict[str, int_]]) -> str:
        return repr(x)

    for arguments, text in [
        ('{"x":{"int":"a"}}', 'field "x.int": expected integer, got string'),
        ('{"x":[{"int":{"int":5}}]}', 'field "x.0.int.int": expected string, got number'),
    ]:
        with pytest.raises(ToolFailure) as caught:
            await take.call(arguments)
        assert str(caught.value) == f'INVALID_INPUT: tool "take": {text}'
