"""The express lane over HTTP: what goes out in a POST, and what comes back of it unchanged."""

import datetime as dt
import gc
import importlib.util
import ipaddress
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import toolwire
from tests.http import client_peer
from tests.http.client_peer import Peer, Seen, Write, modern, once, reply, result

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]
PATIENCE = 20
EXPRESS = 1_000_000_000


@pytest.fixture(params=["2025-11-25", "2026-07-28"])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["fast", "the caller's client"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@asynccontextmanager
async def connected(served: Peer, engine: str, era: str, **options: Any) -> AsyncIterator[toolwire.Connection]:
    """A connection in that era, on that engine."""
    if era != "2025-11-25":
        modern(served)
    with anyio.fail_after(PATIENCE):
        if engine == "fast":
            async with toolwire.connect(served.url, headers={"x-caller": "ada"}, **options) as connection:
                yield connection
        else:
            async with (
                httpx2.AsyncClient(headers={"x-caller": "ada"}) as client,
                toolwire.connect(served.url, http_client=client, **options) as connection,
            ):
                yield connection


async def test_the_first_listing_and_every_call_go_express_with_their_bytes_unchanged(engine: str, era: str) -> None:
    arguments = '{"n":1.50,"big":123456789012345678901234567890,"e":1E400,"é":"\\u00e9","neg":-0}'
    answer = '{"content":[{"type":"text","text":"x"}],"structuredContent":{"b":1.50,"a":1e3},"isError":false}'
    with client_peer.peer() as served:

        async def exact(seen: Seen, write: Write) -> None:
            await write(reply(result(seen, answer)))

        served.answers["tools/call"] = exact
        async with connected(served, engine, era) as connection:
            tools = await toolwire.tools(connection)
            output = await tools["echo"].call(arguments)
        assert (
            tools["echo"].input_schema.raw
            == json.loads(json.dumps(client_peer.TOOL)).partition('"inputSchema":')[2].removesuffix("}").encode()
        ), "a schema keeps its spelling"
        assert output.structured == b'{"b":1.50,"a":1e3}'
        assert [seen.id >= EXPRESS for seen in served.calls("tools/list") + served.calls()] == [True, True]
        assert b'"arguments":' + arguments.encode() in served.calls()[0].body


async def test_a_post_carries_what_the_sdk_s_own_requests_carry(engine: str, era: str) -> None:
    with client_peer.peer() as served:
        async with connected(served, engine, era) as connection:
            ours = await toolwire.tools(connection)
            await connection.session.list_tools()
            await ours["echo"].invoke("{}")
            await connection.session.call_tool("echo", {})
        for method in ("tools/list", "tools/call"):
            express, sdk = sorted(served.calls(method), key=lambda seen: -seen.id)
            assert (express.id >= EXPRESS, sdk.id >= EXPRESS) == (True, False)
            left, right = (
                {name: value for name, value in seen.headers.items() if name not in ("connection", "content-length")}
                for seen in (express, sdk)
            )
            assert left == right


async def test_a_client_that_adopts_a_version_lists_verbatim_with_its_first_request(engine: str) -> None:
    with client_peer.peer() as served:
        async with connected(served, engine, "2026-07-28", mode="2026-07-28") as connection:
            tools = await toolwire.tools(connection)
            await tools["echo"].invoke("{}")
        assert b'"maximum":1.50' in tools["echo"].input_schema.raw
        assert [seen.rpc for seen in served.seen] == ["tools/list", "tools/call"]
        assert served.calls()[0].id >= EXPRESS


async def test_the_sdk_s_own_client_on_the_wire_works_unchanged() -> None:
    with client_peer.peer() as served, anyio.fail_after(PATIENCE):
        async with toolwire.connect(served.url) as connection:
            listed = await connection.client.list_tools()
            called = await connection.client.call_tool("echo", {"n": 1})
        assert [tool.name for tool in listed.tools] == ["echo"]
        assert called.content == [mcp.types.TextContent(type="text", text="done")]


async def test_thirty_two_in_flight_are_answered_each_with_its_own(engine: str, era: str) -> None:
    with client_peer.peer() as served:

        async def echo(seen: Seen, write: Write) -> None:
            number = seen.message["params"]["arguments"]["n"]
            await write(reply(result(seen, f'{{"content":[{{"type":"text","text":"{number}"}}]}}')))

        served.answers["tools/call"] = echo
        async with connected(served, engine, era) as connection:
            tool = (await toolwire.tools(connection))["echo"]
            answers: dict[int, str] = {}

            async def one(number: int) -> None:
                answers[number] = await tool.invoke(f'{{"n":{number}}}')

            async with anyio.create_task_group() as callers:
                for number in range(32):
                    callers.start_soon(one, number)
        assert answers == {number: str(number) for number in range(32)}


async def test_arguments_of_many_megabytes_go_out_in_one_piece(engine: str) -> None:
    """Fault C12."""
    with client_peer.peer() as served:
        async with connected(served, engine, "2025-11-25") as connection:
            tool = (await toolwire.tools(connection))["echo"]
            assert await tool.invoke('{"n":"' + "x" * 20_000_000 + '"}') == "done"
        assert len(served.calls()[0].message["params"]["arguments"]["n"]) == 20_000_000


async def test_no_more_connections_are_opened_than_calls_may_be_in_flight(engine: str) -> None:
    with client_peer.peer() as served:
        async with connected(served, engine, "2025-11-25", in_flight=2) as connection:
            tool = (await toolwire.tools(connection))["echo"]
            before = served.connections
            async with anyio.create_task_group() as callers:
                for _ in range(20):
                    callers.start_soon(tool.invoke, "{}")
            assert len(served.calls()) == 20
            assert served.connections - before <= 2


HEADED = (
    '{"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},'
    '"limit":{"type":"integer","x-mcp-header":"Limit"},"dry":{"type":"boolean","x-mcp-header":"Dry"}}}}'
)
BAD = '{"name":"bad","inputSchema":{"type":"object","properties":{"x":{"type":"object","x-mcp-header":"X"}}}}'


async def test_arguments_are_mirrored_in_headers_as_the_sdk_mirrors_them(engine: str) -> None:
    with client_peer.peer() as served:
        served.tools = [HEADED, BAD]
        async with connected(served, engine, "2026-07-28") as connection:
            tools = await toolwire.tools(connection)
            await connection.session.list_tools()
            for arguments in (
                {"region": "eu-1", "limit": 5, "dry": True},
                {"region": "Zürich\n", "limit": -1, "dry": False},
                {"region": " padded ", "limit": None},
                {},
            ):
                served.seen.clear()
                await tools["query"].invoke(json.dumps(arguments))
                await connection.session.call_tool("query", arguments)
                ours, theirs = (
                    {name: value for name, value in seen.headers.items() if name.startswith("mcp-")}
                    for seen in served.calls()
                )
                assert ours == theirs
        assert tools.names == ("query",)
        ((skipped,),) = ((record.name,) for record in tools.skipped)
        assert skipped == "bad", "the protocol drops it, and it is told"


async def test_on_a_handshake_session_nothing_is_mirrored_and_nothing_dropped(engine: str) -> None:
    with client_peer.peer() as served:
        served.tools = [HEADED, BAD]
        async with connected(served, engine, "2025-11-25") as connection:
            tools = await toolwire.tools(connection)
            await tools["query"].invoke('{"region":"eu"}')
        assert tools.names == ("query", "bad")
        names = served.calls()[0].headers.keys()
        assert {name for name in names if name.startswith("mcp-")} == {"mcp-session-id", "mcp-protocol-version"}


class Signing(httpx2.Auth):
    """Signs each request by itself: what it added to one is wrong for the next."""

    def __init__(self) -> None:
        self.count = 0

    async def async_auth_flow(self, request: httpx2.Request) -> Any:
        self.count += 1
        request.headers["authorization"] = f"signed {self.count}"
        yield request


async def test_an_auth_that_signs_signs_every_express_request_and_none_is_replayed() -> None:
    with client_peer.peer() as served, anyio.fail_after(PATIENCE):
        async with toolwire.connect(served.url, auth=Signing()) as connection:
            tool = (await toolwire.tools(connection))["echo"]
            await tool.invoke("{}")
            await tool.invoke("{}")
        signatures = [seen.headers["authorization"] for seen in served.seen]
        assert len(set(signatures)) == len(signatures)
        assert served.calls()[0].id >= EXPRESS


async def test_a_password_in_the_url_is_sent_as_the_sdk_sends_it() -> None:
    with client_peer.peer() as served, anyio.fail_after(PATIENCE):
        url = served.url.replace("http://", "http://ada:secret@")
        async with toolwire.connect(url) as connection:
            await (await toolwire.tools(connection))["echo"].invoke("{}")
        assert {seen.headers["authorization"] for seen in served.seen} == {"Basic YWRhOnNlY3JldA=="}


async def test_without_aiohttp_the_sdk_s_client_carries_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "toolwire.wire.http_client.engines.find_spec", lambda name: None if name == "aiohttp" else found(name)
    )
    with client_peer.peer() as served, anyio.fail_after(PATIENCE):
        async with toolwire.connect(served.url) as connection:
            assert await (await toolwire.tools(connection))["echo"].invoke("{}") == "done"
        assert "python-httpx2" in served.calls()[0].headers["user-agent"]
        assert served.calls()[0].headers["connection"] == "keep-alive"


