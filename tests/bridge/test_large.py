"""Sizes: faults A17, C12 and D18. Each is one message, whole in and whole out; nobody measures time here."""

import pytest

import toolwire
from tests.bridge.raw import Answers, arguments_of, connected, entry, imported, on_both_loops, refused
from toolwire import TextPart, ToolFailure, max_result_bytes
from toolwire.testing import Steps, listing, raw, result, then

MIB = 1024 * 1024
HEAD = b'{"jsonrpc":"2.0","id":{id},"result":'


def repeated(head: bytes, piece: bytes, times: int, tail: bytes) -> Steps:
    """Answer with a result that is mostly one piece: the server makes it, so that no script has to hold it."""
    return then(raw(HEAD), raw(head, verbatim=True), raw(piece, times=times), raw(tail + b"}\n", verbatim=True))


async def test_d18_a_hundred_thousand_text_blocks_are_one_text_and_as_many_parts() -> None:
    block = b'{"type":"text","text":"x"},'
    answer = repeated(b'{"content":[', block, 99_999, b'{"type":"text","text":"y"}]}')
    async with imported(entry("t"), calls=answer) as (_, tools):
        output = await tools["t"].call()
    assert output.text == "x\n" * 99_999 + "y"
    assert output.joined_text() == "x" * 99_999 + "y"
    assert len(output.parts) == 100_000
    assert output.parts[0] == TextPart("x", raw=block[:-1])
    assert output.warnings == ()


@on_both_loops
async def test_d18_a_text_and_a_structured_value_of_8_mib_come_whole_and_a_cap_cuts_only_the_text() -> None:
    answers: Answers = {
        "tools/list": listing(entry("t")),
        "tools/call": [
            repeated(b'{"content":[{"type":"text","text":"', b"0123456789abcdef" * 64, 8 * 1024, b'"}]}'),
            repeated(b'{"content":[],"structuredContent":{"a":["', b"0123456789abcdef" * 64, 8 * 1024, b'",1.50]}}'),
        ],
    }
    async with connected(answers) as (_, connection):
        tool = (await toolwire.tools(connection, policy=max_result_bytes(10)))["t"]
        text, value = await tool.call(), await tool.call()
    assert text.text == f"0123456789\n…[truncated {8 * MIB - 10} bytes]"
    assert text.joined_text() == "0123456789abcdef" * (MIB // 2)
    assert value.structured == b'{"a":["' + b"0123456789abcdef" * (MIB // 2) + b'",1.50]}'
    assert value.text.startswith('{"a":["012\n…[truncated ')


@on_both_loops
async def test_c12_an_argument_of_20_mb_goes_out_whole() -> None:
    arguments = b'{"n":1.50,"s":"' + b"a" * 20_000_000 + b'","z":{"k":[]}}'
    async with imported(entry("t")) as (server, tools):
        assert await tools["t"].invoke(arguments) == "ok"
        (line,) = server.requests("tools/call")
        assert arguments_of(line) == arguments


async def test_c12_a_fault_behind_20_mb_is_found_at_its_place() -> None:
    async with imported(entry("t")) as (server, tools):
        arguments = b'{"s":"' + b"a" * 20_000_000 + b'","s":1}'
        assert await refused(tools["t"], arguments) == 'field "s": given twice (the second time at offset 20000010)'
        assert server.requests("tools/call") == []


async def test_c12_arguments_over_the_cap_are_refused_before_the_wire_and_cost_nothing_else() -> None:
    async with imported(entry("t")) as (server, tools):
        arguments = b'{"s":"' + b"a" * (64 * MIB) + b'"}'
        said = "the arguments are 67108872 bytes long, over the limit of 67108864"
        assert await refused(tools["t"], arguments) == said
        assert await refused(tools["t"], arguments.decode()) == said
        assert server.requests("tools/call") == []
        assert await tools["t"].invoke() == "ok"


async def test_c12_an_object_of_a_hundred_thousand_members_is_checked_and_sent() -> None:
    arguments = b"{" + b",".join(b'"k%d":%d' % (index, index) for index in range(100_000)) + b"}"
    async with imported(entry("t"), calls=result(b'{"content":[]}')) as (server, tools):
        await tools["t"].call(arguments)
        assert arguments_of(server.requests("tools/call")[0]) == arguments
        assert "given twice" in await refused(tools["t"], arguments[:-1] + b',"k77777":0}')


async def test_a17_a_schema_with_200_000_enum_strings_is_kept_byte_for_byte() -> None:
    schema = b'{"type":"object","enum":[' + b",".join(b'"value %014d"' % index for index in range(200_000)) + b"]}"
    async with imported(entry("t", schema), entry("u")) as (_, tools):
        assert tools.names == ("t", "u")
        assert tools["t"].input_schema.raw == schema
        assert len(tools["t"].fingerprint) == 64


async def test_a17_a_schema_over_8_mib_is_quarantined_with_its_size_and_the_others_stand() -> None:
    head, tail = b'{"type":"object","x":"', b'"}'
    answer = repeated(
        b'{"tools":[{"name":"huge","inputSchema":' + head, b"x" * 1024, 8 * 1024, tail + b"}," + entry("u") + b"]}"
    )
    async with connected({"tools/list": answer}) as (_, connection):
        tools = await toolwire.tools(connection)
        size = 8 * MIB + len(head + tail)
        assert tools.names == ("u",)
        assert str(tools.skipped[0].error) == (f"toolwire: ParseSchema: {size} bytes long, over the limit of {8 * MIB}")


@on_both_loops
async def test_a17_five_thousand_tools_of_2_kb_are_all_imported() -> None:
    schema = b'{"type":"object","properties":{"q":{"type":"string","description":"' + b"d" * 1_900 + b'"}}}'
    entries = [entry(f"tool_{index:04}", schema) for index in range(5_000)]
    async with imported(*entries) as (_, tools):
        assert (len(tools), tools.skipped) == (5_000, ())
        assert tools[4_999].input_schema.raw == schema
        assert tools["tool_2500"].definition_json == entries[2_500]
        assert [tool.name for tool in tools] == [f"tool_{index:04}" for index in range(5_000)]


async def test_an_error_of_8_mib_is_a_failure_with_all_of_it() -> None:
    answer = repeated(b'{"isError":true,"content":[{"type":"text","text":"', b"e" * 1024, 8 * 1024, b'"}]}')
    async with imported(entry("t"), calls=answer, policy=max_result_bytes(4)) as (_, tools):
        with pytest.raises(ToolFailure) as caught:
            await tools["t"].invoke()
    assert str(caught.value) == f"eeee\n…[truncated {8 * MIB - 4} bytes]"
    assert caught.value.output.joined_text() == "e" * (8 * MIB)
