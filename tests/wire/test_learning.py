"""What an express request has to carry is learned from the SDK's own requests, and nothing more than that."""

import json
from typing import Any

import anyio
import mcp
import mcp_types as types
import pytest
from mcp.client import session as sdk_session

import toolwire
from tests.wire.lanes import BODIES, ERAS, OK, OPENINGS, good, lanes, nothing_left, opening, until
from toolwire.testing import RawServer, error, silence, then, wait_for
from toolwire.wire import sdk_streams
from toolwire.wire.client import ClientWire

pytestmark = pytest.mark.anyio
MODERN, LEGACY = "2026-07-28", "2025-11-25"
RESERVED = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
]


def meta_of(line: bytes) -> dict[str, Any]:
    meta: dict[str, Any] = json.loads(line)["params"]["_meta"]
    return meta


async def ignored(progress: float, total: float | None, message: str | None) -> None:
    """Give the SDK's request a progress token."""


async def sampled(*_: object) -> types.ErrorData:
    return types.ErrorData(code=1, message="no")


async def test_an_express_call_carries_the_three_reserved_members_as_the_sdk_spelled_them_and_nothing_else() -> None:
    info = types.Implementation(name="zoë & co", version="1.0", title="\u2028")
    async with lanes(OK, era=MODERN, client_info=info, sampling_callback=sampled, log_level="debug") as all_four:
        tool = (await toolwire.tools(all_four.connection))["t"]
        trace: Any = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "mine": 1}
        await all_four.connection.client.call_tool("t", {"sdk": 1}, progress_callback=ignored, meta=trace)
        assert await tool.invoke(b'{"express":1}') == "ok"
        sdk, express = all_four.server.requests("tools/call")
        assert {"progressToken", "traceparent", "mine", "io.modelcontextprotocol/logLevel"} <= meta_of(sdk).keys()
        assert list(meta_of(express)) == RESERVED
        for name, value in meta_of(express).items():
            member = f'"{name}":' + json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            assert member.encode() in sdk
            assert member.encode() in express


async def test_a_session_of_the_handshake_era_carries_nothing() -> None:
    async with lanes(OK) as all_four:
        mine: Any = {"mine": 1}
        await all_four.connection.client.call_tool("t", {}, meta=mine)
        await all_four.listed()
        assert all_four.server.requests("tools/list")[-1].endswith(b'"method":"tools/list","params":{}}')


async def test_a_later_handshake_forgets_what_was_learned() -> None:
    answers = {**OK, **opening(MODERN), **opening(LEGACY)}
    with RawServer(answers) as server, anyio.fail_after(20):
        wire = ClientWire(server.argv)
        async with nothing_left(server), wire as streams, mcp.ClientSession(*streams) as session:
            await session.discover()
            await toolwire.tools(session)
            states = [wire.open]
            await session.initialize()
            states.append(wire.open)
            await toolwire.tools(session)
            assert states == [True, True]
        modern, handshake = server.requests("tools/list")
        assert list(meta_of(modern)) == RESERVED
        assert handshake.endswith(b'"params":{}}')


async def test_a_failed_probe_opens_nothing_before_the_handshake_is_answered_and_believed() -> None:
    """A result that the SDK refuses is no open session either: the lane waits for `notifications/initialized`."""
    refused = opening(LEGACY, lambda line: line.replace(b"2025-11-25", b"1999-01-01"))
    initialize = [then(wait_for(b'"go"'), refused["initialize"]), opening(LEGACY)["initialize"]]
    with RawServer({**OK, "initialize": initialize}) as server, anyio.fail_after(20):
        wire = ClientWire(server.argv)
        async with nothing_left(server), wire as streams, mcp.ClientSession(*streams) as session:
            with pytest.raises(mcp.MCPError):
                await session.discover()
            assert not wire.open
            async with anyio.create_task_group() as group:

                async def refuse() -> None:
                    with pytest.raises(RuntimeError, match="Unsupported protocol version"):
                        await session.initialize()

                group.start_soon(refuse)
                await server.arrived("initialize")
                opened = [wire.open]
                await session.send_notification(types.RootsListChangedNotification())
                wire._channel.write(b'{"jsonrpc":"2.0","method":"go"}\n')
            opened.append(wire.open)
            await session.initialize()
            assert [*opened, wire.open] == [False, False, True]