async def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with client_peer.peer() as proxy, anyio.fail_after(PATIENCE):
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/mcp"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        async with toolwire.connect("http://far.example/mcp") as connection:
            assert await (await toolwire.tools(connection))["echo"].invoke("{}") == "done"
        assert {seen.path for seen in proxy.seen} == {"http://far.example/mcp"}


async def test_the_sdk_s_transport_asks_no_more_of_a_client_than_it_is_given() -> None:
    """`WatchedClient` stands in for a client: what the transport asks of it beside `send` goes to the real one."""
    asked: set[str] = set()

    class Asked(httpx2.AsyncClient):
        def __getattribute__(self, name: str) -> Any:
            asked.add(name)
            return super().__getattribute__(name)

    with client_peer.peer() as served, anyio.fail_after(PATIENCE):
        async with Asked() as client, toolwire.connect(served.url, http_client=client) as connection:
            await connection.session.list_tools()
    assert {"build_request", "send"} <= asked
    assert not asked & {"post", "get", "stream", "request", "sse"}, "a way around the watch"


async def test_a_notification_may_be_answered_with_anything() -> None:
    """Fault J2."""
    for answer in (
        reply(status="204 No Content", content=None),
        reply(),
        reply("null"),
        reply("ok", content="text/plain"),
        reply(status="500 Internal Server Error", content=None),
    ):
        with client_peer.peer() as served, anyio.fail_after(PATIENCE):
            served.answers["notifications/initialized"] = once(answer)
            async with toolwire.connect(served.url) as connection:
                assert await (await toolwire.tools(connection))["echo"].invoke("{}") == "done"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that signs itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "peer")])
    now = dt.datetime.now(dt.UTC)
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    path = tmp_path_factory.mktemp("tls") / "peer.pem"
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(built.public_bytes(pem) + private)
    return path


