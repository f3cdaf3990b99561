"""A gateway: tools imported from one server are served on another, and every byte comes out as it went in.

The upstream server says exactly the bytes that it is given; the far client reads raw lines (fault D17).
"""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

import toolwire
from tests.serving.raw_client import ERAS, HANDSHAKE, MODERN, RawClient, request_line, served
from toolwire import _core
from toolwire.testing import RawServer, error, listing, raw, result

ENTRY = (
    b'{"name":"find","title":"Find","description":"finds \\u00e9","inputSchema":{"type":"object","properties":'
    b'{"q":{"type":"string","maxLength":1e2},"n":{"maximum":9007199254740993,"multipleOf":0.10}},"required":["q"],'
    b'"additionalProperties":false,"$defs":{"z":{},"a":{}}},"outputSchema":{"type":"object","x":-0},'
    b'"annotations":{"readOnlyHint":true,"priority":1.50},"_meta":{"ui":{"resourceUri":"ui://x"}}}'
)
MODES = ["legacy", "auto"]


@pytest.fixture
def anyio_backend() -> str:
    """Each test starts a process: one loop is enough here."""
    return "asyncio"


@asynccontextmanager
async def gateway(
    calls: Any, *, mode: str = "legacy", express: bool = True, kind: Any = Server, era: str = HANDSHAKE
) -> AsyncIterator[tuple[RawClient, RawServer]]:
    """A raw client before a server that serves what it imported from a raw server."""
    with RawServer({"tools/list": listing(ENTRY), "tools/call": calls}) as upstream:
        async with toolwire.connect(upstream.argv, mode=mode) as connection:
            server = kind("gateway")
            toolwire.add_tools(server, *await toolwire.tools(connection))
            async with served(server, express=express) as client:
                await client.open(era)
                yield client, upstream


def answer_of(client: RawClient) -> dict[str, bytes]:
    """The members of the last answer's result, each with its own bytes."""
    return _core.members(_core.members(client.lines[-1])["result"])


def own_meta(meta: bytes | None) -> dict[str, bytes]:
    """A result's `_meta` without the stamp that each server writes for itself."""
    members = {} if meta is None else _core.members(meta)
    return {name: value for name, value in members.items() if name != "io.modelcontextprotocol/serverInfo"}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", [Server, MCPServer])
async def test_h15_the_entry_is_listed_as_its_owner_wrote_it(era: str, kind: Any) -> None:
    async with gateway(result(b'{"content":[]}'), era=era, kind=kind) as (client, _):
        await client.ask(request_line(era, "tools/list"))
        entries = _core.read_page(_core.members(client.lines[-1])["result"]).entries
        assert [entry.text for entry in entries] == [ENTRY]


ARGUMENTS = [
    b'{"q":"a","n":1.50}',
    b'{"z":1,"a":[2,3],"nested":{"k":"v"}}',
    b'{ "q" : "\\u00e9<>&" , "n":1E400, "m":-0, "big":123456789012345678901234567890 }',
    b'{"n":%s}' % (b"9" * 5000),
    b'{"deep":%s%s}' % (b"[" * 190, b"]" * 190),
    b"{}",
]


@pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])
@pytest.mark.parametrize("era", ERAS)
async def test_argument_bytes_reach_the_far_server_unchanged(era: str, express: bool) -> None:
    async with gateway(result(b'{"content":[]}'), express=express, era=era) as (client, upstream):
        sent = [given for given in ARGUMENTS if express or len(given) < 4300]
        for given in sent:
            assert (await client.call(era, "find", given))["isError"] is False
        got = [_core.members(_core.members(line)["params"])["arguments"] for line in upstream.requests("tools/call")]
        assert got == sent


RESULTS = [
    b'{"content":[{"type":"text","text":"u","annotations":{"audience":["user"],"priority":1.50},"_meta":{"k":1e3}}]}',
    b'{"content":[{"type":"hologram","depth":1E400},{"type":"text","text":"a\\u00e9b"}]}',
    b'{"content":[{"type":"text"},5,{"type":"image","data":7},null,{"no":"type"}]}',
    b'{"content":[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"audio","data":"AA==","mimeType":"a/b"}]}',
    b'{"content":[{"type":"resource","resource":{"uri":"n://1","mimeType":"text/markdown","text":"# T","x":-0}}]}',
    b'{"content":[{"type":"resource","resource":{"uri":"n://2","blob":"AAEC"}},{"type":"resource_link","uri":"n://3"}]}',
    b'{"content":[ {"type":"text","text":"spaced"} ] , "structuredContent" : {"b" : 1.50, "a":[1E400,-0]} }',
    b'{"content":[],"structuredContent":{"n":%s,"deep":%s%s}}' % (b"9" * 5000, b"[" * 240, b"]" * 240),
    b'{"content":[],"_meta":{"ui":{"resourceUri":"ui://x"},"n":1.50}}',
    b'{"content":[{"type":"text","text":"rate limited"}],"isError":true,"_meta":{"retry":1.0}}',
    b'{"content":[{"type":"hologram"}],"structuredContent":{"code":1.50},"isError":true}',
]


@pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])
@pytest.mark.parametrize(
    ("mode", "era"), [("legacy", HANDSHAKE), ("legacy", MODERN), ("auto", HANDSHAKE), ("auto", MODERN)]
)
async def test_results_come_out_as_they_came_in(mode: str, era: str, express: bool) -> None:
    """Blocks that nobody here knows, broken ones, structured values, `_meta`, `isError`."""
    body = b',"resultType":"complete"}' if mode == "auto" else b"}"
    calls = [result(told[:-1] + body) for told in RESULTS]
    async with gateway(calls, mode=mode, express=express, era=era) as (client, _):
        for told in RESULTS:
            expected = _core.members(told)
            await client.call(era, "find", b'{"q":"a"}')
            answer = answer_of(client)
            assert answer["content"] == expected["content"]
            assert answer.get("structuredContent") == expected.get("structuredContent")
            assert answer["isError"] == expected.get("isError", b"false")
            assert own_meta(answer.get("_meta")) == own_meta(expected.get("_meta"))


SCALARS = [b"5", b'"text"', b"[1.50]", b"null", b"false", b"0"]


@pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])
async def test_a_structured_value_that_is_no_object_is_carried_where_the_era_can(express: bool) -> None:
    told = [
        b'{"content":[{"type":"text","text":"t"}],"structuredContent":%s,"resultType":"complete"}' % v for v in SCALARS
    ]
    for era in ERAS:
        async with gateway([result(body) for body in told], mode="auto", express=express, era=era) as (client, _):
            for value in SCALARS:
                await client.call(era, "find", b'{"q":"a"}')
                answer = answer_of(client)
                assert answer["content"] == b'[{"type":"text","text":"t"}]'
                assert answer.get("structuredContent") == (value if era == MODERN else None)


@pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])
async def test_half_of_a_surrogate_pair_is_mended_and_nothing_else(express: bool) -> None:
    content = b'[{"type":"text","text":"cut \\ud83d, \\\\ud83d, \\ud83d\\ude00"}]'
    told = b'{"content":%s,"structuredContent":{"\\udc00":1.50}}' % content
    async with gateway(result(told), express=express) as (client, _):
        await client.call(HANDSHAKE, "find", b'{"q":"a"}')
        answer = answer_of(client)
        assert answer["content"] == b'[{"type":"text","text":"cut \\ufffd, \\\\ud83d, \\ud83d\\ude00"}]'
        assert answer["structuredContent"] == b'{"\\ufffd":1.50}'


FAILING = [
    (error(-32602, "no such city"), "mcp: no such city (invalid params)"),
    (error(-32000, "gone"), "mcp: gone"),
    (raw(b'{"jsonrpc":"2.0","id":{id},"result":[]}\n'), "mcp: the server's result is an array, not an object"),
    (result(b'{"content":[],"isError":true}'), "mcp: tool returned an error"),
    (result(b'{"isError":true}'), "mcp: tool returned an error"),
]


@pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])
async def test_every_failure_upstream_is_a_text_at_the_far_end(express: bool) -> None:
    async with gateway([answer for answer, _ in FAILING], express=express) as (client, _):
        for _, text in FAILING:
            told = await client.call(HANDSHAKE, "find", b'{"q":"a"}')
            assert told["isError"] is True
            assert told["content"][0]["text"].startswith(text)


@pytest.mark.parametrize("express", [True, False], ids=["express", "sdk"])
async def test_arguments_that_are_refused_before_the_wire_never_reach_it(express: bool) -> None:
    async with gateway(result(b'{"content":[]}'), express=express) as (client, upstream):
        told = await client.call(HANDSHAKE, "find", b'{"q":"a","q":"b"}')
        assert told["content"][0]["text"].startswith('INVALID_INPUT: tool "find": field "q": given twice')
        assert upstream.requests("tools/call") == []


async def test_a_prefix_and_a_policy_of_the_import_are_the_gateways() -> None:
    with RawServer({"tools/list": listing(ENTRY), "tools/call": result(b'{"content":[]}')}) as upstream:
        async with toolwire.connect(upstream.argv) as connection:
            server: Server[Any] = Server("gateway")
            hints = toolwire.annotations(read_only=False)
            toolwire.add_tools(server, *await toolwire.tools(connection, prefix="up_", policy=hints))
            async with served(server) as client:
                await client.open(HANDSHAKE)
                await client.ask(request_line(HANDSHAKE, "tools/list"))
                (listed,) = json.loads(client.lines[-1])["result"]["tools"]
                assert (listed["name"], listed["annotations"]) == ("up_find", {"readOnlyHint": False})
                await client.call(HANDSHAKE, "up_find", b'{"q":"a"}')
                (sent,) = upstream.requests("tools/call")
                assert _core.members(_core.members(sent)["params"])["name"] == b'"find"'


@pytest.mark.parametrize("mode", MODES)
async def test_the_demo_server_behind_a_gateway_is_the_demo_server(mode: str) -> None:
    """End to end with toolwire at both ends: the far toolset has the fingerprint of the near one."""
    async with toolwire.connect([sys.executable, "-m", "toolwire.demo"], mode=mode) as connection:
        near = await toolwire.tools(connection)
        server: Server[Any] = Server("gateway")
        toolwire.add_tools(server, *near)
        async with toolwire.connect(server, mode=mode) as inner:
            far = await toolwire.tools(inner)
            assert far.names == near.names
            assert far.fingerprint == near.fingerprint
            assert far.entries_json() == near.entries_json()
            for tool in near:
                given = b'{"text":"a","message":"b","n":1.50,"value":{"x":1E400},"seconds":0}'
                assert await outcome(tool, given) == await outcome(far[tool.name], given)


async def outcome(tool: toolwire.Tool, arguments: bytes) -> tuple[str, Any, Any]:
    try:
        output = await tool.call(arguments)
    except toolwire.ToolError as failure:
        return str(failure), None, None
    return output.text, output.structured, [part.raw for part in output.parts]
