"""The everything-server by itself: what the suite calls in it is toolwire's, and its media are what they say."""

import io
import wave

import httpx2
import mcp
import pytest

from conformance.everything.content import CONTENT_TOOLS
from conformance.everything.media import PIXEL, SILENCE
from conformance.server import served
from toolwire import connect, tools

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]


@pytest.fixture
def anyio_backend() -> str:
    """Uvicorn runs on asyncio alone."""
    return "asyncio"


def test_no_tool_of_the_content_room_needs_the_sdks_lane() -> None:
    assert [tool.name for tool in CONTENT_TOOLS if getattr(tool.caller, "needs_sdk_context", False)] == []


def test_the_sound_is_one_sample_and_the_image_one_pixel() -> None:
    with wave.open(io.BytesIO(SILENCE)) as sound:
        assert (sound.getnframes(), sound.getnchannels(), sound.getframerate()) == (1, 1, 8000)
    assert PIXEL[12:24] == b"IHDR\0\0\0\1\0\0\0\1"


async def test_both_clients_list_the_same_tools() -> None:
    async with served() as server, connect(server.url) as connection, mcp.Client(server.url) as judge:
        names = (await tools(connection)).names
        assert set(names) == {tool.name for tool in (await judge.list_tools()).tools}
        assert {tool.name for tool in CONTENT_TOOLS} <= set(names)


async def test_a_header_that_does_not_say_what_the_body_says_is_refused_for_our_tool_on_an_mcpserver() -> None:
    """SEP-2243; `http-custom-header-server-validation` asks for it, and an MCPServer knows only its own schemas."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "test_x_mcp_header",
            "arguments": {"region": "north"},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "test_x_mcp_header",
    }
    async with served() as server, httpx2.AsyncClient() as client:
        for region, status in (("north", 200), ("south", 400), (None, 400)):
            sent = headers if region is None else {**headers, "mcp-param-region": region}
            answer = await client.post(server.url, json=body, headers=sent)
            assert answer.status_code == status, region
            assert (b"-32020" in answer.content) == (status == 400)


async def test_servers_stand_at_addresses_of_their_own() -> None:
    async with served() as one, served() as other:
        assert one.url != other.url
