"""A tool's facts are immutable, and whatever a caller holds as arguments becomes the bytes that are sent."""

import types
from collections import OrderedDict, UserDict
from enum import IntEnum, StrEnum

import pytest

from toolwire import Tool, ToolFailure, ToolOutput, _core
from toolwire.contract.arguments import Arguments
from toolwire.contract.policies import Settings
from toolwire.contract.remote_output import RemoteOutput
from toolwire.errors import InvalidToolInput

ENTRY = (
    b'{"name":"find","title":"Find","description":"finds","inputSchema":{"type":"object","x":1.50},'
    b'"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"_meta":{"k":1}}'
)


class Recorder:
    """Carries no call anywhere: it keeps what it was handed, checked as every caller checks."""

    def __init__(self) -> None:
        self.sent: list[bytes | str] = []

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        del tool
        self.sent.append(arguments)
        return RemoteOutput(_core.read_result(b'{"content":[{"type":"text","text":"ok"}]}'))


def definition(entry: bytes = ENTRY) -> _core.Entry:
    return _core.read_page(b'{"tools":[' + entry + b"]}").entries[0]


def tool(caller: Recorder | None = None, *, name: str = "gh_find", entry: bytes = ENTRY) -> Tool:
    return Tool(name, definition(entry), Settings(origin="mcp"), caller or Recorder())


def test_a_tool_gives_the_facts_of_its_definition_with_their_bytes() -> None:
    given = tool()
    assert (given.name, given.title, given.description, given.origin) == ("gh_find", "Find", "finds", "mcp")
    assert given.input_schema.raw == b'{"type":"object","x":1.50}'
    assert given.output_schema is not None
    assert given.output_schema.raw == b'{"type":"object"}'
    assert (given.annotations, given.meta, given.definition_json) == (b'{"readOnlyHint":true}', b'{"k":1}', ENTRY)
    assert (given.sequential, given.warnings) == (False, ())
    assert repr(given) == "Tool('gh_find', origin='mcp')"


def test_a_tool_without_facts_has_empty_ones() -> None:
    given = tool(entry=b'{"name":"t","title":null,"description":null,"inputSchema":null}')
    assert (given.description, given.title, given.output_schema, given.annotations, given.meta) == (
        "",
        None,
        None,
        None,
        None,
    )
    assert given.input_schema.raw == b'{"type":"object"}'


@pytest.mark.parametrize(
    "name",
    [name for name in dir(Tool) if not name.startswith("_") and name not in ("call", "invoke")] + ["call", "other"],
)
def test_no_public_fact_of_a_tool_can_be_assigned_or_deleted(name: str) -> None:
    given = tool()
    with pytest.raises(AttributeError):
        setattr(given, name, "x")
    with pytest.raises(AttributeError):
        delattr(given, name)
    with pytest.raises(AttributeError):
        given.settings.timeout = 5  # type: ignore[misc]  # that is the point


