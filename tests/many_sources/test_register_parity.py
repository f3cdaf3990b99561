"""Registered tools on both lanes: what a client hears is the same, call for call (issue 6, design 2)."""

import json
from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server

import toolwire
from tests.many_sources.support import Duck
from tests.many_sources.test_round_trip_rows import CONTENT, core_output
from tests.serving.parity import Step, compare
from tests.serving.raw_client import DISCOVER, ERAS, HANDSHAKE, INITIALIZE, INITIALIZED, MODERN, call_line, request_line
from toolwire import Tool, ToolFailure, ToolOutput, _core
from toolwire.bridge.discovered_output import DiscoveredOutput
from toolwire.contract.remote_output import RemoteOutput

TEXT = b'{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}'
EXACT = b'{"b":1.50,"a":[1E400,-0,123456789012345678901234567890]}'


def remote(kind: Any) -> ToolOutput:
    result = _core.read_result(b'{"content":%s,"structuredContent":%s}' % (CONTENT, EXACT))
    found: ToolOutput = kind(result, "default", None)
    return found


@toolwire.tool
async def counted() -> str:
    for step in (1, 2):
        await toolwire.report_progress(step, 2, "so far")
        await anyio.lowlevel.checkpoint()
    return "done"


@toolwire.tool
async def whoami() -> str:
    request = toolwire.current_request()
    assert request is not None
    return json.dumps([request.request_id, dict(request.meta), request.wants_progress])


async def nobody(name: str, invocation: Any) -> bool:
    return False


def make() -> Server[Any]:
    server: Server[Any] = Server("registered", version="1")
    toolwire.register(
        server,
        Tool.raw("echo", "says it", TEXT, lambda raw: raw.decode()),
        Tool.raw("guarded", "", None, lambda _: "", toolwire.guard(nobody)),
        Duck(core_output(), "core"),
        Duck(remote(DiscoveredOutput), "discovered"),
        Duck(remote(RemoteOutput), "imported"),
        Duck(ToolOutput(structured=b"1.50"), "scalar"),
        Duck(ToolOutput(), "empty"),
        Duck(ToolFailure("no", output=core_output()), "failure"),
        Duck(RuntimeError("kaboom"), "unknown"),
        Duck(lambda call: ToolOutput(call.arguments.decode()), "raw"),
        counted,
        whoami,
    )
    return server


CALLS = [
    ("echo", b'{ "text":"a", "n":1.50 }'),
    ("echo", b"{}"),
    ("echo", b'{"text":5}'),
    ("echo", b'{"text":"a","text":"b"}'),
    ("guarded", b"{}"),
    ("core", b"{}"),
    ("discovered", b"{}"),
    ("imported", b"{}"),
    ("scalar", b"{}"),
    ("empty", b"{}"),
    ("failure", b"{}"),
    ("unknown", b"{}"),
    ("raw", b'{"a":1E400,"b":-0,"c":{"d":0.10000000000000000555}}'),
    ("whoami", b"{}"),
]


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("era", ERAS)
async def test_both_lanes_say_the_same_to_the_byte(era: str) -> None:
    opening: list[Step] = [[INITIALIZE], [INITIALIZED]] if era == HANDSHAKE else [[DISCOVER]]
    steps: list[Step] = [[call_line(era, name, given)] for name, given in CALLS]
    steps.append([call_line(era, "counted", meta=b'"progressToken":"p"')])
    steps.append([call_line(era, "counted")])
    compared = await compare(make, [*opening, *steps, [request_line(era, "tools/list")]])
    assert compared.tolerated == set()
    assert compared.express.express_calls == len(steps)
    calls = slice(len(opening), -1)
    assert compared.express.answers[calls] == compared.sdk.answers[calls]
    exact = compared.express.answers[len(opening) + 6][0]
    assert b'"structuredContent":' + EXACT in exact
    assert (b"1.50" in compared.express.answers[len(opening) + 8][0]) == (era == MODERN)
