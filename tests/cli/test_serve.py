"""`toolwire serve MODULE:NAME`: whatever can be served is, and everything else is one message and exit code 2."""

import subprocess
import sys
from pathlib import Path

import anyio
import pytest

import toolwire as tw
from tests.cli.conftest import COMMAND, Run
from toolwire.errors import quoted

SHOP = '''
import sys
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
import toolwire

print("imported", flush=True)

def lookup(order: str) -> str:
    """Look an order up."""
    print("looking")
    return f"{order}: shipped"

@toolwire.tool(name="cancel")
async def cancel_order(order: str) -> dict[str, str]:
    """Cancel an order."""
    return {"cancelled": order}

both = [lookup, cancel_order]
pair = (lookup, cancel_order)
server = Server("a server")
toolwire.add_tools(server, *both)
facade = MCPServer("a facade")

@facade.tool()
def own(order: str) -> str:
    return "own " + order

toolwire.add_tools(facade, lookup)

class Namespace:
    tool = cancel_order

empty = []
mixed = [lookup, 3]
number = 3
twice = [lookup, lookup]
gated = toolwire.tool(lookup, toolwire.require_approval())

from contextlib import asynccontextmanager

@asynccontextmanager
async def no_database(_):
    raise ConnectionError("no database")
    yield

failing = Server("failing", lifespan=no_database)
'''


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "tools.py").write_text("from shop import both\n")
    (tmp_path / "broken.py").write_text("import json\n\nraise ValueError('no licence')\n")
    (tmp_path / "needy.py").write_text("import no_such_module_at_all\n")
    (tmp_path / "wrong.py").write_text("def f(:\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def anyio_backend() -> str:
    """The command chooses its own loop; the client's is not what is tested here."""
    return "asyncio"


@pytest.mark.parametrize(
    ("name", "tools"),
    [
        ("server", ["lookup", "cancel"]),
        ("facade", ["lookup", "own"]),
        ("lookup", ["lookup"]),
        ("cancel_order", ["cancel"]),
        ("Namespace.tool", ["cancel"]),
        ("both", ["lookup", "cancel"]),
        ("pair", ["lookup", "cancel"]),
    ],
)
async def test_whatever_can_be_served_is(shop: Path, name: str, tools: list[str]) -> None:
    with anyio.fail_after(60):
        async with tw.connect([COMMAND, "serve", f"shop:{name}"], cwd=str(shop)) as connection:
            served = await tw.tools(connection)
            assert list(served.names) == tools
            if "lookup" in tools:
                assert await served["lookup"].invoke('{"order":"7"}') == "7: shipped"
            if "cancel" in tools:
                assert await served["cancel"].invoke('{"order":"7"}') == '{"cancelled":"7"}'
            wire = connection.wire
            assert wire is not None
            assert b"imported" in wire.stderr_tail, "what the module prints does not reach the client"
            assert wire.counters["noise_lines"] == 0


async def test_a_module_in_a_package_is_named_with_dots(shop: Path) -> None:
    with anyio.fail_after(60):
        async with tw.connect([COMMAND, "serve", "inner.tools:both"], cwd=str(shop)) as connection:
            about = connection.client.server_info
            assert about is not None
            assert about.name == "tools"
            assert list((await tw.tools(connection)).names) == ["lookup", "cancel"]


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("shop", "MODULE:NAME"),
        ("shop:", "MODULE:NAME"),
        (":server", "MODULE:NAME"),
        ("nowhere:server", "there is no module nowhere"),
        ("inner.nowhere:server", "there is no module inner.nowhere"),
        ("needy:server", "No module named 'no_such_module_at_all'"),
        ("broken:server", "ValueError: no licence"),
        ("wrong:server", "SyntaxError"),
        ("shop:servr", "shop has no servr; it has"),
        ("shop:Namespace.gone", "shop has no Namespace.gone"),
        ("shop:empty", "shop:empty is empty"),
        ("shop:mixed", "shop:mixed[1] is an object of int"),
        ("shop:number", "shop:number is an object of int"),
        ("shop:Namespace", "shop:Namespace is the class Namespace"),
        ("shop:twice", f"duplicate tool name {quoted('lookup')}"),
        ("shop:gated", "requires approval"),
    ],
)
def test_what_cannot_be_served_is_said(toolwire: Run, target: str, said: str) -> None:
    ran = toolwire("serve", target)
    assert (ran.code, ran.out) == (2, b"")
    assert said in ran.said


@pytest.mark.usefixtures("shop")
def test_the_line_of_a_module_that_fails_is_named(toolwire: Run) -> None:
    assert "broken.py, line 3" in toolwire("serve", "broken:server").said


@pytest.mark.usefixtures("shop")
def test_a_server_that_ends_with_an_error_is_a_message_and_1(toolwire: Run) -> None:
    ran = toolwire("serve", "shop:failing")
    assert (ran.code, ran.out) == (1, b"")
    assert "ConnectionError: no database" in ran.said


def test_a_client_that_goes_at_once_is_no_error(shop: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "from toolwire.cli import main; main()", "serve", "shop:lookup"],
        cwd=shop,
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, b"")
