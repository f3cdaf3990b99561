"""Functions of every shape become tools, and no member name is special."""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from pydantic import AliasChoices, AliasPath, BaseModel, Field

import toolwire
from toolwire import SchemaError, Tool, ToolFailure


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


async def test_every_legal_member_name_reaches_the_handler() -> None:
    @toolwire.tool
    async def odd(
        self: str, cls: str, schema: str, copy: str, model_config: str, json: str, function: str, is_async: str,
        tool: str, args: str, named: str, p0: str, model_fields: str, _private: str,
        naïve: str,  # noqa: PLC2401 - a legal name too
    ) -> str:  # fmt: skip
        first = f"{self}{cls}{schema}{copy}{model_config}{json}{function}{is_async}{tool}"
        return f"{first}{args}{named}{p0}{model_fields}{_private}{naïve}"

    names = [*odd.input_schema.properties]
    assert names[:2] == ["self", "cls"]
    given = {name: chr(97 + index) for index, name in enumerate(names)}
    assert await odd.invoke(given) == "abcdefghijklmno"
    assert odd.input_schema.required == tuple(names)


async def test_keywords_that_no_parameter_names_come_by_extra_or_by_an_alias() -> None:
    @toolwire.tool
    async def rest(x: int, **extra: Any) -> str:
        return repr((x, extra))

    given = b'{"x":1,"class":"a","a b":2,"":3,"p0":4,"self":5,"function":6,"x ":null}'
    assert await rest.invoke(given) == repr(
        (1, {"class": "a", "a b": 2, "": 3, "p0": 4, "self": 5, "function": 6, "x ": None})
    )
    assert rest.input_schema.raw == b'{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}'

    @toolwire.tool
    async def aliased(
        class_: Annotated[str, Field(alias="class")], at: str = Field("now", validation_alias=AliasChoices("@", "at"))
    ) -> str:
        return f"{class_} {at}"

    assert await aliased.invoke(b'{"class":"a","@":"b"}') == "a b"
    assert await aliased.invoke(b'{"class":"a","@":null}') == "a now"
    assert [*aliased.input_schema.properties] == ["class", "@"]


async def test_a_further_member_never_takes_the_place_of_a_parameter() -> None:
    """What was checked is what the handler gets: by an alias, by a partial, by a method."""

    async def fetch(url: str, api_key: str = "", kind: Annotated[int, Field(alias="class")] = 1, **extra: Any) -> str:
        return f"{url} {api_key} {kind} {extra}"

    class Holder:
        async def keep(self, **extra: Any) -> str:
            return repr(extra)

        async def __call__(self, **extra: Any) -> str:
            return repr(extra)

        @classmethod
        async def made(cls, **extra: Any) -> str:
            return repr(extra)

    secret = functools.partial(fetch, api_key="secret")
    given: list[tuple[Callable[..., Any], bytes, str]] = [
        (secret, b'{"url":"u","api_key":"stolen"}', "api_key"),
        (functools.partial(fetch, "u"), b'{"url":"v"}', "url"),
        (fetch, b'{"url":"u","class":2,"kind":"unchecked"}', "kind"),
        (Holder().keep, b'{"self":1}', "self"),
        (Holder(), b'{"self":1}', "self"),
        (Holder.made, b'{"cls":1}', "cls"),
    ]
    for function, arguments, name in given:
        with pytest.raises(ToolFailure) as caught:
            await toolwire.tool(function, name="x").call(arguments)
        assert str(caught.value) == f'INVALID_INPUT: tool "x": unknown field "{name}": not in the schema'
    assert await toolwire.tool(secret).invoke(b'{"url":"u","class":2,"extra":3}') == "u secret 2 {'extra': 3}"
    assert await toolwire.tool(Holder().keep).invoke(b'{"cls":1,"extra":2}') == "{'cls': 1, 'extra': 2}"


async def test_typed_extra_members_are_checked_and_advertised() -> None:
    @toolwire.tool
    async def scores(**points: int) -> str:
        return repr(points)

    assert scores.input_schema.raw == b'{"type":"object","additionalProperties":{"type":"integer"}}'
    assert await scores.invoke(b'{"a":1}') == "{'a': 1}"
    with pytest.raises(ToolFailure, match='field "a": expected integer, got string'):
        await scores.invoke(b'{"a":"1"}')


async def test_every_spelling_of_an_aliased_parameter_is_that_parameter() -> None:
    @toolwire.tool
    async def find(x: Annotated[int, Field(validation_alias=AliasChoices("p", "q"))] = 3) -> str:
        return str(x)

    assert await find.invoke(b'{"q":1}') == "1"
    assert await find.invoke(b'{"q":null}') == "3"
    for name in ("p", "q"):
        with pytest.raises(ToolFailure) as caught:
            await find.call({name: "1"})
        assert str(caught.value) == f'INVALID_INPUT: tool "find": field "{name}": expected integer, got string'


