"""Registered tools on the SDK's own transport, cancelled calls, and many calls at once."""

import json
from typing import Any

import anyio
import mcp
import pytest
from mcp import MCPError
from mcp.server.lowlevel import Server

import toolwire
from tests.bridge.raw import ERAS, OLD, PATIENCE, entry, on_both_loops
from tests.many_sources.support import FIXED, Duck, discovered, mode, registered
from toolwire import ToolFailure, ToolOutput
from toolwire.testing import park, release, then

TEXT = b'{"type":"object","required":["text"]}'


@pytest.mark.parametrize("era", ERAS)
async def test_the_sdks_own_transport_hears_no_more_than_a_wire(era: str) -> None:
    server: Server[Any] = Server("own", version="1")
    failure = ToolFailure("x", output=ToolOutput("said", structured=b'{"a":1}'))
    toolwire.register(
        server, Duck(RuntimeError("kaboom"), "unknown"), Duck(failure, "failure"), Duck(ToolOutput("ok"), "fine", TEXT)
    )
    with anyio.fail_after(PATIENCE):
        async with mcp.Client(server, mode=mode(era)) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["failure", "fine", "unknown"]
            with pytest.raises(MCPError) as caught:
                await client.call_tool("unknown", {})
            assert (caught.value.error.code, caught.value.error.message) == (FIXED["code"], FIXED["message"])
            assert caught.value.error.data is None
            failed = await client.call_tool("failure", {})
            assert (failed.is_error, failed.structured_content) == (True, {"a": 1})
            assert (await client.call_tool("fine", {"text": 1.5})).is_error is False
            refused = await client.call_tool("fine", {})
            assert refused.is_error
            assert "toolwire: invalid invocation: arguments: " in str(refused.content)


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_a_cancelled_call_is_cancelled_at_the_server(era: str) -> None:
    begun, ended = anyio.Event(), anyio.Event()

    async def handler(arguments: bytes) -> str:
        del arguments
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        return ""

    async with (
        registered(toolwire.Tool.raw("t", "", None, handler), era=era) as (_, tools),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(tools[0].call, b"{}")
        await begun.wait()
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True), anyio.fail_after(PATIENCE):
            await ended.wait()
    assert ended.is_set()


async def test_many_calls_at_once_get_their_own_answers() -> None:
    """Fault I12: twenty calls, answered in reverse order."""
    answer = park(
        b'{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"text","text":"x"}],"structuredContent":{args}}}\n'
    )
    calls = [answer] * 19 + [then(answer, release(backwards=True))]
    heard: dict[int, bytes | None] = {}
    async with discovered(entry("t"), calls=calls, era=OLD) as (_, tools):

        async def call(number: int) -> None:
            heard[number] = (await tools[0].call(b'{"n":%d}' % number)).structured

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(call, number)
    assert {number: json.loads(found or b"null") for number, found in heard.items()} == {n: {"n": n} for n in range(20)}
