"""An answer is a result only if it is complete: what is not is an error that may have run, never an empty success."""

import pytest

from tests.bridge.raw import ERAS, OK, answers_in_turn, entry, imported
from toolwire import RemoteCallError, Tool, ToolFailure
from toolwire.testing import raw, result

INPUT = b'{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}},"requestState":"opaque"}'
INCOMPLETE = {
    INPUT: "mcp: remote tool result requires further input",
    b'{"resultType":"input_required"}': "mcp: remote tool result requires further input",
    b'{"resultType":"input_required","content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}': (
        "mcp: remote tool result requires further input"
    ),
    b'{"resultType":"input_required","content":[],"isError":true}': "mcp: remote tool result requires further input",
    rb'{"content":[],"result\u0054ype":"input\u005frequired"}': "mcp: remote tool result requires further input",
    b'{"content":[],"resultType":"complete","resultType":"input_required"}': (
        "mcp: remote tool result requires further input"
    ),
    b'{"content":[],"resultType":"task"}': "mcp: the server's result is of an unknown type 'task'",
    b'{"content":[],"resultType":"Complete"}': "mcp: the server's result is of an unknown type 'Complete'",
    b'{"content":[],"resultType":""}': "mcp: the server's result is of an unknown type ''",
    b'{"content":[],"resultType":5}': "mcp: the server's result is of an unknown type '5'",
    b'{"content":[],"resultType":["complete"]}': "mcp: the server's result is of an unknown type '[\"complete\"]'",
    b'{"content":[],"resultType":true}': "mcp: the server's result is of an unknown type 'true'",
}


async def lost(tool: Tool) -> RemoteCallError:
    with pytest.raises(RemoteCallError) as caught:
        await tool.call()
    return caught.value


@pytest.mark.parametrize("era", ERAS)
async def test_a_result_that_is_not_complete_is_an_error_with_all_that_came(era: str) -> None:
    async with imported(entry("t"), calls=answers_in_turn(*INCOMPLETE), era=era) as (_, tools):
        errors = [await lost(tools["t"]) for _ in INCOMPLETE]
    assert [str(error) for error in errors] == list(INCOMPLETE.values())
    assert [error.raw for error in errors] == list(INCOMPLETE)
    assert all(error.may_have_run for error in errors)


@pytest.mark.parametrize("era", ERAS)
async def test_a_complete_result_says_so_or_says_nothing(era: str) -> None:
    bodies = [
        b'{"content":[{"type":"text","text":"a"}],"resultType":"complete"}',
        b'{"content":[{"type":"text","text":"a"}]}',
        b'{"content":[{"type":"text","text":"a"}],"resultType":null}',
    ]
    async with imported(entry("t"), calls=answers_in_turn(*bodies), era=era) as (_, tools):
        outputs = [await tools["t"].call() for _ in bodies]
    assert [output.text for output in outputs] == ["a", "a", "a"]
    assert [output.warnings for output in outputs] == [(), (), ("resultType is null",)]


@pytest.mark.parametrize("era", ERAS)
async def test_a_result_that_is_no_object_ends_the_call_with_its_text(era: str) -> None:
    bodies = [b"[]", b'"done"', b"5", b"true", b"[1,2]"]
    async with imported(entry("t"), calls=[*answers_in_turn(*bodies), result(OK)], era=era) as (_, tools):
        for body in bodies:
            error = await lost(tools["t"])
            assert "the server's result is " in str(error)
            assert body in (error.raw or b"")
            assert error.may_have_run
        assert await tools["t"].invoke() == "ok"


async def test_nan_in_a_result_ends_that_call_alone_with_the_text_on_raw() -> None:
    """Fault B4 and design 4.4."""
    bodies = [b'{"content":[],"structuredContent":{"x":NaN}}', b'{"content":[],"structuredContent":{"x":-Infinity}}']
    async with imported(entry("t"), calls=[*answers_in_turn(*bodies), result(OK)]) as (_, tools):
        for body in bodies:
            error = await lost(tools["t"])
            assert error.may_have_run
            assert body in (error.raw or b"")
        assert await tools["t"].invoke() == "ok"


async def test_a_result_over_256_levels_ends_that_call_alone_with_its_depth() -> None:
    deep = b'{"content":[],"structuredContent":' + b"[" * 300 + b"]" * 300 + b"}"
    kept = b'{"content":[],"structuredContent":' + b"[" * 255 + b"]" * 255 + b"}"
    async with imported(entry("t"), calls=[*answers_in_turn(deep, kept)]) as (_, tools):
        error = await lost(tools["t"])
        assert str(error) == "mcp: the result nests 301 levels deep, over the limit of 256"
        assert deep in (error.raw or b"")
        assert (await tools["t"].call()).structured == b"[" * 255 + b"]" * 255


ODD_FLAGS = {
    b"true": (True, 0),
    b"false": (False, 0),
    b"null": (False, 0),
    b'"true"': (True, 1),
    b"1": (True, 1),
    b'{"message":"x"}': (True, 1),
    b"0": (False, 1),
    b'"false"': (False, 1),
    b'""': (False, 1),
}


async def test_an_odd_is_error_is_an_error_unless_it_spells_no() -> None:
    """Ours: a failure that is read as a success costs more than the other way round, and either way all is kept."""
    bodies = [b'{"content":[{"type":"text","text":"t"}],"isError":' + flag + b"}" for flag in ODD_FLAGS]
    async with imported(entry("t"), calls=answers_in_turn(*bodies)) as (_, tools):
        for flag, (is_error, warnings) in ODD_FLAGS.items():
            try:
                output = await tools["t"].call()
            except ToolFailure as failure:
                output = failure.output
            assert (output.is_error, len(output.warnings)) == (is_error, warnings), flag


async def test_an_answer_that_is_both_result_and_error_ends_the_call() -> None:
    both = b'{"jsonrpc":"2.0","id":{id},"result":{"content":[]},"error":{"code":-32000,"message":"both"}}\n'
    async with imported(entry("t"), calls=raw(both)) as (_, tools):
        assert "both" in str(await lost(tools["t"]))