def test_an_alias_that_is_a_path_fails_loudly() -> None:
    def deep(x: Annotated[int, Field(validation_alias=AliasPath("a", "b"))]) -> str:
        return str(x)

    with pytest.raises(SchemaError) as caught:
        toolwire.tool(deep)
    assert str(caught.value) == ('toolwire: tool "deep": parameter "x": its alias is a path, which no schema can name')


def test_two_parameters_with_one_json_name_fail_loudly() -> None:
    def twice(a: str, b: Annotated[str, Field(alias="a")]) -> str:
        return a + b

    with pytest.raises(SchemaError) as caught:
        toolwire.tool(twice)
    assert str(caught.value) == 'toolwire: tool "twice": two fields with the JSON name "a"'


class Service:
    """A service with state."""

    def __init__(self) -> None:
        self.calls = 0

    def sync(self, n: int) -> str:
        """Counts."""
        self.calls += n
        return str(self.calls)

    async def later(self, n: int = 1) -> str:
        return self.sync(n)

    @classmethod
    async def made(cls, n: int) -> str:
        return f"{cls.__name__} {n}"

    @staticmethod
    def plain(n: int) -> str:
        return str(n)

    async def __call__(self, n: int) -> str:
        """Called."""
        return self.sync(n)


async def test_methods_callables_and_partials_are_tools() -> None:
    service = Service()
    handlers: list[tuple[Callable[..., Any], str, str]] = [
        (service.sync, "sync", "Counts."),
        (service.later, "later", ""),
        (Service.made, "made", ""),
        (Service.plain, "plain", ""),
        (service, "Service", "Called."),
        (functools.partial(service.sync), "sync", "Counts."),
    ]
    for handler, name, description in handlers:
        tool = toolwire.tool(handler)
        assert (tool.name, tool.description) == (name, description)
        assert [*tool.input_schema.properties] == ["n"]
        assert advertised_type(tool, "n") == b"integer"
        assert await tool.invoke(b'{"n":1}')
    assert service.calls == 4


def advertised_type(tool: Tool, name: str) -> bytes:
    return tool.input_schema.properties[name].type.encode()


async def test_what_a_partial_has_bound_is_neither_shown_nor_taken() -> None:
    """A key that is bound is a secret of the server's: as a default it would stand in every listing."""

    async def fetch(url: str, api_key: str, limit: int = 3) -> str:
        return f"{url} {api_key} {limit}"

    tool = toolwire.tool(functools.partial(functools.partial(fetch, api_key="secret"), limit=9))
    assert tool.input_schema.raw == b'{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}'
    assert await tool.invoke(b'{"url":"u","api_key":"stolen","limit":1}') == "u secret 9"


async def test_a_class_is_a_tool_that_makes_one() -> None:
    tool = toolwire.tool(Point, name="point")
    assert tool.input_schema.raw == (
        b'{"type":"object","properties":{"x":{"type":"number"},"y":{"default":0.0,"type":"number"}},"required":["x"]}'
    )
    assert await tool.invoke(b'{"x":1}') == '{"x":1.0,"y":0.0}'


class Beast(BaseModel):
    kind: Literal["cat", "dog"]
    lives: int = Field(9, description="how many", alias="Lives")
    tags: list[str] = Field(default_factory=list)


class Pair(NamedTuple):
    a: int
    b: str = "x"


@dataclasses.dataclass
class Counter:
    step: int = 1

    def __call__(self, n: int) -> str:
        return str(n + self.step)


async def test_models_and_named_tuples_are_as_strict_as_functions() -> None:
    beast = toolwire.tool(Beast)
    assert beast.input_schema.raw == (
        b'{"type":"object","properties":{"kind":{"enum":["cat","dog"],"type":"string"},'
        b'"Lives":{"default":9,"description":"how many","type":"integer"},'
        b'"tags":{"items":{"type":"string"},"type":"array"}},"required":["kind"]}'
    )
    assert await beast.invoke(b'{"kind":"cat","Lives":3}') == '{"kind":"cat","Lives":3,"tags":[]}'
    assert await beast.invoke(b'{"kind":"cat","tags":null}') == '{"kind":"cat","Lives":9,"tags":[]}'
    pair = toolwire.tool(Pair)
    assert await pair.invoke(b'{"a":1}') == '[1,"x"]'
    for tool, given, problem in [
        (beast, b'{"kind":"cow"}', 'field "kind": expected "cat" or "dog", got "cow"'),
        (beast, b'{"kind":"cat","Lives":"3"}', 'field "Lives": expected integer, got string'),
        (pair, b'{"a":"1"}', 'field "a": expected integer, got string'),
    ]:
        with pytest.raises(ToolFailure) as caught:
            await tool.call(given)
        assert str(caught.value) == f'INVALID_INPUT: tool "{tool.name}": {problem}'
    # What Python makes up, or what a base says of itself, describes no tool.
    made = [beast, pair, toolwire.tool(Point), toolwire.tool(Counter())]
    assert [tool.description for tool in made] == [""] * 4


