"""The express lane stands inside the SDK's auth: nothing reaches a tool without it, and a handler sees who calls."""

from typing import Any

import pytest
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel import Server
from pydantic import AnyHttpUrl

import toolwire
from tests.http.server_parity import MODES, compare
from tests.http.server_posts import HANDSHAKE, LIST_MODERN, MODERN, Ask, Header, Site, call, post, running
from tests.serving.raw_client import ERAS


def access(name: str, scope: str = "tools", expires_at: int | None = None) -> AccessToken:
    who = "ada" if name == "old" else name
    return AccessToken(token=name, client_id=who, subject=who, scopes=[scope], expires_at=expires_at)


TOKENS = {
    "ada": access("ada"),
    "bob": access("bob"),
    "eve": access("eve", "nothing"),
    "old": access("old", expires_at=1),
}


class Verifier:
    async def verify_token(self, token: str) -> AccessToken | None:
        return TOKENS.get(token)


OPTIONS: dict[str, Any] = {
    "auth": AuthSettings(
        issuer_url=AnyHttpUrl("https://issuer.example"),
        resource_server_url=AnyHttpUrl("https://here.example/mcp"),
        required_scopes=["tools"],
        validate_token_resource=False,
    ),
    "token_verifier": Verifier(),
}


def office() -> Server[Any]:
    @toolwire.tool
    async def whoami() -> str:
        request = toolwire.current_request()
        assert request is not None
        return str(request.auth.client_id)

    server: Server[Any] = Server("office", version="1")
    toolwire.add_tools(server, whoami)
    return server


def bearer(name: str) -> Header:
    return ("authorization", f"Bearer {name}")


def asked(era: str, name: str | None) -> Ask:
    return call(era, "whoami").with_header("authorization", None if name is None else f"Bearer {name}")


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_a_call_without_the_right_token_reaches_no_lane(era: str, mode: dict[str, Any]) -> None:
    options = {**OPTIONS, **mode}
    heard = []
    for express in (True, False):
        async with running(office, express=express, **options) as site:
            await opened_by(site, era, "ada", stateless=mode["stateless_http"])
            before = site.lane.counters
            replies = [await site.ask(asked(era, name)) for name in (None, "", "eve", "old", "nobody")]
            assert site.lane.counters == before
            good = await site.ask(asked(era, "ada"))
            assert site.lane.express_calls == express
            heard.append([(reply.status, reply.body, reply.headers) for reply in replies] + [(good.status,)])
            assert good.answer["result"]["content"][0]["text"] == "ada"
    assert heard[0] == heard[1]
    assert [reply[0] for reply in heard[0]] == [401, 401, 403, 401, 401, 200]


async def opened_by(site: Site, era: str, name: str, *, stateless: bool = False) -> None:
    if era == MODERN:
        await site.ask(post(MODERN, LIST_MODERN, headers=(bearer(name),)))
    elif not stateless:
        await site.open(headers=(bearer(name),))


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("express", [True, False])
async def test_a_session_is_its_owners_alone(express: bool, as_json: bool) -> None:
    async with running(office, express=express, json_response=as_json, **OPTIONS) as site:
        await opened_by(site, HANDSHAKE, "ada")
        statuses = [(await site.ask(asked(HANDSHAKE, name))).status for name in ("ada", "bob", "ada")]
        assert statuses == [200, 404, 200]
        assert site.lane.express_calls == (2 if express else 0)


async def test_each_caller_of_a_stateless_app_is_seen_as_itself() -> None:
    asks = [asked(HANDSHAKE, name) for name in ("ada", "bob", "ada")]
    options = {**OPTIONS, "stateless_http": True, "json_response": True}
    replies, site = await compare(office, HANDSHAKE, asks, **options)
    assert [reply.answer["result"]["content"][0]["text"] for reply in replies] == ["ada", "bob", "ada"]
    assert site.lane.express_calls == 3