def test_the_fingerprint_changes_with_name_description_and_schema_and_with_nothing_else() -> None:
    base = tool().fingerprint
    assert len(bytes.fromhex(base)) == 32
    same = [
        ENTRY.replace(b'"title":"Find",', b""),
        ENTRY.replace(b'"readOnlyHint":true', b'"readOnlyHint":false'),
        ENTRY.replace(b'"_meta":{"k":1}', b'"_meta":{"k":2}'),
        ENTRY.replace(b'"outputSchema":{"type":"object"}', b'"outputSchema":{"type":"object","z":1}'),
        b'{"inputSchema":{"type":"object","x":1.50},"description":"finds","name":"find"}',
    ]
    assert {tool(entry=entry).fingerprint for entry in same} == {base}
    assert tool(name="other").fingerprint == base
    others = [
        ENTRY.replace(b'"find"', b'"Find"'),
        ENTRY.replace(b'"find"', rb'"\u0066ind"'),
        ENTRY.replace(b'"finds"', b'"finds "'),
        ENTRY.replace(b'"description":"finds",', b""),
        ENTRY.replace(b"1.50", b"1.5"),
        ENTRY.replace(b'{"type":"object","x":1.50}', b'{"x":1.50,"type":"object"}'),
        b'{"name":"findf","description":"inds","inputSchema":{"type":"object","x":1.50}}',
    ]
    assert len({base, *(tool(entry=entry).fingerprint for entry in others)}) == len(others) + 1


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Text(str):
    """A string of somebody's own, as some frameworks hand them out."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (None, b"{}"),
        ({}, b"{}"),
        ({"b": 1, "a": [1.5, None, True]}, b'{"b":1,"a":[1.5,null,true]}'),
        ({"é": "日本 \u202e\x7f"}, '{"é":"日本 \u202e\x7f"}'.encode()),
        ({"n": 2**100, "z": -0.0, "w": 12.0}, b'{"n":1267650600228229401496703205376,"z":-0.0,"w":12.0}'),
        ({"c": Colour.RED, "l": Level.HIGH, "t": (1, 2)}, b'{"c":"red","l":3,"t":[1,2]}'),
        (OrderedDict([("z", 1), ("a", 2)]), b'{"z":1,"a":2}'),
        (types.MappingProxyType({"a": UserDict({"b": 1})}), b'{"a":{"b":1}}'),
        (b'{"a": 1.50}', b'{"a": 1.50}'),
        ('{"a": 1.50}', '{"a": 1.50}'),
        (Text('{"a": 1.50}'), '{"a": 1.50}'),
        (bytearray(b'{"a":1}'), b'{"a":1}'),
        (memoryview(b'x{"a":1}x')[1:-1], b'{"a":1}'),
        (b"", b""),
    ],
)
async def test_arguments_in_every_accepted_form_become_what_is_sent(given: Arguments, sent: bytes | str) -> None:
    recorder = Recorder()
    assert await tool(recorder).invoke(given) == "ok"
    assert (await tool(recorder).call(given)).text == "ok"
    assert recorder.sent == [sent, sent]


async def test_a_buffer_is_copied_at_the_door() -> None:
    recorder, buffer = Recorder(), bytearray(b'{"a":1}')
    await tool(recorder).call(buffer)
    buffer[:] = b'{"a":2}'
    assert recorder.sent == [b'{"a":1}']


def recursive() -> dict[str, object]:
    inner: dict[str, object] = {}
    inner["self"] = inner
    return inner


@pytest.mark.parametrize(
    "given",
    [
        {"x": float("nan")},
        {"x": [float("inf")]},
        {"x": {1, 2}},
        {"x": b"bytes"},
        {"x": object()},
        {"x": "\ud83d"},
        {"\udc00": 1},
        {(1, 2): 3},
        recursive(),
    ],
    ids=["nan", "infinity", "set", "bytes", "object", "surrogate", "surrogate in a name", "key", "recursive"],
)
async def test_a_mapping_that_is_no_json_is_refused_before_anything_is_sent(given: Arguments) -> None:
    recorder = Recorder()
    with pytest.raises(ToolFailure) as caught:
        await tool(recorder).call(given)
    assert str(caught.value).startswith('INVALID_INPUT: tool "gh_find": the arguments cannot be encoded as JSON: ')
    assert (caught.value.kind, caught.value.remote) == ("invalid_input", False)
    assert isinstance(caught.value.cause, InvalidToolInput)
    assert recorder.sent == []


@pytest.mark.parametrize("given", [float("nan"), float("-inf"), "cut \ud83d"], ids=["nan", "infinity", "surrogate"])
async def test_b4_c9_the_place_of_what_is_no_json_in_a_mapping_is_named(given: object) -> None:
    with pytest.raises(ToolFailure, match=r'field "x\.1\.y": (NaN and Infinity are not JSON|half of a surrogate pair)'):
        await tool(Recorder()).call({"x": [1.5, {"y": given}]})
