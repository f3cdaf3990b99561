"""The SDK names outside its documented API that importing touches. A failure here says what an SDK update has broken.

Each stands in `toolwire/_sdk.py` and nowhere else; `tests/test_house.py` holds that.
"""

import inspect

import anyio
import mcp
import pytest
from mcp.client.session import ClientSession
from mcp.server.lowlevel import Server
from mcp.shared.dispatcher import CallOptions
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import ErrorData, PaginatedRequestParams

from tests.bridge.memory import memory_session
from tests.bridge.raw import NEW, OLD, PATIENCE, connected
from toolwire import _sdk

RESERVED = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientInfo": {"name": "mcp", "version": "0.1.0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def test_a_session_has_a_dispatcher_that_sends_raw_requests() -> None:
    """`ClientSession._dispatcher`: without it no session off a wire is listed; `send_request` judges whole pages."""
    async with memory_session({}) as (_, session):
        assert isinstance(session._dispatcher, JSONRPCDispatcher)
    wanted = ["self", "method", "params", "opts"]
    assert list(inspect.signature(JSONRPCDispatcher.send_raw_request).parameters)[:4] == wanted


async def test_a_raw_result_is_handed_over_unjudged() -> None:
    """`Dispatcher.send_raw_request`: were it to judge a result, one bad tool would cost the page again."""
    odd = {"tools": [None, {"name": 7}], "nextCursor": 5}
    async with memory_session({"tools/list": odd}) as (server, session):
        assert await _sdk.raw_request(session, "tools/list", {"cursor": ""}) == odd
        assert server.params("tools/list") == [{"cursor": ""}]


async def test_an_error_answer_is_an_mcp_error_with_code_and_data() -> None:
    async with memory_session({"tools/list": ErrorData(code=-32602, message="bad", data=[1])}) as (_, session):
        with pytest.raises(mcp.MCPError) as caught:
            await _sdk.raw_request(session, "tools/list", {})
        assert (caught.value.error.code, caught.value.error.message, caught.value.error.data) == (-32602, "bad", [1])


@pytest.mark.parametrize(("era", "meta"), [(OLD, None), (NEW, RESERVED)])
async def test_the_stamp_gives_a_request_its_envelope(era: str, meta: object) -> None:
    """`ClientSession._stamp`: without it a 2026-07-28 server refuses every request of a session off a wire."""
    async with memory_session({"tools/list": {}}, era=era) as (server, session):
        await _sdk.raw_request(session, "tools/list", {})
        assert server.params("tools/list")[0].get("_meta") == meta


async def test_the_stamp_gives_a_request_the_headers_of_http() -> None:
    """`ClientSession._stamp` again: the transport reads them from the options, not from the session."""
    async with memory_session({}, era=NEW) as (_, session):
        options: CallOptions = {}
        session._stamp({"method": "tools/call", "params": {"name": "t", "arguments": {}}}, options)
        headers = {name.lower(): value for name, value in options["headers"].items()}
        assert headers == {"mcp-protocol-version": NEW, "mcp-method": "tools/call", "mcp-name": "t"}


async def test_a_request_may_bear_an_id_of_our_own() -> None:
    """`CallOptions["request_id"]`: without it an answer on the SDK lane could not be told from somebody else's."""
    assert "request_id" in CallOptions.__annotations__
    async with memory_session({"tools/list": {}}) as (server, session):
        await _sdk.raw_request(session, "tools/list", {}, 900_000_000)
        await _sdk.raw_request(session, "tools/list", {})
        ids = [getattr(message, "id", None) for message in server.heard if message.method == "tools/list"]
        assert ids[0] == 900_000_000
        assert ids[1] != 900_000_000


async def test_a_session_off_a_wire_has_another_write_stream_and_one_in_process_has_none() -> None:
    """`JSONRPCDispatcher._write_stream`: without it the wire under a session is not found, and its floats are lost."""
    async with memory_session({}) as (_, session):
        assert _sdk.write_stream_of(session) is not None
        assert not hasattr(_sdk.write_stream_of(session), "wire")
    with anyio.fail_after(PATIENCE):
        async with mcp.Client(Server("inner")) as client:
            assert _sdk.write_stream_of(client.session) is None


async def test_a_session_on_a_wire_leads_to_it() -> None:
    async with connected({}) as (_, connection):
        assert _sdk.write_stream_of(connection.session).wire is connection.wire


def test_a_session_tells_what_it_has_negotiated() -> None:
    """Documented names, held here because every source asks for them."""
    assert all(
        hasattr(ClientSession, name) for name in ("server_info", "discover_result", "initialize_result", "adopt")
    )
    assert hasattr(mcp.Client, "session")
    assert "cursor" in PaginatedRequestParams.model_fields


async def test_a_session_keeps_what_a_listing_wants_in_headers() -> None:
    """`ClientSession._x_mcp_header_maps`: without it a call lacks its headers and is refused over HTTP."""
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    async with memory_session({}, era=NEW) as (_, session):
        _sdk.mirror_headers(session, "where", schema)
        options: CallOptions = {}
        params = {"name": "where", "arguments": {"region": "north"}}
        session._stamp({"method": "tools/call", "params": params}, options)
        assert options["headers"]["Mcp-Param-Region"] == "north"
