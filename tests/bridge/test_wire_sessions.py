"""Sessions that run on a wire, whoever opened them: express requests carry the envelope of the SDK's own."""

import json
from typing import Any

import anyio
import mcp
import pytest
from mcp_types import Implementation

import toolwire
from tests.bridge.memory import discovered
from tests.bridge.raw import ERAS, NEW, OBJ, PATIENCE, Answers, arguments_of, connected, entry, on_both_loops, text
from toolwire import ClientWire, RemoteCallError, ToolFailure
from toolwire.testing import RawServer, error, listing, raw, result

SCHEMA = b'{"type":"object","maximum":1.50,"x":9007199254740993}'
ARGUMENTS = b'{"z":1.50,"a":1E400,\t"n":9007199254740993,"d":-0}'
ECHO = b'{"content":[],"structuredContent":{args}}'
ANSWERS: Answers = {"tools/list": listing(entry("t", SCHEMA)), "tools/call": result(ECHO)}
RESERVED = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
]
EXPRESS = toolwire._core.EXPRESS_ID


def message(line: bytes) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(line)
    return value


def envelope(line: bytes) -> list[bytes]:
    """Cut the bytes of each reserved member out of a line's `_meta`."""
    members = toolwire._core.members
    meta = members(members(members(line).get("params", b"{}")).get("_meta", b"{}"))
    return [meta[name] for name in RESERVED if name in meta]


async def exact(tools: toolwire.Toolset) -> None:
    """Check that a listing and a call of these tools keep every byte."""
    assert tools["t"].input_schema.raw == SCHEMA
    output = await tools["t"].call(ARGUMENTS)
    assert output.structured == ARGUMENTS


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_a_connection_goes_express_from_the_first_listing(era: str) -> None:
    async with connected(ANSWERS, era=era) as (server, connection):
        tools = await toolwire.tools(connection)
        await exact(tools)
        assert tools.connection is connection
        lines = [*server.requests("tools/list"), *server.requests("tools/call")]
        assert all(message(line)["id"] >= EXPRESS for line in lines)
        assert len(lines) == 2


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_an_sdk_client_on_a_wire_is_a_source_by_every_handle(era: str) -> None:
    with anyio.fail_after(PATIENCE), RawServer(ANSWERS, era=era) as server:
        wire = ClientWire(server.argv)
        async with mcp.Client(wire) as client:
            for source in (client, client.session, wire):
                await exact(await toolwire.tools(source))
            assert [tool.name for tool in (await client.list_tools()).tools] == ["t"]
        lines = server.requests("tools/list")
        assert [message(line)["id"] >= EXPRESS for line in lines] == [True, True, True, False]
        assert {tuple(envelope(line)) for line in lines} == {tuple(envelope(lines[-1]))}


@on_both_loops
async def test_an_sdk_session_on_the_streams_of_a_wire_is_a_source() -> None:
    with anyio.fail_after(PATIENCE), RawServer(ANSWERS) as server:
        wire = ClientWire(server.argv)
        async with wire as streams, mcp.ClientSession(*streams) as session:
            await session.initialize()
            for source in (session, wire):
                await exact(await toolwire.tools(source))
        lines = server.requests("tools/call")
        assert [arguments_of(line) for line in lines] == [ARGUMENTS, ARGUMENTS]
        assert all(b"_meta" not in line for line in server.received)


@pytest.mark.parametrize("mode", ["auto", NEW])
async def test_every_express_request_carries_the_sdks_own_envelope_value_for_value(mode: str) -> None:
    """And nothing else of the SDK's `_meta`: a log level, a token, a trace belong to one request each."""

    async def roots(_context: object) -> Any:
        raise NotImplementedError

    info = Implementation(name="me é", version="1.0", title='a"b')
    options: dict[str, Any] = {"mode": mode, "client_info": info, "list_roots_callback": roots, "log_level": "debug"}
    async with connected(ANSWERS, era=NEW, **options) as (server, connection):
        tools = await toolwire.tools(connection)
        await exact(tools)
        await exact(await toolwire.tools(connection))
        await connection.client.list_tools(cache_mode="bypass")
        lines = [*server.requests("tools/list"), *server.requests("tools/call")]
        own = [line for line in lines if message(line)["id"] < EXPRESS]
        express = [line for line in lines if message(line)["id"] >= EXPRESS]
        assert express
        (values,) = {tuple(envelope(line)) for line in own}
        assert len(values) == 3
        assert json.loads(values[0]) == NEW
        assert json.loads(values[1]) == {"name": "me é", "version": "1.0", "title": 'a"b'}
        assert "roots" in json.loads(values[2])
        assert {tuple(envelope(line)) for line in express} == {values}
        assert all(list(message(line)["params"]["_meta"]) == RESERVED for line in express)
        assert all("io.modelcontextprotocol/logLevel" in message(line)["params"]["_meta"] for line in own)


@on_both_loops
async def test_on_an_adopted_version_the_first_request_goes_down_the_sdk_lane_and_the_next_are_express() -> None:
    async with connected(ANSWERS, era=NEW, mode=NEW) as (server, connection):
        assert server.received == []
        await exact(await toolwire.tools(connection))
        first, call = server.received
        assert message(first)["id"] < EXPRESS <= message(call)["id"]
        assert envelope(first) == envelope(call)
        assert len(envelope(call)) == 3
        assert arguments_of(call) == ARGUMENTS


