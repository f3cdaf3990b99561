"""`Mcp-Param-*`: what a schema asks to see in a header is judged by the SDK's own rule, and refused by the SDK."""

from typing import Any

import mcp_types as types
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

import toolwire
from tests.http.server_parity import compare
from tests.http.server_posts import MODERN, Ask, call
from toolwire import Tool

SCHEMA = (
    b'{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},'
    b'"level":{"type":"integer","x\\u002dmcp-header":"Level"},'
    b'"inner":{"type":"object","properties":{"on":{"type":"boolean","x-mcp-header":"On"}}},"free":{}}}'
)
INVALID = b'{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}'


def tools() -> list[Tool]:
    def said(arguments: bytes) -> str:
        return arguments.decode()

    return [
        Tool.raw("headed", "", SCHEMA, said),
        Tool.raw("invalid", "", INVALID, said),
        Tool.raw("plain", "", b'{"type":"object"}', said),
    ]


def lowlevel() -> Server[Any]:
    server: Server[Any] = Server("shop", version="1")
    toolwire.add_tools(server, *tools())
    return server


def mcpserver() -> MCPServer:
    """It looks schemas up among tools of its own, and so asks for no header of ours."""
    server = MCPServer("shop", version="1")
    toolwire.add_tools(server, *tools())
    return server


def looked_up() -> Server[Any]:
    """The user says where schemas are found."""

    def schema(name: str) -> dict[str, Any] | None:
        if name == "plain":
            raise RuntimeError("no idea")
        return {"type": "object", "properties": {"free": {"type": "string", "x-mcp-header": "Free"}}}

    server: Server[Any] = Server("shop", version="1", get_tool_input_schema=schema)
    toolwire.add_tools(server, *tools())
    return server


def listed_by_the_user() -> Server[Any]:
    """Another listing came after ours: its schemas are what the SDK goes by."""
    server = lowlevel()

    async def listing(context: Any, params: Any) -> types.ListToolsResult:
        schema = {"type": "object", "properties": {"free": {"type": "string", "x-mcp-header": "Free"}}}
        return types.ListToolsResult(tools=[types.Tool(name="headed", input_schema=schema)])

    server.add_request_handler("tools/list", types.PaginatedRequestParams, listing)
    return server


def asks() -> list[Ask]:
    cases: list[tuple[str, bytes, dict[str, tuple[str, ...]]]] = [
        ("headed", b"{}", {}),
        ("headed", b"{}", {"region": ("eu",)}),
        ("headed", b'{"region":"eu"}', {}),
        ("headed", b'{"region":"eu"}', {"region": ("eu",)}),
        ("headed", b'{"region":"eu"}', {"region": ("us",)}),
        ("headed", b'{"region":"eu"}', {"region": ("eu", "us")}),
        ("headed", b'{"region":"eu"}', {"region": ("=?base64?ZXU=?=",)}),
        ("headed", b'{"region":"eu"}', {"region": ("=?base64?!?=",)}),
        ("headed", b'{"region":null}', {}),
        ("headed", b'{"region":["eu"]}', {}),
        ("headed", b'{"level":7}', {"level": ("7",)}),
        ("headed", b'{"level":7}', {"level": ("7.0",)}),
        ("headed", b'{"level":7.0}', {"level": ("7",)}),
        ("headed", b'{"level":1e2}', {"level": ("100",)}),
        ("headed", b'{"level":1' + b"0" * 30 + b"}", {"level": ("1" + "0" * 30,)}),
        ("headed", b'{"level":7}', {}),
        ("headed", b'{"inner":{"on":true}}', {"on": ("true",)}),
        ("headed", b'{"inner":{"on":true}}', {"on": ("false",)}),
        ("headed", b'{"inner":{"on":true}}', {}),
        ("headed", b'{"free":1}', {}),
        ("headed", b'{"free":"x"}', {"free": ("x",)}),
        ("invalid", b'{"a":1}', {}),
        ("invalid", b'{"a":1}', {"a": ("2",)}),
        ("plain", b'{"a":1}', {}),
        ("plain", b'{"a":1}', {"a": ("2",)}),
    ]
    made = []
    for name, arguments, headers in cases:
        ask = call(MODERN, name, arguments)
        for header, values in headers.items():
            ask = ask.with_header(f"mcp-param-{header}", *values)
        made.append(ask)
    return made


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("make", [lowlevel, mcpserver, looked_up, listed_by_the_user])
async def test_what_is_mirrored_in_headers_is_judged_alike(make: Any, as_json: bool) -> None:
    replies, site = await compare(make, MODERN, asks(), json_response=as_json)
    statuses = [reply.status for reply in replies]
    assert site.lane.express_calls <= statuses.count(200)
    assert 400 in statuses or make is mcpserver
    if make is not listed_by_the_user:
        assert site.lane.express_calls > 5
