"""Arguments that a tool's schema wants in headers too (SEP-2243), on the SDK's own transport, at both ends.

A server that finds an argument in the body and not in its header refuses the call, so a call that goes through has
brought it.
"""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
import mcp
import pytest
import uvicorn
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from pydantic import Field

import toolwire

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]

Region = Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]
REFUSED = -32020


@toolwire.tool
async def where(region: Region = "nowhere") -> str:
    """Says the region."""
    return region


@pytest.fixture
def anyio_backend() -> str:
    """Uvicorn runs on asyncio alone."""
    return "asyncio"


@asynccontextmanager
async def address_of(server: Server[Any] | MCPServer) -> AsyncIterator[str]:
    toolwire.add_tools(server, where)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        config = uvicorn.Config(toolwire.http_app(server), log_level="critical", timeout_graceful_shutdown=1)
        serving = uvicorn.Server(config)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serving.serve, [listening])
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
            serving.should_exit = True


SERVERS = [Server, MCPServer]


@pytest.mark.parametrize("kind", SERVERS)
async def test_an_imported_tools_argument_goes_out_as_a_header_too(kind: Any) -> None:
    async with address_of(kind("atlas")) as url, toolwire.connect(url) as connection:
        tool = (await toolwire.tools(connection))["where"]
        assert await tool.invoke('{"region":"Øst"}') == "Øst"
        assert await tool.invoke("{}") == "nowhere"


@pytest.mark.parametrize("kind", SERVERS)
async def test_a_discovered_tools_argument_goes_out_as_a_header_too(kind: Any) -> None:
    async with address_of(kind("atlas")) as url, toolwire.connect(url) as connection:
        (tool,) = await toolwire.discover([toolwire.Source("atlas", connection)])
        assert await tool.invoke('{"region":"north"}') == "north"


async def test_a_session_of_the_sdks_own_is_told_of_the_listing_as_well() -> None:
    async with address_of(Server("atlas")) as url, mcp.Client(streamable_http_client(url)) as client:
        tool = (await toolwire.tools(client))["where"]
        assert await tool.invoke('{"region":"north"}') == "north"


@pytest.mark.parametrize("kind", SERVERS)
async def test_a_call_of_our_tool_without_its_header_is_refused(kind: Any) -> None:
    """The SDK's client sends it only for what it has listed itself, which is nothing here."""
    async with address_of(kind("atlas")) as url, mcp.Client(url) as client:
        with pytest.raises(mcp.MCPError) as caught:
            await client.session.call_tool("where", {"region": "north"})
        assert caught.value.code == REFUSED


async def test_another_tool_of_the_mcpserver_is_judged_by_its_own_schema() -> None:
    server = MCPServer("atlas")

    @server.tool()
    async def there(region: Region = "nowhere") -> str:
        return region

    async with address_of(server) as url, mcp.Client(url) as client:
        with pytest.raises(mcp.MCPError) as caught:
            await client.session.call_tool("there", {"region": "north"})
        assert caught.value.code == REFUSED
        assert not (await client.session.call_tool("there", {})).is_error