async def test_on_an_adopted_version_a_broken_first_page_is_salvaged_and_the_first_call_keeps_its_bytes() -> None:
    """The SDK refuses that page, so nothing has opened the express lane; the call's bytes are exact all the same."""
    salvaged = listing(entry("nan", b'{"type":"object","default":NaN}'), entry("t", SCHEMA))
    async with connected({**ANSWERS, "tools/list": salvaged}, era=NEW, mode=NEW) as (server, connection):
        tools = await toolwire.tools(connection)
        assert (tools.names, [record.name for record in tools.skipped]) == (("t",), ["nan"])
        await exact(tools)
        await exact(tools)
        first, second = server.requests("tools/call")
        assert message(first)["id"] < EXPRESS <= message(second)["id"]
        assert [arguments_of(line) for line in (first, second)] == [ARGUMENTS, ARGUMENTS]
        assert envelope(first) == envelope(second)


async def test_on_an_adopted_version_the_first_calls_end_like_any_others() -> None:
    page = listing(entry("nan", b'{"type":"object","default":NaN}'), entry("t"))
    calls = [
        error(-32602, "bad date", b'{"field":1.50}'),
        raw(b'{"jsonrpc":"2.0","id":{id},"result":[1.50]}\n'),
        error(-32000, "again"),
        result(b'{"resultType":"input_required"}'),
    ]
    async with connected({"tools/list": page, "tools/call": calls}, era=NEW, mode=NEW) as (server, connection):
        tool = (await toolwire.tools(connection))["t"]
        errors = []
        for _ in calls:
            with pytest.raises(RemoteCallError) as caught:
                await tool.call(b'{"a": 1.50}')
            errors.append(caught.value)
        assert str(errors[0]) == 'mcp: bad date (invalid params): {"field":1.50}'
        assert errors[0].data == b'{"field":1.50}'
        assert "is an array, not an object" in str(errors[1])
        assert b"[1.50]" in (errors[1].raw or b"")
        assert str(errors[3]) == "mcp: remote tool result requires further input"
        with pytest.raises(ToolFailure, match="INVALID_INPUT"):
            await tool.call(b"[]")
        assert len(server.requests("tools/call")) == 4


async def test_a_later_initialize_forgets_the_envelope() -> None:
    initialized = result(
        b'{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"raw","version":"1"}}'
    )
    with anyio.fail_after(PATIENCE), RawServer({**ANSWERS, "initialize": initialized}) as server:
        wire = ClientWire(server.argv)
        async with wire as streams, mcp.ClientSession(*streams) as session:
            session.adopt(discovered())
            tools = await toolwire.tools(session)
            await exact(tools)
            assert wire.sdk.envelope
            await session.initialize()
            assert not wire.sdk.envelope
            await exact(tools)
            await exact(await toolwire.tools(wire))
        before, *after = server.requests("tools/call")
        assert len(envelope(before)) == 3
        assert all(b"_meta" not in line for line in (*after, server.requests("tools/list")[-1]))
        assert all(message(line)["id"] >= EXPRESS for line in (before, *after))


async def test_a_wire_without_a_session_says_what_to_do() -> None:
    with anyio.fail_after(PATIENCE), RawServer(ANSWERS) as server:
        wire = ClientWire(server.argv)
        with pytest.raises(RemoteCallError, match="no session runs on this wire yet"):
            await toolwire.tools(wire)
        async with wire:
            with pytest.raises(RemoteCallError, match="no session runs on this wire yet") as caught:
                await toolwire.tools(wire)
            assert not caught.value.may_have_run
        assert server.requests("tools/list") == []


async def test_two_first_listings_at_once_get_their_own_answers() -> None:
    """On the SDK lane too, an answer is known by its id alone, whoever else asks at the same time."""
    pages = [listing(entry("a")), listing(entry("b")), listing(entry("c"))]
    ours: list[tuple[str, ...]] = []
    theirs: list[tuple[str, ...]] = []

    async def list_ours() -> None:
        ours.append((await toolwire.tools(connection)).names)

    async def list_theirs() -> None:
        theirs.append(tuple(tool.name for tool in (await connection.client.list_tools()).tools))

    async with connected({"tools/list": pages}, era=NEW, mode=NEW) as (_, connection):
        async with anyio.create_task_group() as tasks:
            for ask in (list_ours, list_theirs, list_ours):
                tasks.start_soon(ask)
        assert sorted(ours + theirs) == [("a",), ("b",), ("c",)]
        assert len(theirs) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_a_name_with_escapes_is_called_on_either_lane(era: str) -> None:
    names = {rb'"say \"hi\""': 'say "hi"', '"é"'.encode(): "é"}
    answers: Answers = {"tools/list": listing(*(entry(name, OBJ) for name in names)), "tools/call": result(text("ok"))}
    async with connected(answers, era=era, mode=NEW if era == NEW else "legacy") as (server, connection):
        tools = await toolwire.tools(connection)
        assert tools.names == tuple(names.values())
        assert [await tool.invoke() for tool in tools] == ["ok", "ok"]
        assert [message(line)["params"]["name"] for line in server.requests("tools/call")] == list(names.values())
