"""Streamable HTTP over a real socket: a toolwire server under uvicorn, and a toolwire client, in both eras."""

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import anyio.to_thread
import httpx2
import pytest
from mcp.server.lowlevel import Server

import toolwire
from tests.http.clients import peer
from tests.http.served_command import COMMAND, PATIENCE, served

SHOP = '''
import toolwire

@toolwire.tool
async def price(item: str, quantity: int = 1) -> dict[str, int]:
    """Tells a price."""
    return {"total": 2 * quantity}
'''
# The SDK's transport leaves its stream of events to the garbage collector, of which trio complains.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `toolwire serve --http`, which answers before the tests begin."""
    with served(tmp_path_factory.mktemp("shop"), SHOP, "shop:price") as (port, _):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_url_is_listed_and_called_in_both_eras(url: str, mode: str) -> None:
    async with toolwire.connect(url, mode=mode) as connection:
        tools = await toolwire.tools(connection)
        assert tools.names == ("price",)
        assert await tools["price"].invoke(b'{"item":"tea","quantity":3}') == '{"total":6}'


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_refusal_over_http_is_a_text_that_a_model_reads(url: str, mode: str) -> None:
    async with toolwire.connect(url, mode=mode) as connection:
        price = (await toolwire.tools(connection))["price"]
        with pytest.raises(toolwire.ToolFailure) as caught:
            await price.invoke(b'{"item":"tea","quantity":"3"}')
        assert 'field "quantity": expected integer, got string' in str(caught.value)


async def test_headers_go_with_every_request(url: str) -> None:
    sent: list[str | None] = []

    async def seen(request: httpx2.Request) -> None:
        sent.append(request.headers.get("x-caller"))

    async with httpx2.AsyncClient(headers={"x-caller": "ada"}, event_hooks={"request": [seen]}) as client:
        async with toolwire.connect(url, http_client=client) as connection:
            await (await toolwire.tools(connection))["price"].invoke(b'{"item":"tea"}')
        assert not client.is_closed, "a caller's own client is the caller's to close"
    assert set(sent) == {"ada"}


async def test_settings_beside_a_client_of_the_callers_are_refused(url: str) -> None:
    async with httpx2.AsyncClient() as client:
        with pytest.raises(TypeError, match="are the http_client's own"):
            toolwire.connect(url, http_client=client, headers={"a": "b"})


async def test_http_settings_of_a_command_are_refused() -> None:
    with pytest.raises(TypeError, match="for a target that is a URL"):
        toolwire.connect([sys.executable], headers={"a": "b"})


async def test_an_address_where_nobody_listens_is_named_without_its_secrets() -> None:
    with pytest.raises(toolwire.ConnectError) as caught:
        async with toolwire.connect("http://user:secret@127.0.0.1:9/mcp?key=secret"):
            pass
    assert "the server at http://127.0.0.1:9/mcp" in str(caught.value)
    assert "secret" not in str(caught.value)


async def test_an_address_that_serves_no_mcp_is_a_connect_error(url: str) -> None:
    with pytest.raises(toolwire.ConnectError, match="/nothing"):
        async with toolwire.connect(url.replace("/mcp", "/nothing")):
            pass


def command(*words: str, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=PATIENCE, env=env, check=False)


def test_the_commands_take_a_url(url: str) -> None:
    called = command("call", "price", '{"item":"tea"}', "--url", url, "--header", "x-caller: ada")
    assert (called.returncode, called.stdout) == (0, '{"total":2}\n'), called.stderr
    assert "price" in command("list", "--url", url).stdout


def test_a_check_of_a_url_finds_nothing_to_mend_in_a_good_server(url: str) -> None:
    """How many requests went which way is counted beside it, and is nobody's fault."""
    checked = command("check", "--url", url)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "requests" not in checked.stdout


@pytest.mark.parametrize("words", [("list",), ("call", "echo", "{}"), ("check",)])
async def test_a_bearer_token_comes_from_the_environment_and_a_header_says_more(words: tuple[str, ...]) -> None:
    """A token that was read from a file ends its line, which is no part of it."""
    env = {**os.environ, "TOOLWIRE_TOKEN": "hush\n"}
    async with peer() as served:

        async def sent(*more: str) -> set[str | None]:
            served.received.clear()
            run = partial(command, *words, "--url", served.url, *more, env=env)
            assert (await anyio.to_thread.run_sync(run)).returncode == 0
            return {request.header("authorization") for request in served.received if request.verb == "POST"}

        assert await sent() == {"Bearer hush"}
        assert await sent("--header", "Authorization: Basic x") == {"Basic x"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["list", "--url", "http://127.0.0.1:9", "--header", "x:ü"],
            "the header 'x' is no name with a text of visible",
        ),
        (["list"], "either a command"),
        (["list", "--url", "ftp://x"], "is no http:// or https://"),
        (["list", "--url", "http://127.0.0.1:9", "--", "server"], "either a command"),
        (["list", "--url", "http://127.0.0.1:9", "--header", "x"], "is no NAME:VALUE"),
        (["list", "--header", "a:b", "--", "server"], "they are for --url"),
        (["serve", "--http", "8000", "shop:price"], "is no HOST:PORT"),
    ],
)
def test_bad_usage_of_http_options_says_what_is_wrong(words: list[str], said: str) -> None:
    done = command(*words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())


async def test_http_app_takes_the_options_of_the_sdk() -> None:
    app = toolwire.http_app(Server("shop"), streamable_http_path="/tools", json_response=True)
    assert [route.path for route in app.routes] == ["/tools"]
