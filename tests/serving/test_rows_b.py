"""Spec one-session, rows B1 to B28: typed tools, decoding, result text. Texts are exact.

Where a row differs from the reference, design 4.4 says so: a missing required argument is refused (B14 to B16), null
for a required one too (B28), member names are exact.
"""

import dataclasses
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from typing_extensions import TypedDict

import toolwire
from toolwire import InvalidToolInput, SchemaError, Tool, ToolFailure


class When(BaseModel):
    when: str


class Counted(BaseModel):
    n: int


@toolwire.tool
async def forecast(city: str = "", days: int = 1) -> str:
    return f"sunny in {city or 'nowhere'} for {days}"


@toolwire.tool(toolwire.strict_input(), name="forecast")
async def strict_forecast(city: str = "", days: int = 1) -> str:
    return f"sunny in {city} for {days}"


@toolwire.tool
async def lookup_order(order_id: str) -> str:
    return order_id


@toolwire.tool
async def nested(items: Annotated[list[When] | None, Field()] = None, meta: dict[str, When] | None = None) -> str:
    return f"{items} {meta}"


@toolwire.tool
async def blob(data: bytes) -> str:
    return repr(data)


@toolwire.tool
async def count(q: str) -> Counted:
    return Counted(n=len(q))


@toolwire.tool
async def add(a: int, b: int) -> int:
    return a + b


