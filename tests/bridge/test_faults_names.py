"""Faults E, the import side: a server's name is never rewritten, and two tools never share one."""

import pytest

import toolwire
from tests.bridge.raw import ERAS, OBJ, connected, entry, imported, report
from toolwire.testing import RawServer, listing, result

# As the server spells each in JSON, and what it decodes to.
SPELLED = {
    rb'"orders.list"': "orders.list",
    rb'"user\/update"': "user/update",
    rb'"a b"': "a b",
    rb'"x:y"': "x:y",
    rb'"$sum"': "$sum",
    rb'"\u00e9"': "é",
    '"ü"'.encode(): "ü",
    '"検索"'.encode(): "検索",
    rb'"   "': "   ",
    rb'"-"': "-",
    b'"' + b"x" * 80 + b'1"': "x" * 80 + "1",
    b'"' + b"x" * 80 + b'2"': "x" * 80 + "2",
    rb'"Get"': "Get",
    rb'"get"': "get",
    rb'"say \"hi\" \\ \n\ud83d\ude00"': 'say "hi" \\ \n😀',
}


@pytest.mark.parametrize("era", ERAS)
async def test_e1_e3_e4_e7_a_name_is_called_by_the_bytes_that_listed_it(era: str) -> None:
    async with imported(*(entry(name) for name in SPELLED), prefix="s" * 30 + "_", era=era) as (server, tools):
        assert [tool.name.removeprefix("s" * 30 + "_") for tool in tools] == list(SPELLED.values())
        for tool in tools:
            assert await tool.invoke() == "ok"
        for line, name in zip(server.requests("tools/call"), SPELLED, strict=True):
            assert b'"name":' + name + b',"arguments"' in line


async def test_e4_an_empty_name_is_quarantined() -> None:
    async with imported(entry(""), entry("é")) as (_, tools):
        assert tools.names == ("é",)
        assert report(tools) == [("", 0, "empty name")]


async def test_e5_the_call_goes_to_the_server_whose_schema_the_model_saw() -> None:
    answers = [
        {
            "tools/list": listing(entry("search")),
            "tools/call": result(b'{"content":[{"type":"text","text":"%s"}]}' % word),
        }
        for word in (b"fs", b"git")
    ]
    with RawServer(answers[0]) as files:
        async with toolwire.connect(files.argv) as first, connected(answers[1]) as (_, second):
            tools = [*await toolwire.tools(first, prefix="fs_"), *await toolwire.tools(second, prefix="git_")]
            assert [tool.name for tool in tools] == ["fs_search", "git_search"]
            assert [await tool.invoke() for tool in tools] == ["fs", "git"]


TWIN = (
    entry("t", b'{"type":"object","properties":{"a":{}}}'),
    entry("t", b'{"type":"object","properties":{"b":{}}}'),
)


@pytest.mark.parametrize("era", ERAS)
async def test_e6_of_two_tools_of_one_name_the_first_is_kept_and_the_second_quarantined(era: str) -> None:
    async with imported(*TWIN, era=era) as (_, tools):
        assert [tool.input_schema.raw for tool in tools] == [b'{"type":"object","properties":{"a":{}}}']
        assert report(tools) == [("t", 1, 'duplicate name "t" in the listing')]


async def test_e6_one_name_in_two_spellings_is_one_name() -> None:
    async with imported(entry("t"), entry(rb'"\u0074"')) as (_, tools):
        assert report(tools) == [("t", 1, 'duplicate name "t" in the listing')]


async def test_e6_a_name_of_an_earlier_page_is_quarantined_too() -> None:
    pages = [listing(TWIN[0], entry("u"), cursor="2"), listing(TWIN[1], entry("v"))]
    async with connected({"tools/list": pages}) as (_, connection):
        tools = await toolwire.tools(connection)
        assert tools.names == ("t", "u", "v")
        assert report(tools) == [("t", 2, 'duplicate name "t" in the listing')]


async def test_e7_names_that_differ_by_case_alone_are_two_tools() -> None:
    async with imported(entry("Get"), entry("get", OBJ, b'"description":"small"')) as (_, tools):
        assert (tools["Get"].description, tools["get"].description) == ("", "small")