async def test_a_probe_that_is_answered_too_late_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk_session, "DISCOVER_TIMEOUT_SECONDS", 0.1)
    late = good(OPENINGS[MODERN][1]).replace(b"{id}", b"1")
    initialize = then(late, wait_for(b'"go"'), opening(LEGACY)["initialize"])
    answers = {**OK, "server/discover": silence(), "initialize": initialize}
    with RawServer(answers) as server, anyio.fail_after(20):
        wire = ClientWire(server.argv)
        opened: list[bool] = []

        async def look() -> None:
            await until(lambda: wire.counters["unclaimed_answers"])
            opened.append(wire.open)
            wire._channel.write(b'{"jsonrpc":"2.0","method":"go"}\n')

        async with nothing_left(server), anyio.create_task_group() as group:
            group.start_soon(look)
            async with toolwire.connect(wire) as connection:
                opened.append(wire.open)
                assert connection.session.protocol_version == LEGACY
                await toolwire.tools(connection)
        assert opened == [False, True]
        assert server.requests("tools/list")[0].endswith(b'"params":{}}')


async def test_a_client_that_adopts_a_version_says_nothing_so_its_first_request_takes_the_sdk_lane() -> None:
    async with lanes(OK, era=MODERN, mode=MODERN) as all_four:
        assert not all_four.wire.open
        tool = (await toolwire.tools(all_four.connection))["t"]
        assert await tool.invoke(b'{"a":1.50}') == "ok"
        ids = [json.loads(line)["id"] for line in all_four.server.received]
        assert len(ids) == 2
        assert ids[0] < 1_000_000_000 <= ids[1]
        assert list(meta_of(all_four.server.received[1])) == RESERVED
        assert b'"arguments":{"a":1.50}' in all_four.server.received[1]


@pytest.mark.parametrize("era", ERAS)
async def test_a_refused_request_opens_nothing(era: str) -> None:
    if era == LEGACY:
        with pytest.raises(toolwire.ConnectError, match="no: "):
            async with lanes({"initialize": error(-32000, "no: ")}):
                pass
        return
    async with lanes({**OK, "prompts/get": error(-32000, "no")}, era=MODERN, mode=MODERN) as all_four:
        with pytest.raises(mcp.MCPError):
            await all_four.prompted()
        opened = [all_four.wire.open]
        await all_four.connection.session.list_tools()
        assert [*opened, all_four.wire.open] == [False, True]


NOTE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s"}}\n'


async def test_a_storm_of_notifications_beyond_the_backlog_is_dropped_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sdk_streams, "SDK_BACKLOG", 20)
    logged: list[object] = []

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        logged.append(params.data)

    storm = then(NOTE % b"x" * 5_000, good(BODIES["tools/call"]))
    last = then(NOTE % b"last", good(BODIES["prompts/get"]))
    async with lanes({"tools/call": storm, "prompts/get": last}, logging_callback=log) as all_four:
        assert await all_four.called() == "ok"
        # The SDK takes in what was kept; one that comes before that would be dropped like the rest.
        await until(lambda: all_four.wire.sdk.inbox.behind == (0, 0))
        assert await all_four.prompted() == "ok"
        await until(lambda: "last" in logged)
        dropped = all_four.counters["dropped_notifications"]
        assert dropped > 1_000
        assert len(logged) + dropped == 5_001


async def test_a_storm_of_large_notifications_is_bounded_by_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk_streams, "SDK_BACKLOG_BYTES", 10_000)
    storm = then(NOTE % (b"x" * 4_000) * 100, good(BODIES["tools/call"]))
    async with lanes({"tools/call": storm}) as all_four:
        assert await all_four.called() == "ok"
        assert 0 < all_four.counters["dropped_notifications"] < 100
        await until(lambda: all_four.wire.sdk.inbox.behind == (0, 0))
