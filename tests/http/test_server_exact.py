"""Bytes survive both lanes over HTTP: arguments that come in, results and schemas that go out (design, section 2)."""

from typing import Any, cast

import pytest
from mcp.server.lowlevel import Server

import toolwire
from tests.http.server_parity import MODES
from tests.http.server_posts import HANDSHAKE, LIST, LIST_MODERN, MODERN, Site, call, opened, post
from tests.serving.raw_client import ERAS
from tests.serving.shop import REMOTE, shop
from toolwire import Tool, _core

ARGUMENTS = b'{"z":1.50,"a":1e3,"c":-0,"d":1E400,"e":"\\u00e9","f":123456789012345678901234567890}'
SCHEMA = b'{"type":"object","properties":{"z":{"maximum":1.50},"a":{"default":1e3}},"x-own":-0}'


def exact() -> Server[Any]:
    server = shop()
    toolwire.add_tools(server, Tool.raw("typed", "", SCHEMA, lambda arguments: arguments.decode()))
    return server


def watched() -> Server[Any]:
    """A middleware of the user's stands between: every request is the SDK's."""
    server = exact()

    async def seen(context: Any, call_next: Any) -> Any:
        return await call_next(context)

    server.middleware.append(cast(Any, seen))
    return server


def changing() -> Server[Any]:
    """Its middleware has the last word."""
    server = exact()

    async def changed(context: Any, call_next: Any) -> Any:
        result = await call_next(context)
        return {**result, "content": [{"type": "text", "text": "changed"}]} if "content" in result else result

    server.middleware.append(cast(Any, changed))
    return server


def result(message: bytes) -> dict[str, bytes]:
    return _core.members(_core.members(message)["result"])


@pytest.mark.parametrize("make", [exact, watched])
@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_arguments_and_results_keep_their_bytes_on_both_lanes(era: str, mode: dict[str, Any], make: Any) -> None:
    async with opened(make, era, **mode) as site:
        said = await site.ask(call(era, "raw", ARGUMENTS))
        assert said.answer["result"]["content"][0]["text"].encode() == ARGUMENTS
        passed = result((await site.ask(call(era, "remote"))).messages[-1])
        sent = _core.members(REMOTE)
        assert passed["content"] == sent["content"]
        assert passed["structuredContent"] == sent["structuredContent"]
        assert passed["_meta"].startswith(b'{"k":1e3')
        assert (site.lane.express_calls == 2) is (make is exact)


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_a_listing_keeps_the_bytes_of_a_schema(era: str, mode: dict[str, Any]) -> None:
    async with opened(exact, era, **mode) as site:
        assert SCHEMA in await listing(site, era)


async def listing(site: Site, era: str) -> bytes:
    reply = await site.ask(post(era, LIST_MODERN if era == MODERN else LIST))
    assert reply.header("content-length") in (None, str(len(reply.body)))
    return reply.messages[-1]


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_a_middleware_that_changes_a_result_has_the_last_word(era: str, mode: dict[str, Any]) -> None:
    async with opened(changing, era, **mode) as site:
        reply = await site.ask(call(era, "raw", ARGUMENTS))
        assert reply.answer["result"]["content"] == [{"type": "text", "text": "changed"}]
        assert site.lane.express_calls == 0


@pytest.mark.parametrize("as_json", [True, False])
async def test_a_request_of_the_sdks_own_is_asked_for_as_before(as_json: bool) -> None:
    async with opened(exact, HANDSHAKE, json_response=as_json) as site:
        reply = await site.ask(post(HANDSHAKE, b'{"jsonrpc":"2.0","id":1,"method":"ping"}'))
        assert reply.answer == {"jsonrpc": "2.0", "id": 1, "result": {}}