def serving(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def test_the_tls_of_a_caller_s_client_is_the_tls_of_express_calls(certificate: Path) -> None:
    trusting = ssl.create_default_context(cafile=certificate)
    with client_peer.peer(serving(certificate)) as served, anyio.fail_after(PATIENCE):
        async with (
            httpx2.AsyncClient(verify=trusting) as client,
            toolwire.connect(served.url, http_client=client) as connection,
        ):
            assert await (await toolwire.tools(connection))["echo"].invoke("{}") == "done"
        with pytest.raises(toolwire.ConnectError, match=r"(?i)certificate"):
            async with toolwire.connect(served.url):
                pass


async def test_both_lanes_trust_whom_the_environment_trusts(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with client_peer.peer(serving(certificate)) as served, anyio.fail_after(PATIENCE):
        async with toolwire.connect(served.url) as connection:
            assert await (await toolwire.tools(connection))["echo"].invoke("{}") == "done"
        assert served.calls()[0].id >= EXPRESS


async def test_what_fails_before_express_is_open_is_told_as_well_as_later(engine: str) -> None:
    """A client that adopts a version: its first request goes out with what the SDK has stamped on it."""
    with client_peer.peer() as served:
        served.answers["tools/list"] = once(reply("busy", "503 Service Unavailable", "text/plain", Retry_After="4"))
        async with connected(served, engine, "2026-07-28", mode="2026-07-28") as connection:
            with pytest.raises(toolwire.RemoteCallError) as caught:
                await toolwire.tools(connection)
            assert (caught.value.status, caught.value.retry_after, caught.value.may_have_run) == (503, 4.0, False)
            served.answers["tools/list"] = once(hang_up=True)
            with pytest.raises(toolwire.RemoteCallError, match="tools/list"):
                await toolwire.tools(connection)
            del served.answers["tools/list"]
            assert (await toolwire.tools(connection)).names == ("echo",)


def descriptors() -> int:
    """Open in this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_many_connections_leave_no_descriptor_behind(engine: str) -> None:
    with client_peer.peer() as served:
        async with connected(served, engine, "2025-11-25") as connection:
            await toolwire.tools(connection)
        gc.collect()
        before = descriptors()
        for _ in range(20):
            async with connected(served, engine, "2025-11-25") as connection:
                await (await toolwire.tools(connection))["echo"].invoke("{}")
        gc.collect()
        # The peer, a thread of this process, may not have closed its ends of the last ones yet.
        assert descriptors() <= before + 6
