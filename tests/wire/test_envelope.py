"""Faults H1 to H8: what a server may do to a message's envelope, while requests wait on both lanes."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
import mcp
import pytest

import toolwire
from tests.wire.lanes import BODIES, ERAS, OK, Lanes, good, lanes, opening
from toolwire.testing import Answer, error, park, raw, release, silence, then

pytestmark = pytest.mark.anyio

BROKEN: dict[str, tuple[bytes, str]] = {
    "no body": (b'{"jsonrpc":"2.0","id":{id}}', "has neither a result nor an error"),
    "every member null": (
        b'{"jsonrpc":"2.0","id":{id},"method":null,"result":null,"error":null}',
        "result is null, not an object",
    ),
    "a null result": (b'{"jsonrpc":"2.0","id":{id},"result":null}', "result is null, not an object"),
    "a list for a result": (b'{"jsonrpc":"2.0","id":{id},"result":[1]}', "result is an array, not an object"),
    "a text for a result": (b'{"jsonrpc":"2.0","id":{id},"result":"ok"}', "result is a string, not an object"),
    "no version": (b'{"id":{id},"result":{"content":[]}}', 'lacks "jsonrpc": "2.0"'),
    "a version that is a number": (b'{"jsonrpc":2.0,"id":{id},"result":{}}', 'lacks "jsonrpc": "2.0"'),
    "an older version": (b'{"jsonrpc":"1.0","id":{id},"result":{}}', 'lacks "jsonrpc": "2.0"'),
    "a text for an error": (b'{"jsonrpc":"2.0","id":{id},"error":"boom"}', "error is a string, not an object"),
    "a code that is a text": (b'{"jsonrpc":"2.0","id":{id},"error":{"code":"E1"}}', "error has no integer code"),
    "an error without a code": (b'{"jsonrpc":"2.0","id":{id},"error":{"message":"x"}}', "error has no integer code"),
    "a comma too many": (b'{"jsonrpc":"2.0","id":{id},"result":{"content":[],}}', "not JSON: .* at byte"),
    "a number that is none": (b'{"jsonrpc":"2.0","id":{id},"result":{"x":NaN}}', "not JSON: .* at byte"),
    "a tab in a string": (b'{"jsonrpc":"2.0","id":{id},"result":{"x":"\t"}}', "not JSON: .* at byte"),
    "brackets that do not match": (b'{"result":{"content":[}},"jsonrpc":"2.0","id":{id}}', "not JSON: .* at byte"),
    "a message that was cut": (
        b'{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"te',
        "not JSON: unexpected end",
    ),
}


@asynccontextmanager
async def broken(line: bytes, era: str, split: int | None) -> AsyncIterator[tuple[Lanes, toolwire.Tool]]:
    answers: dict[str, Sequence[Answer]] = {
        "tools/list": [good(BODIES["tools/list"]), line, good(BODIES["tools/list"])],
        "tools/call": [line, good(BODIES["tools/call"])],
        "prompts/get": [line, good(BODIES["prompts/get"])],
    }
    async with lanes(answers, era=era, peer={"split": split}) as all_four:
        yield all_four, (await toolwire.tools(all_four.connection))["t"]


@pytest.mark.parametrize("split", [None, 1], ids=["whole", "bytewise"])
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("fault", BROKEN)
async def test_h1_a_right_id_with_a_broken_body_ends_its_request_at_once_and_no_other(
    fault: str, era: str, split: int | None
) -> None:
    line, reason = BROKEN[fault]
    async with broken(line + b"\n", era, split) as (all_four, tool):
        with pytest.raises(toolwire.RemoteCallError, match=reason) as call:
            await tool.invoke(b"{}")
        assert call.value.may_have_run
        assert call.value.raw is not None
        assert call.value.raw.decode()[:200] in str(call.value)
        with pytest.raises(toolwire.RemoteCallError, match=reason) as listing:
            await all_four.listed()
        assert not listing.value.may_have_run
        with pytest.raises(mcp.MCPError, match=reason):
            await all_four.prompted()
        assert (await tool.invoke(b"{}"), await all_four.listed(), await all_four.prompted()) == ("ok", ["t"], "ok")
        assert all_four.counters == {"broken": 3}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("fault", BROKEN)
async def test_h1_a_broken_answer_to_the_handshake_is_a_connect_error_at_once(fault: str, era: str) -> None:
    line, reason = BROKEN[fault]
    with pytest.raises(toolwire.ConnectError, match=reason):
        async with lanes(opening(era, lambda _: line + b"\n"), era=era):
            pass


DEEP = b'{"x":' * 5000 + b"1" + b"}" * 5000


async def test_h1_an_answer_that_nests_too_deep_ends_its_request_on_either_lane() -> None:
    deep = good(b'{"content":[],"messages":[],"x":' + DEEP + b"}")
    answers = {"tools/call": [deep, good(BODIES["tools/call"])], "prompts/get": [deep, good(BODIES["prompts/get"])]}
    async with lanes({"tools/list": good(BODIES["tools/list"]), **answers}) as all_four:
        tool = (await toolwire.tools(all_four.connection))["t"]
        with pytest.raises(toolwire.RemoteCallError, match=r"nests .* deep"):
            await tool.invoke(b"{}")
        with pytest.raises(mcp.MCPError, match="nests too deep"):
            await all_four.prompted()
        assert (await tool.invoke(b"{}"), await all_four.prompted()) == ("ok", "ok")


@pytest.mark.parametrize("era", ERAS)
async def test_h1_a_handshake_that_nests_too_deep_is_a_connect_error_at_once(era: str) -> None:
    with pytest.raises(toolwire.ConnectError, match="nests too deep"):
        async with lanes(opening(era, lambda _: good(DEEP)), era=era):
            pass


async def test_a_result_that_also_bears_a_method_is_still_the_answer() -> None:
    answers = {method: line.replace(b'"result"', b'"method":"x","result"', 1) for method, line in OK.items()}
    async with lanes(answers) as all_four:
        assert (await all_four.called(), await all_four.listed(), await all_four.prompted()) == ("ok", ["t"], "ok")


NULL_ID = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error","data":[1.50]}}\n'


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("line", [NULL_ID, NULL_ID.replace(b'"id":null,', b"")], ids=["null", "absent"])
async def test_h3_an_error_without_an_id_ends_the_only_request_that_waits(line: bytes, era: str) -> None:
    async with broken(line, era, None) as (all_four, tool):
        with pytest.raises(toolwire.RemoteCallError) as call:
            await tool.invoke(b"{}")
        assert (call.value.code, call.value.data, call.value.may_have_run) == (-32700, b"[1.50]", False)
        with pytest.raises(mcp.MCPError) as prompt:
            await all_four.prompted()
        error = prompt.value.error
        assert (error.code, error.message, error.data) == (-32700, "Parse error", [1.5])
        with pytest.raises(toolwire.RemoteCallError, match="Parse error"):
            await all_four.listed()
        assert all_four.counters == {}


async def test_h3_an_error_without_an_id_is_counted_and_ends_nothing_while_several_wait() -> None:
    answer = park(good(BODIES["tools/call"]))
    nameless = b'{"jsonrpc":"2.0","id":null,"error":"boom"}\n'
    async with lanes({"tools/call": [answer, then(answer, NULL_ID, nameless, release())]}) as all_four:
        assert await gathered(all_four.called, all_four.called) == ["ok", "ok"]
        assert all_four.counters == {"unclaimed_answers": 2, "broken": 1}


async def gathered(*jobs: Callable[[], Awaitable[str]]) -> list[str]:
    texts = [""] * len(jobs)

    async def run(index: int, job: Callable[[], Awaitable[str]]) -> None:
        texts[index] = await job()

    async with anyio.create_task_group() as group:
        for index, job in enumerate(jobs):
            group.start_soon(run, index, job)
    return texts


@pytest.mark.parametrize("split", [None, 1], ids=["whole", "bytewise"])
async def test_h4_an_answer_for_nobody_and_a_second_answer_are_counted_and_the_first_one_stands(
    split: int | None,
) -> None:
    def twice(body: bytes) -> Answer:
        strangers = [b"99", b'"abc"', b"5000000000", b"-7", b'"1e3"', b"[1]", b"7.5", b"true"]
        nobody = [good(body).replace(b"{id}", stranger) for stranger in strangers]
        second = good(body).replace(b'"ok"', b'"second"')
        return then(*nobody, good(body), second, second)

    async with lanes({method: twice(body) for method, body in BODIES.items()}, peer={"split": split}) as all_four:
        for _ in range(2):
            assert await all_four.called() == "ok"
            assert await all_four.prompted() == "ok"
            assert await all_four.listed() == ["t"]
        # The last second answer of each may still be on its way; the handshake is a request more to wait behind.
        await all_four.called()
        late, unclaimed = (all_four.counters[name] for name in ("late_answers", "unclaimed_answers"))
        assert late >= 2 * 5 + 5
        assert unclaimed >= 7 * 6


@pytest.mark.parametrize("split", [None, 1], ids=["whole", "bytewise"])
async def test_h2_a_batch_answers_many_and_carries_what_is_no_answer(split: int | None) -> None:
    parked = park(good(BODIES["tools/call"])[:-1] + b",")
    rest = b'{"jsonrpc":"2.0","method":"notifications/x"},{},3,{"id":8,"result":{}}]\n'
    flush = then(raw(b"["), release(backwards=True), rest, good(BODIES["prompts/get"]))
    async with lanes({"tools/call": parked, "prompts/get": flush}, peer={"split": split}) as all_four:
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(all_four.called)
            await all_four.server.arrived("tools/call", 5)
            assert await all_four.prompted() == "ok"
        assert all_four.counters == {"batches": 1, "broken": 1, "unclaimed_answers": 1}


@pytest.mark.parametrize("split", [None, 1], ids=["whole", "bytewise"])
@pytest.mark.parametrize(
    "line",
    [
        b'[{"jsonrpc":"2.0","id":{id},"result":{"content":[],}}]',
        b'[{"jsonrpc":"2.0","method":"notifications/x"},{"id":{id},"jsonrpc":"2.0","error":{"code":-1,"message":}},3]',
        b'[3,{},{"jsonrpc":"2.0","id":{id},"result":{"con',
        b'[{"jsonrpc":"2.0",\n  "id":{id},\n  "result":{"content":[]}}]',
    ],
    ids=["the only one", "between others", "cut", "over several lines"],
)
async def test_h1_a_broken_answer_in_a_batch_ends_its_request_at_once(line: bytes, split: int | None) -> None:
    async with broken(line + b"\n", ERAS[0], split) as (all_four, tool):
        with pytest.raises(toolwire.RemoteCallError, match=r"not JSON|multi-line"):
            await tool.invoke(b"{}")
        with pytest.raises(mcp.MCPError, match=r"not JSON|multi-line"):
            await all_four.prompted()
        assert await tool.invoke(b"{}") == await all_four.prompted() == "ok"


@pytest.mark.parametrize("split", [None, 1], ids=["whole", "bytewise"])
async def test_h1_a_broken_batch_still_carries_the_answers_that_are_whole(split: int | None) -> None:
    line = b"[" + good(BODIES["tools/call"])[:-1] + b",{]\n"
    async with lanes({"tools/call": line, "prompts/get": good(BODIES["prompts/get"])}, peer={"split": split}) as lane:
        assert await lane.called() == await lane.prompted() == "ok"


@pytest.mark.parametrize("era", ERAS)
async def test_h8_an_errors_code_message_and_data_reach_the_model_and_the_exception(era: str) -> None:
    data = b'{"field":"when","n":1.50}'
    answers = {"tools/list": good(BODIES["tools/list"]), "tools/call": error(-32602, "bad date", data)}
    async with lanes({**answers, "prompts/get": error(-32602, "bad date", data)}, era=era) as all_four:
        tool = (await toolwire.tools(all_four.connection))["t"]
        with pytest.raises(toolwire.RemoteCallError) as call:
            await tool.invoke(b"{}")
        assert str(call.value) == 'mcp: bad date (invalid params): {"field":"when","n":1.50}'
        assert (call.value.code, call.value.data, call.value.may_have_run) == (-32602, data, False)
        with pytest.raises(mcp.MCPError) as prompt:
            await all_four.prompted()
        assert (prompt.value.error.message, prompt.value.error.data) == ("bad date", {"field": "when", "n": 1.5})


@pytest.mark.parametrize(
    ("answer", "text", "may_have_run"),
    [
        (error(-32603, "disk full"), "mcp: disk full (internal error)", True),
        (error(-32601, ""), "mcp: method not found", False),
        (error(7, ""), "mcp: error 7", True),
        (error(-32000, "x", b'"' + b"y" * 600 + b'"'), "mcp: x", True),
        (error(-32000, "x", b"null"), "mcp: x", True),
        (raw(b'{"jsonrpc":"2.0","id":{id},"error":{"code":-32e3}}\n'), "mcp: error -32000", True),
    ],
)
async def test_h8_what_a_model_reads_of_an_error_is_short_and_says_what_the_code_means(
    answer: Answer, text: str, *, may_have_run: bool
) -> None:
    async with lanes({"tools/list": good(BODIES["tools/list"]), "tools/call": answer}) as all_four:
        tool = (await toolwire.tools(all_four.connection))["t"]
        with pytest.raises(toolwire.RemoteCallError) as call:
            await tool.invoke(b"{}")
        assert (str(call.value), call.value.may_have_run) == (text, may_have_run)


@pytest.mark.parametrize(
    ("line", "identifier", "reason"),
    [
        (b'{"jsonrpc":"2.0","id":1000000000,"method":"ping","params":{,}}', 1_000_000_000, "not JSON"),
        (b'{"jsonrpc":"2.0","id":"a\\"b","method":5}', 'a"b', "is a number, not a string"),
        (b'{"id":3,"method":"ping"}', 3, 'lacks "jsonrpc"'),
        (b'{"jsonrpc":"2.0","id":4,"method":"ping","params":7}', 4, "could not be read"),
        (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":' + DEEP + b"}}", 5, "could not be read"),
    ],
)
async def test_a_broken_request_of_the_server_is_told_so_and_ends_nothing_of_ours(
    line: bytes, identifier: int | str, reason: str
) -> None:
    asked = then(line + b"\n", good(BODIES["prompts/get"]))
    async with lanes({"tools/call": silence(), "prompts/get": asked}) as all_four:
        async with anyio.create_task_group() as group:
            group.start_soon(all_four.called)
            await all_four.server.arrived("tools/call")
            assert await all_four.prompted() == "ok"
            answer = json.loads((await all_four.server.arrived(""))[0])
            assert (answer["id"], answer["error"]["code"]) == (identifier, -32600)
            assert reason in answer["error"]["message"]
            assert list(all_four.wire.express.pending) == [1_000_000_000]
            group.cancel_scope.cancel()
        assert all_four.counters["refused_messages"] == 1


async def test_a_request_of_the_server_with_an_id_of_ours_is_a_request() -> None:
    asked = then(b'{"jsonrpc":"2.0","id":{id},"method":"ping"}\n', good(BODIES["tools/call"]))
    async with lanes({"tools/call": asked, "prompts/get": asked}) as all_four:
        assert await all_four.called() == "ok"
        await all_four.server.arrived("", 1)
        pong = json.loads(all_four.server.requests("")[0])
        assert pong == {"jsonrpc": "2.0", "id": 1000000000, "result": {}}
