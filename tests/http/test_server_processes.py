"""`toolwire serve --http` as processes: one, several workers of a stateless app, under each engine that is there."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import httpx2
import pytest

from tests.http.served_command import COMMAND, PATIENCE, served
from tests.http.server_posts import LIST
from tests.http.test_over_a_socket import command
from tests.serving.raw_client import INITIALIZE, call_line

SHOP = '''
import os
import sys
import anyio
import toolwire

@toolwire.tool
async def whoami() -> int:
    """Tells the process."""
    return os.getpid()

@toolwire.tool
async def hang() -> str:
    """Never ends by itself."""
    sys.stderr.write("hanging\\n")
    sys.stderr.flush()
    await anyio.sleep_forever()
    return ""

both = [whoami, hang]
'''
HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-11-25",
}
ENGINES = ["uvicorn", pytest.param("granian", marks=pytest.mark.skipif(not find_spec("granian"), reason="no granian"))]


@contextmanager
def serving(home: Path, *options: str) -> Iterator[str]:
    """The address of a served shop, which answers."""
    with served(home, SHOP, "shop:whoami", *options) as (port, _):
        yield f"http://127.0.0.1:{port}/mcp"


def asked(url: str) -> int:
    """One call on a connection of its own: the process that answered."""
    with httpx2.Client(timeout=PATIENCE) as client:
        reply = client.post(url, content=call_line("2025-11-25", "whoami"), headers=HEADERS)
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/json"
    return int(reply.json()["result"]["content"][0]["text"])


@pytest.mark.parametrize("engine", ENGINES)
def test_two_workers_share_the_calls_of_a_stateless_app(tmp_path: Path, engine: str) -> None:
    options = ("--stateless", "--json", "--workers", "2", "--engine", engine)
    with serving(tmp_path, *options) as url:
        seen: set[int] = set()
        for _ in range(2_000):
            seen.add(asked(url))
            if len(seen) == 2:
                break
        assert len(seen) == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_one_process_answers_with_events_unless_it_is_told_otherwise(tmp_path: Path, engine: str) -> None:
    with serving(tmp_path, "--stateless", "--engine", engine) as url, httpx2.Client(timeout=PATIENCE) as client:
        reply = client.post(url, content=call_line("2025-11-25", "whoami"), headers=HEADERS)
        assert reply.headers["content-type"] == "text/event-stream"
        assert reply.text.startswith("event: message\r\ndata: {")
        assert reply.text.endswith("}\r\n\r\n")


@pytest.mark.parametrize("options", [(), ("--json",), ("--stateless",), ("--stateless", "--json")])
def test_a_server_that_is_told_to_end_ends_though_a_call_hangs(tmp_path: Path, options: tuple[str, ...]) -> None:
    with served(tmp_path, SHOP, "shop:both", *options) as (port, server):
        url, headers = f"http://127.0.0.1:{port}/mcp", dict(HEADERS)
        with httpx2.Client(timeout=PATIENCE) as client:
            if "--stateless" not in options:
                opened = client.post(url, content=INITIALIZE, headers=headers)
                headers["mcp-session-id"] = opened.headers["mcp-session-id"]
                client.post(url, content=LIST, headers=headers)
        body = call_line("2025-11-25", "hang")
        lines = [f"{name}: {value}" for name, value in headers.items()]
        head = ["POST /mcp HTTP/1.1", f"host: 127.0.0.1:{port}", f"content-length: {len(body)}", *lines, "", ""]
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as caller:
            caller.sendall("\r\n".join(head).encode() + body)
            assert server.stderr is not None
            assert server.stderr.readline() == b"hanging\n"
            server.terminate()
            assert server.wait(PATIENCE) in (0, -15)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--http", "127.0.0.1:1", "--workers", "2"], "it needs --stateless too"),
        (["--http", "127.0.0.1:1", "--engine", "gunicorn"], "none of uvicorn, granian"),
        (["--workers", "2"], "are for --http"),
        (["--stateless"], "are for --http"),
        (["--json"], "are for --http"),
        (["--engine", "granian"], "are for --http"),
        (["--http", "127.0.0.1:1", "--workers", "0"], "greater than or equal to 1"),
    ],
)
def test_bad_usage_of_what_http_takes_says_what_is_wrong(words: list[str], said: str) -> None:
    done = command("serve", *words, "shop:whoami")
    assert done.returncode == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_a_module_that_is_none_ends_the_command_before_any_worker_begins(tmp_path: Path) -> None:
    words = [COMMAND, "serve", "--http", "127.0.0.1:9", "--stateless", "--workers", "2", "nowhere:name"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert "there is no module nowhere" in done.stderr
