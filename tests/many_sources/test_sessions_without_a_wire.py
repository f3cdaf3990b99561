"""Discovery over sessions of the SDK that run on no wire: the same, but for floats that the SDK has decoded."""

import pytest

import toolwire
from tests.bridge.memory import memory_session
from tests.bridge.raw import NEW, OBJ, OLD
from toolwire import InvalidInvocation, RemoteCallError, Source, ToolFailure

TOOL = {"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}}}
LISTED = {"tools": [TOOL], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
ASKED = {
    "resultType": "input_required",
    "inputRequests": {"q": {"method": "elicitation/create", "params": {"message": "Which?"}}},
    "requestState": "s",
}


@pytest.mark.parametrize("era", [OLD, NEW])
async def test_calls_are_admitted_and_checked_there_too(era: str) -> None:
    calls = [
        {"content": [{"type": "text", "text": "ok", "_meta": {"k": 1}}], "resultType": "complete"},
        {"content": [], "isError": True, "resultType": "complete"},
    ]
    async with memory_session({"tools/list": LISTED, "tools/call": calls}, era=era) as (server, session):
        (tool,) = await toolwire.discover([Source("s", session)], request_meta=lambda _: {"user": "u"})
        with pytest.raises(InvalidInvocation):
            await tool.call(b'{"a":"x"}')
        output = await tool.call(b'{"a":9007199254740993}')
        assert output.parts[0].metadata["mcp/content"] == b'{"type":"text","_meta":{"k":1}}'
        with pytest.raises(ToolFailure):
            await tool.call(b"{}")
        sent = server.params("tools/call")
        assert [params["arguments"] for params in sent] == [{"a": 9007199254740993}, {}]
        assert sent[0]["_meta"]["user"] == "u"


async def test_a_question_that_was_not_negotiated_is_incomplete() -> None:
    async with memory_session({"tools/list": LISTED, "tools/call": ASKED}, era=NEW) as (_, session):
        (tool,) = await toolwire.discover([Source("s", session)])
        with pytest.raises(RemoteCallError, match="requires further input"):
            await tool.call(b"{}")
    assert tool.binding.contract.input_schema != OBJ