FORECAST = 'INVALID_INPUT: tool "forecast": '
REFUSED = [
    ("B1", forecast, b'{"city":"Oslo","days":"three"}', FORECAST + 'field "days": expected integer, got string'),
    ("B2", lookup_order, b'{"order_id":42}',
     'INVALID_INPUT: tool "lookup_order": field "order_id": expected string, got number'),
    ("B3", forecast, b"[1,2]", FORECAST + "expected object at the top level, got array"),
    ("B3 string", forecast, b'"x"', FORECAST + "expected object at the top level, got string"),
    ("B4", nested, b'{"items":"x"}', 'INVALID_INPUT: tool "nested": field "items": expected array, got string'),
    ("B5", nested, b'{"meta":{"k":{"when":7}}}',
     'INVALID_INPUT: tool "nested": field "meta.k.when": expected string, got number'),
    ("B5 list", nested, b'{"items":[{"when":"a"},{"when":7}]}',
     'INVALID_INPUT: tool "nested": field "items.1.when": expected string, got number'),
    ("B6", blob, b'{"data":{}}', 'INVALID_INPUT: tool "blob": field "data": expected string, got object'),
    ("B8", forecast, b'{"city":', FORECAST + "invalid JSON: unexpected end of input"),
    ("B10", strict_forecast, b'{"city":"Oslo","units":"C"}', FORECAST + 'unknown field "units": not in the schema'),
    ("B11", forecast, b'{"city":"Oslo"} {"city":"Rome"}', FORECAST + "trailing data after the JSON arguments"),
    ("B12", strict_forecast, b'{"city":"Oslo"} x', FORECAST + "trailing data after the JSON arguments"),
    ("B16", count, b"", 'INVALID_INPUT: tool "count": field "q": required'),
    ("B16 null", count, b"null", 'INVALID_INPUT: tool "count": field "q": required'),
    ("B26", forecast, b'{"days":true}', FORECAST + 'field "days": expected integer, got bool'),
    ("B27", forecast, b'{"days":3.5}', FORECAST + 'field "days": expected integer, got number 3.5'),
    ("B27 exponent", forecast, b'{"days":1e2}', FORECAST + 'field "days": expected integer, got number 1e2'),
    ("B27 whole", forecast, b'{"days":3.0}', FORECAST + 'field "days": expected integer, got number 3.0'),
    ("B28 required", lookup_order, b'{"order_id":null}',
     'INVALID_INPUT: tool "lookup_order": field "order_id": expected string, got null'),
    ("exact names", count, b'{"Q":"a"}', 'INVALID_INPUT: tool "count": field "q": required'),
    ("repeated", forecast, b'{"city":"a","city":"b"}',
     FORECAST + 'field "city": given twice (the second time at offset 14)'),
    ("repeated, escaped", forecast, b'{"city":"a","c\\u0069ty":"b"}',
     FORECAST + 'field "city": given twice (the second time at offset 14)'),
    ("half", forecast, b'{"city":"cut \\ud83d"}', FORECAST + 'field "city": half of a surrogate pair at offset 14'),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "text"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
async def test_rows_b_arguments_that_are_refused(tool: Tool, arguments: bytes, text: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        await tool.call(arguments)
    assert str(caught.value) == text
    assert caught.value.kind == "invalid_input"
    # Row B21: the sentinel is reachable.
    assert isinstance(caught.value.cause, InvalidToolInput)
    assert str(caught.value.cause) == "toolwire: tool input is not valid for its schema"


async def test_b7_a_syntax_error_names_its_offset() -> None:
    with pytest.raises(ToolFailure) as caught:
        await forecast.call(b'{"city":}')
    assert str(caught.value).startswith(FORECAST + "invalid JSON at offset 9: ")


ACCEPTED = [
    ("B9", forecast, b'{"city":"Oslo","units":"C"}', "sunny in Oslo for 1"),
    ("B13", forecast, b'{"city":"Oslo"} \n', "sunny in Oslo for 1"),
    ("B14", forecast, b"", "sunny in nowhere for 1"),
    ("B14 blank", forecast, b" \n", "sunny in nowhere for 1"),
    ("B15", forecast, b"null", "sunny in nowhere for 1"),
    ("B17", count, b'{"q":"hello"}', '{"n":5}'),
    ("B18", forecast, b'{"city":"Paris"}', "sunny in Paris for 1"),
    ("B19", add, b'{"a":1,"b":2}', "3"),
    ("B28", forecast, b'{"city":null,"days":null}', "sunny in nowhere for 1"),
    ("B6 taken", blob, b'{"data":"abc"}', "b'abc'"),
    ("a member of another case is another member", forecast, b'{"City":"Oslo"}', "sunny in nowhere for 1"),
]


@pytest.mark.parametrize(("tool", "arguments", "text"), [row[1:] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
async def test_rows_b_arguments_that_are_taken(tool: Tool, arguments: bytes, text: str) -> None:
    assert await tool.invoke(arguments) == text
    assert await tool.invoke(arguments.decode()) == text


def test_b19_b20_a_string_has_no_output_schema_and_everything_else_has() -> None:
    assert forecast.output_schema is None
    assert add.output_schema is not None
    assert add.output_schema.raw == b'{"type":"integer"}'
    assert count.output_schema is not None
    assert count.output_schema.raw == b'{"properties":{"n":{"type":"integer"}},"required":["n"],"type":"object"}'


def test_b22_an_input_that_is_no_object_fails_loudly() -> None:
    def positional(x: str, /) -> str:
        return x

    def variadic(*values: str) -> str:
        return "".join(values)

    for function, name in ((positional, "x"), (variadic, "values")):
        with pytest.raises(SchemaError) as caught:
            toolwire.tool(function)
        assert str(caught.value) == (
            f'toolwire: tool "{function.__name__}": parameter "{name}" is positional, and arguments come by name'
        )


async def test_b23_a_raw_tool_sees_the_bytes_as_they_are() -> None:
    seen: list[bytes] = []

    async def handler(arguments: bytes) -> str:
        seen.append(arguments)
        return "ok"

    tool = Tool.raw("raw", "", None, handler, toolwire.strict_input())
    given = [
        b'{"country":"France","extra":true}',
        b' { "a" : 1.50, "a":2 } ',
        b'["no object"]',
        b"no JSON",
        b'{"x":"\\ud800"}',
    ]
    for arguments in given:
        assert await tool.invoke(arguments) == "ok"
    assert seen == given


@pytest.mark.parametrize("blank", [b"", b" \n", b"null", b" null ", None])
async def test_c5_a_raw_tool_sees_blank_arguments_as_an_empty_object(blank: bytes | None) -> None:
    assert await Tool.raw("raw", "", None, lambda given: given.decode()).invoke(blank) == "{}"


def test_b24_a_raw_tool_without_a_schema_has_the_empty_one() -> None:
    assert Tool.raw("raw", "", None, bytes.decode).input_schema.raw == b'{"type":"object"}'


def test_b25_a_tool_without_a_name_or_a_handler_fails_loudly() -> None:
    def nameless() -> str:
        return ""

    nobody: Any = None
    makings: list[tuple[Callable[[], object], str]] = [
        (lambda: Tool.raw("", "", None, bytes.decode), "toolwire: Tool called with an empty name"),
        (lambda: toolwire.tool(nameless, name=""), "toolwire: Tool called with an empty name"),
        (lambda: Tool.raw("x", "", None, nobody), 'toolwire: Tool "x" called with a nil handler'),
        (lambda: toolwire.tool(nobody), 'toolwire: Tool "" called with a nil handler'),
        (lambda: toolwire.tool(nobody, name="x"), 'toolwire: Tool "x" called with a nil handler'),
        (lambda: toolwire.tool(lambda: ""), "toolwire: a lambda has no name: pass name="),
    ]
    for make, text in makings:
        with pytest.raises(SchemaError) as caught:
            make()
        assert str(caught.value) == text


@pytest.mark.parametrize("arguments", [b'{"body":"{\\"x\\":1}","note":"null","code":"[1]"}'])
async def test_c2_strings_that_look_like_json_stay_strings(arguments: bytes) -> None:
    @toolwire.tool
    async def keep(body: str, note: str | None, code: str = "") -> str:
        return repr([body, note, code])

    assert await keep.invoke(arguments) == repr(['{"x":1}', "null", "[1]"])


async def test_c1_c7_a_kind_is_never_guessed_at_any_depth() -> None:
    """A string that holds JSON is no object, `"5"` no integer, `"true"` no boolean: not in a nested model either."""

    class Inner(BaseModel):
        n: int = 0
        flag: bool = False
        when: list[int] = []

    @toolwire.tool
    async def take(inner: Inner, ids: list[int] | None = None) -> str:
        return f"{inner} {ids}"

    for arguments, text in [
        (b'{"inner":"{\\"n\\":1}"}', 'field "inner": expected object, got string'),
        (b'{"inner":{},"ids":"[1,2]"}', 'field "ids": expected array, got string'),
        (b'{"inner":{"n":"5"}}', 'field "inner.n": expected integer, got string'),
        (b'{"inner":{"flag":"true"}}', 'field "inner.flag": expected boolean, got string'),
        (b'{"inner":{"when":["1"]}}', 'field "inner.when.0": expected integer, got string'),
    ]:
        with pytest.raises(ToolFailure) as caught:
            await take.call(arguments)
        assert str(caught.value) == f'INVALID_INPUT: tool "take": {text}'


async def test_c11_placeholders_are_passed_on() -> None:
    @toolwire.tool
    async def keep(target: str, locale: str = "en", extra: dict[str, int] | None = None) -> str:
        return repr([target, locale, extra])

    assert await keep.invoke(b'{"target":"F","locale":"","extra":{}}') == "['F', '', {}]"


async def test_c6_null_for_a_default_leaves_every_other_byte_as_it_was() -> None:
    """The other members are decoded from their own text: a Decimal keeps its digits."""

    @toolwire.tool
    async def pay(amount: Decimal, limit: int = 3, tag: str | None = "x") -> str:
        return repr([amount, limit, tag])

    assert await pay.invoke(b'{"limit":null,"amount":19.990000000000000001,"tag":null}') == (
        "[Decimal('19.990000000000000001'), 3, None]"
    )


class Folder(BaseModel):
    below: list["Folder"] = []
    size: int = 0
    name: Annotated[str, BeforeValidator(lambda given: str(given).strip()), Field(min_length=3)] = "any"
    price: Annotated[Decimal, Field(ge=0)] = Decimal(1)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (b'{"size":"x"}', 'size": expected integer, got string'),
        (b'{"name":" a "}', 'name": expected at least 3 characters, got " a "'),
        (b'{"price":-1}', 'price": expected a number of at least 0, got number -1'),
    ],
)
async def test_the_place_of_a_fault_deep_in_a_document_is_found_without_trying_every_way(
    wrong: bytes, problem: str
) -> None:
    """The ways through 40 levels are a billion: one such call would stop the server."""

    @toolwire.tool
    async def walk(root: Folder) -> str:
        return root.name

    arguments = b'{"root":' + b'{"below":[' * 40 + wrong + b"]}" * 40 + b"}"
    with pytest.raises(ToolFailure) as caught:
        await walk.call(arguments)
    assert str(caught.value) == f'INVALID_INPUT: tool "walk": field "root.{"below.0." * 40}{problem}'


async def test_of_very_many_faults_the_first_is_told() -> None:
    """The work grows with the faults, not with their square."""

    @toolwire.tool
    async def score(points: dict[str, int]) -> str:
        return str(len(points))

    given = {f"k{number}": "x" for number in range(40_000)}
    with pytest.raises(ToolFailure) as caught:
        await score.call({"points": {"k": 1, **given}})
    assert str(caught.value) == 'INVALID_INPUT: tool "score": field "points.k0": expected integer, got string'


async def test_a_decimal_of_many_digits_beside_a_fault_is_no_fault() -> None:
    @toolwire.tool
    async def pay(amount: Decimal, limit: int) -> str:
        return f"{amount}{limit}"

    with pytest.raises(ToolFailure) as caught:
        await pay.call(b'{"amount":' + b"9" * 5_000 + b',"limit":"x"}')
    assert str(caught.value) == 'INVALID_INPUT: tool "pay": field "limit": expected integer, got string'


@dataclasses.dataclass
class Stamp:
    n: int = 0


class Note(TypedDict):
    n: int


class Closed(BaseModel):
    n: int = 0


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    n: int = 0


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (b'{"closed":{"n":1,"more":2}}', "closed.more"),
        (b'{"stamp":{"n":1,"more":2}}', "stamp.more"),
        (b'{"note":{"n":1,"more":2}}', "note.more"),
        (b'{"many":[{},{"more":2}]}', "many.1.more"),
        (b'{"named":{"k":{"more":2}}}', "named.k.more"),
        (b'{"either":{"more":2}}', "either.more"),
    ],
)
async def test_b10_strict_input_is_strict_at_every_depth(arguments: bytes, place: str) -> None:
    def take(
        closed: Closed = Closed(),  # noqa: B008 - as people write
        stamp: Stamp = Stamp(),  # noqa: B008 - the same
        note: Note | None = None,
        many: list[Closed] = [],  # noqa: B006 - the same
        named: dict[str, Closed] = {},  # noqa: B006 - the same
        either: Closed | int = 0,
    ) -> str:
        return "ran"

    assert await toolwire.tool(take).invoke(arguments) == "ran"
    with pytest.raises(ToolFailure) as caught:
        await toolwire.tool(take, toolwire.strict_input()).call(arguments)
    assert str(caught.value) == f'INVALID_INPUT: tool "take": unknown field "{place}": not in the schema'


async def test_strict_input_leaves_a_model_that_says_itself_that_it_takes_more() -> None:
    @toolwire.tool(toolwire.strict_input())
    async def take(given: Open, free: dict[str, int] | None = None) -> str:
        return f"{given} {free}"

    assert await take.invoke(b'{"given":{"more":2},"free":{"a":1}}') == "n=0 more=2 {'a': 1}"
    with pytest.raises(ToolFailure, match='unknown field "other": not in the schema'):
        await take.call(b'{"given":{},"other":1}')
