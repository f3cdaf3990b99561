"""A sign-in that breaks ends the connection with its reason: nothing turns or waits for ever (found by the suite)."""

from typing import Any

import anyio
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata
from pydantic import AnyUrl

import toolwire
from tests.http.clients import peer

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]

PATIENCE = 60


class BrokenStorage:
    async def get_tokens(self) -> Any:
        raise ValueError("the store is locked")

    async def get_client_info(self) -> Any:
        return None

    async def set_tokens(self, tokens: Any) -> None: ...
    async def set_client_info(self, client_info: Any) -> None: ...


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_error_of_the_sdks_sign_in_is_the_connect_errors_reason(mode: str) -> None:
    """The engine was closed half way then, and the second cancellation made a ring of exceptions, unwound for ever."""
    metadata = OAuthClientMetadata(client_name="t", redirect_uris=[AnyUrl("http://localhost/callback")])
    with anyio.fail_after(PATIENCE):
        async with peer() as server:
            auth = OAuthClientProvider(server.url, metadata, BrokenStorage())
            with pytest.raises(toolwire.ConnectError, match="the store is locked"):
                async with toolwire.connect(server.url, auth=auth, mode=mode):
                    pass
