import json
from collections.abc import Callable

import pytest

from tests.cli.conftest import Run
from toolwire.testing import RawServer, listing

SEARCH = (
    b'{"name":"search","description":"Finds orders.\\nSecond line.","inputSchema":{"type":"object",'
    b'"properties":{"q":{"type":"string"},"limit":{"type":"number","default":1.50,"maximum":1E400}},'
    b'"required":["q"]},"annotations":{"readOnlyHint":true}}'
)
DROP = (
    b'{ "inputSchema" : {"type":"object","properties":{}} , "name":"drop", "annotations":{"destructiveHint":true},'
    b' "_meta":{"n":123456789012345678901234567890} }'
)
BAD = b'{"name":"bad","inputSchema":{"type":"array"}}'
HOSTILE = (
    b'{"name":"t\\u001b[2J","description":"ok \\u001b]0;owned\\u0007 \xe2\x80\xae \\u202e tag \xf3\xa0\x81\x81",'
    b'"inputSchema":{"type":"object","properties":{"p\\u001b":{}}}}'
)


def test_a_table_shows_names_arguments_hints_and_the_first_line_of_the_description(toolwire: Run) -> None:
    with RawServer({"tools/list": listing(SEARCH, DROP)}) as server:
        ran = toolwire("list", "--", *server.argv)
    assert (ran.code, ran.err) == (0, b"")
    assert "2 tools" in ran.text
    search, drop = (line for line in ran.text.splitlines() if "search" in line or "drop" in line)
    assert search.split("  ")[0] == "search"
    assert "q*, limit" in search
    assert "read-only" in search
    assert "Finds orders." in search
    assert "destructive" in drop
    assert "Second line" not in ran.text
    assert b"\x1b" not in ran.out, "colours are off where the output is no terminal"


def test_json_is_an_array_of_the_servers_own_bytes(toolwire: Run) -> None:
    with RawServer({"tools/list": [listing(SEARCH, cursor="next"), listing(DROP)]}) as server:
        ran = toolwire("list", "--json", "--", *server.argv)
    assert (ran.code, ran.err) == (0, b"")
    assert ran.out.startswith(b"[" + SEARCH)
    assert ran.out.endswith(DROP + b"]\n")
    assert len(json.loads(ran.out)) == 2


def test_a_prefix_stands_before_every_name(toolwire: Run) -> None:
    with RawServer({"tools/list": listing(SEARCH)}) as server:
        assert "gh_search" in toolwire("list", "--prefix", "gh_", "--", *server.argv).text


def test_a_tool_that_cannot_be_imported_is_named_and_costs_no_other(toolwire: Run) -> None:
    with RawServer({"tools/list": listing(SEARCH, BAD, DROP)}) as server:
        ran = toolwire("list", "--", *server.argv)
    assert ran.code == 0
    assert "2 tools" in ran.text
    assert "skipped: #1 bad: " in ran.said


def test_a_server_without_tools_has_an_empty_table(toolwire: Run) -> None:
    """Fault F7: a server without the tools capability."""
    with RawServer() as server:
        ran = toolwire("list", "--", *server.argv)
        assert (ran.code, ran.text.split("\n")[0].strip()) == (0, "0 tools")
        assert toolwire("list", "--json", "--", *server.argv).out == b"[]\n"


def test_control_bidi_and_hidden_characters_are_shown_as_escapes(toolwire: Run) -> None:
    """Fault D21."""
    with RawServer({"tools/list": listing(HOSTILE, BAD.replace(b"bad", b"bad\\u001b[2J"))}) as server:
        ran = toolwire("list", "--", *server.argv)
    assert ran.code == 0
    assert r"t\x1b[2J" in ran.text
    assert r"ok \x1b]0;owned\x07 \u202e \u202e tag \U000e0041" in " ".join(ran.text.split())
    assert r"bad\x1b[2J" in ran.said
    for hostile in (b"\x1b", b"\x07", "\u202e".encode(), "\U000e0041".encode()):
        assert hostile not in ran.out + ran.err


def test_a_terminal_gets_colours_and_no_escape_of_the_servers(on_terminal: Callable[..., bytes]) -> None:
    with RawServer({"tools/list": listing(HOSTILE)}) as server:
        got = on_terminal("list", "--", *server.argv)
    assert b"\x1b[" in got, "colours, and the spinner"
    assert b"starting python" in got
    assert rb"t\x1b[2J" in got
    for hostile in (b"\x1b[2J", b"\x1b]0;", b"\x07", "\u202e".encode()):
        assert hostile not in got


def test_json_on_a_terminal_is_the_same_value_escaped(on_terminal: Callable[..., bytes], toolwire: Run) -> None:
    with RawServer({"tools/list": listing(HOSTILE)}) as server:
        got = on_terminal("list", "--json", "--", *server.argv)
        exact = toolwire("list", "--json", "--", *server.argv).out
    assert exact == b"[" + HOSTILE + b"]\n"
    shown = got[got.index(b"[{") : got.rindex(b"}]") + 2]
    assert "\u202e".encode() not in shown
    assert rb"\u202e \u202e tag \udb40\udc41" in shown
    assert json.loads(shown) == json.loads(exact)


@pytest.mark.parametrize("era", ["2024-11-05", "2026-07-28"])
def test_every_era_is_listed(toolwire: Run, era: str) -> None:
    with RawServer({"tools/list": listing(SEARCH)}, era=era) as server:
        assert toolwire("list", "--json", "--", *server.argv).out == b"[" + SEARCH + b"]\n"