def test_defaults_that_are_no_json_are_the_handlers_own_affair() -> None:
    marker = object()

    def search(q: str, limit: float = math.inf, after: Any = marker, tags: list[str] = []) -> str:  # noqa: B006 - as people write
        return repr((q, limit, after is marker, tags))

    assert toolwire.tool(search).input_schema.raw == (
        b'{"type":"object","properties":{"q":{"type":"string"},"limit":{"type":"number"},"after":{},'
        b'"tags":{"default":[],"items":{"type":"string"},"type":"array"}},"required":["q"]}'
    )


async def test_a_default_is_made_anew_for_each_call() -> None:
    @toolwire.tool
    async def collect(into: list[int] = [], more: Annotated[list[int], Field(default_factory=list)] = ...) -> str:  # type: ignore[assignment]  # noqa: B006 - as people write
        into.append(1)
        return repr((into, more))

    assert {await collect.invoke(b"{}") for _ in range(3)} == {"([1], [])"}


class Unusable:
    pass


def test_what_has_no_schema_fails_at_construction_and_names_tool_and_parameter() -> None:
    def bad(good: int, odd: Unusable) -> str:
        return f"{good}{odd}"

    def callback(run: Callable[[], int]) -> str:
        return repr(run)

    def unresolved(x: "Nowhere") -> str:  # type: ignore[name-defined]  # noqa: F821 - what is tested
        return repr(x)

    def result() -> Unusable:
        return Unusable()

    def result_unresolved() -> "Nowhere":  # type: ignore[name-defined]  # noqa: F821 - what is tested
        return 1

    def spare(note: Annotated[str, Field(default="\ud800")]) -> str:
        return note

    def extra(**more: Unusable) -> str:
        return repr(more)

    here = f"{__name__}.Unusable"
    failures: list[tuple[Callable[..., Any], str]] = [
        (extra, f'tool "extra": parameter "more": no JSON schema can be made of {here}'),
        (bad, f'tool "bad": parameter "odd": no JSON schema can be made of {here}'),
        (callback, 'tool "callback": parameter "run": no JSON schema can be made of collections.abc.Callable[[], int]'),
        (unresolved, 'tool "unresolved": parameter "x": its type Nowhere cannot be resolved: '),
        (result, f'tool "result": its return type: no JSON schema can be made of {here}'),
        (result_unresolved, 'tool "result_unresolved": the return type Nowhere cannot be resolved: '),
        (spare, 'tool "spare": parameter "note": '),
    ]
    for function, text in failures:
        with pytest.raises(SchemaError) as caught:
            toolwire.tool(function)
        assert str(caught.value).startswith(f"toolwire: {text}")
        assert "\n" not in str(caught.value)


def test_the_forms_of_the_decorator() -> None:
    def plain(n: int) -> str:
        """Plain."""
        return str(n)

    made = [
        toolwire.tool(plain),
        toolwire.tool()(plain),
        toolwire.tool(toolwire.timeout(5))(plain),
        toolwire.tool(plain, toolwire.timeout(5), name="plain"),
        toolwire.tool(toolwire.sequential(), toolwire.timeout(5), name="plain", description="Plain.")(plain),
    ]
    assert {(tool.name, tool.description, tool.input_schema.raw) for tool in made} == {
        ("plain", "Plain.", b'{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}')
    }
    assert [tool.settings.timeout for tool in made] == [None, None, 5, 5, 5]
    assert made[-1].sequential
    named = toolwire.tool(name="other", title="The other", description="")(plain)
    assert (named.name, named.title, named.description) == ("other", "The other", "")


def test_a_parameter_for_the_sdks_context_is_no_parameter_of_the_clients() -> None:
    async def one(x: int, ctx: Context) -> str:
        return repr((x, ctx))

    async def two(x: int, ctx: Context[Any, Any] | None = None) -> str:
        return repr((x, ctx))

    async def three(x: int, ctx: Annotated[ServerRequestContext[Any, Any], "the request"]) -> str:
        return repr((x, ctx))

    for function in (one, two, three):
        assert toolwire.tool(function).input_schema.raw == (
            b'{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}'
        )


def test_texts_that_cannot_be_sent_fail_at_construction() -> None:
    """In a listing they would cost every other tool its entry."""

    def plain(n: int) -> str:
        return str(n)

    makings: list[Callable[[], object]] = [
        lambda: toolwire.tool(plain, description="cut \ud83d"),
        lambda: toolwire.tool(plain, title="cut \ud83d"),
        lambda: toolwire.tool(plain, name="cut \ud83d"),
        lambda: Tool.raw("raw", "cut \ud83d", None, bytes.decode),
    ]
    for make in makings:
        with pytest.raises(SchemaError, match="half of a surrogate pair in its texts"):
            make()
    with pytest.raises(SchemaError, match='tool "raw": its output schema is no JSON: '):
        Tool.raw("raw", "", None, bytes.decode, output_schema=b'{"type":}')


def test_an_output_schema_keeps_its_bytes() -> None:
    given = b'{ "type" : "object", "x": 1.50 }'
    assert Tool.raw("raw", "", None, bytes.decode, output_schema=given).definition.output_schema == given
