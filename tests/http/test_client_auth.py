"""Authorization: whose headers are learned, what a refusal does, and that a bearer is renewed by the SDK's own flow."""

import json
from typing import Any

import pytest
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

import toolwire
from tests.http.clients import DONE, connected, echo_of, fault, peer
from toolwire.testing import HttpPeer, http

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]


class Storage:
    """Nothing is remembered beyond the test."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Guarded:
    """A peer that asks for the newest of the tokens that it gives out."""

    def __init__(self) -> None:
        self.given = 0
        self.peer: HttpPeer = peer()
        for method in ("initialize", "tools/list", "tools/call"):
            self.peer.answers[method] = self._guarded(self.peer.answers[method])
        self.peer.answers["GET"] = self._discovery
        self.peer.answers["POST"] = self._token

    def revoke(self) -> None:
        self.given += 1

    def _guarded(self, answer: Any) -> Any:
        def guarded(request: Any) -> Any:
            if request.header("authorization") != f"Bearer t{self.given}":
                return http.reply(status=401, headers={"WWW-Authenticate": "Bearer"}, media=None)
            return answer

        return guarded

    def _discovery(self, request: Any) -> Any:
        base = self.peer.url.removesuffix("/mcp")
        if request.target.startswith("/.well-known/oauth-protected-resource"):
            found = {"resource": self.peer.url, "authorization_servers": [base + "/"]}
        elif request.target.startswith("/.well-known/oauth-authorization-server"):
            found = {
                "issuer": base + "/",
                "authorization_endpoint": base + "/authorize",
                "token_endpoint": base + "/token",
            }
        else:
            return http.reply(status=405, media=None)
        return http.reply(json.dumps(found).encode(), verbatim=True)

    def _token(self, request: Any) -> Any:
        if not request.target.startswith("/token"):
            return http.reply(status=202, media=None)
        self.given += 1
        token = {"access_token": f"t{self.given}", "token_type": "Bearer", "expires_in": 3600}
        return http.reply(json.dumps(token).encode(), verbatim=True)


def provider(served: HttpPeer) -> ClientCredentialsOAuthProvider:
    return ClientCredentialsOAuthProvider(
        server_url=served.url,
        storage=Storage(),
        client_id="ada",
        client_secret="secret",  # noqa: S106 - of a peer that takes any
        issuer=served.url.removesuffix("mcp"),
    )


async def test_a_bearer_of_the_sdk_is_learned_and_renewed_by_the_sdk_s_own_flow_when_it_is_refused() -> None:
    guarded = Guarded()
    async with guarded.peer as served, connected(served.url, auth=provider(served)) as connection:
        echo = await echo_of(connection)
        assert await echo.invoke("{}") == "done"
        assert guarded.given == 1
        guarded.revoke()
        assert await echo.invoke("{}") == "done", "401 says that nothing ran, so the call was sent again"
        assert await echo.invoke("{}") == "done"
        assert guarded.given == 3
        calls = served.requests("tools/call")
        assert calls[-1].header("authorization") == "Bearer t3"
        assert len([call for call in calls if call.header("authorization") == "Bearer t3"]) == 2, "each ran once"


async def test_the_headers_of_a_call_do_not_go_to_the_authorization_server() -> None:
    guarded = Guarded()
    async with guarded.peer as served, connected(served.url, auth=provider(served)) as connection:
        echo = await echo_of(connection)
        guarded.revoke()
        with toolwire.call_options(headers={"x-tenant": "acme"}):
            assert await echo.invoke("{}") == "done"
        asked = {request.target for request in served.received if request.header("x-tenant")}
        assert asked == {"/mcp"}


async def test_a_refusal_without_an_auth_is_told_once_and_the_next_call_shows_anew_what_the_client_sends() -> None:
    answers = [http.reply(status=401, media=None), DONE, DONE]
    async with peer(answers) as served, connected(served.url, headers={"authorization": "Bearer x"}) as connection:
        echo = await echo_of(connection)
        told = await fault(echo)
        assert (told.status, told.may_have_run) == (401, False)
        assert [await echo.invoke("{}"), await echo.invoke("{}")] == ["done", "done"]
        calls = served.requests("tools/call")
        assert {call.header("authorization") for call in calls} == {"Bearer x"}
        assert len(calls) == 3


async def test_an_authorization_of_one_call_wins_over_the_connection_s_and_is_not_kept() -> None:
    async with peer() as served, connected(served.url, headers={"authorization": "Bearer shared"}) as connection:
        echo = await echo_of(connection)
        with toolwire.call_options(headers={"Authorization": "Bearer own"}):
            await echo.invoke("{}")
            await connection.session.call_tool("echo", {})
        await echo.invoke("{}")
        sent = [call.header("authorization") for call in served.requests("tools/call")]
        assert sent == ["Bearer own", "Bearer own", "Bearer shared"]
