"""A toolset: a sequence by place and by name, its report, and the fingerprint that tells when it has changed."""

from collections.abc import Sequence

import pytest

from tests.bridge.raw import OBJ, entry, imported
from toolwire import Tool, Toolset
from toolwire._core import read_page
from toolwire.bridge.remote_tool import RemoteCaller
from toolwire.contract.policies import Settings

NAMES = ("get-sum", "echo", "get_weather", "list_files")


def toolset(*entries: bytes, warnings: Sequence[str] = ()) -> Toolset:
    listed = read_page(b'{"tools":[' + b",".join(entries) + b"]}").entries
    caller = RemoteCaller.__new__(RemoteCaller)
    tools = [Tool(line.name, line, Settings(origin="mcp"), caller) for line in listed]
    return Toolset(tools, connection=None, skipped=(), warnings=warnings)


def named(*names: str) -> Toolset:
    return toolset(*(entry(name) for name in names))


def test_a_toolset_is_a_sequence_in_listing_order() -> None:
    tools = named(*NAMES)
    assert isinstance(tools, Sequence)
    assert (len(tools), tools.names, [tool.name for tool in tools]) == (4, NAMES, list(NAMES))
    assert [tool.name for tool in reversed(tools)] == list(reversed(NAMES))
    assert (tools[0].name, tools[-1].name) == ("get-sum", "list_files")
    assert [tool.name for tool in tools[1:3]] == ["echo", "get_weather"]
    assert (tools.index(tools[2]), tools.count(tools[2])) == (2, 1)
    assert bool(tools)
    assert not named()


def test_a_tool_is_found_by_its_name() -> None:
    tools = named(*NAMES)
    assert tools["echo"] is tools[1]
    keys: dict[object, bool] = {"echo": True, tools[1]: True, "Echo": False, named("echo")[0]: False, 5: False}
    assert {key: key in tools for key in keys} == keys


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("get_sum", "no tool named 'get_sum'; near it: get-sum"),
        ("list_file", "no tool named 'list_file'; near it: list_files"),
        ("zzz", "no tool named 'zzz'"),
        ("", "no tool named ''"),
    ],
)
def test_a_name_that_there_is_not_is_a_key_error_with_the_names_near_it(key: str, message: str) -> None:
    with pytest.raises(KeyError) as caught:
        named(*NAMES)[key]
    assert caught.value.args == (message,)


def test_a_place_that_there_is_not_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        named(*NAMES)[4]


@pytest.mark.parametrize("name", [name for name in dir(Toolset) if not name.startswith("_")] + ["other"])
def test_nothing_of_a_toolset_can_be_assigned(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(named(*NAMES), name, ())


def test_the_fingerprint_changes_with_names_descriptions_schemas_and_their_order_alone() -> None:
    base = toolset(entry("a"), entry("b")).fingerprint
    same = [
        toolset(entry("a"), entry("b")),
        toolset(entry("a", OBJ, b'"title":"A","annotations":{"readOnlyHint":true}'), entry("b", OBJ, b'"_meta":{}')),
        toolset(entry("a"), entry("b"), warnings=["odd"]),
    ]
    others = [
        toolset(entry("b"), entry("a")),
        toolset(entry("a")),
        toolset(entry("a"), entry("b"), entry("c")),
        toolset(entry("a", OBJ, b'"description":""'), entry("b")),
        toolset(entry("a", b'{"type": "object"}'), entry("b")),
        toolset(entry("ab"), entry("")),
    ]
    assert {tools.fingerprint for tools in same} == {base}
    assert len({base, *(tools.fingerprint for tools in others)}) == 7
    assert len(bytes.fromhex(base)) == 32


def test_warnings_of_the_listing_stand_before_those_of_the_tools_which_are_named() -> None:
    odd = entry("odd", b'{"type":"object","required":5}')
    tools = toolset(entry("fine"), odd, warnings=["the listing is odd"])
    assert tools.warnings == ("the listing is odd", "tool 'odd': schema: \"required\" is not a list of names")


def test_the_definitions_are_one_array_of_the_servers_own_bytes() -> None:
    entries = [entry("a", b'{ "type":"object","x":1.50 }'), entry("b")]
    assert toolset(*entries).entries_json() == b"[" + b",".join(entries) + b"]"
    assert toolset().entries_json() == b"[]"


def test_a_toolset_shows_its_names() -> None:
    assert repr(named("a", "b")) == "Toolset(['a', 'b'], skipped=0)"


async def test_a_toolset_tells_what_it_was_imported_from() -> None:
    async with imported(entry("a"), entry("")) as (_, tools):
        assert tools.connection.server_name == "raw"
        assert repr(tools) == "Toolset(['a'], skipped=1)"
