from tests.cli.conftest import Run
from toolwire.testing import RawServer, listing, raw, result, then

OBJECT = b'"inputSchema":{"type":"object","properties":{}}}'


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_a_server_without_faults_has_nothing_to_mend(toolwire: Run) -> None:
    with RawServer({"tools/list": listing(b'{"name":"fine",' + OBJECT)}) as server:
        ran = toolwire("check", "--", *server.argv)
    assert (ran.code, ran.err) == (0, b"")
    found = lines(ran.text)
    assert found[0] == "server raw 1, protocol 2025-11-25"
    assert found[1].startswith("connected in ")
    assert found[2].startswith("listed 1 tools in ") or found[2].startswith("listed 1 tool in ")
    assert "skipped none" in found
    assert "noise none" in found
    assert found[-1] == "verdict nothing to mend"


def test_everything_that_is_wrong_is_in_the_report(toolwire: Run) -> None:
    """Faults A6, A7, A11, E1, E3, E7, G1 and G3, as whoever maintains the server should hear of them."""
    page = listing(
        b'{"name":"no.dots",' + OBJECT,
        b'{"name":"' + b"x" * 65 + b'",' + OBJECT,
        b'{"name":"Get",' + OBJECT,
        b'{"name":"get",' + OBJECT,
        b'{"name":"union","inputSchema":{"type":"object","properties":{},"anyOf":[]}}',
        b'{"name":"hollow","inputSchema":{"type":"object"}}',
        b'{"name":"list","inputSchema":{"type":"array"}}',
        b'{"name":"get",' + OBJECT,
        b'{"inputSchema":{"type":"object"}}',
    )
    answers = {"tools/list": then(raw(b"[INFO] db ok \x1b[1m\n" * 30), raw(b"glued... "), page)}
    with RawServer(answers, prelude=b"Server v1.2 ready\n") as server:
        ran = toolwire("check", "--", *server.argv)
    assert ran.code == 0
    found = lines(ran.text)
    text = "\n".join(found)
    assert "no.dots" in found
    assert "x" * 65 in found
    assert "Get, get" in found
    assert 'union: "anyOf" at the root' in found
    assert 'hollow: no "properties" at the root; an empty one will do' in found
    assert any(line.startswith("#6 list: ") for line in found)
    assert any(line.startswith("#7 get: ") and "duplicate" in line for line in found)
    assert any(line.startswith("#8: ") for line in found)
    assert "Server v1.2 ready" in found
    assert r"[INFO] db ok \x1b[1m" in found
    assert "32 lines in all" in text
    assert "1 messages with something else glued in front of them" in found
    assert "\x1b" not in ran.text
    assert found[-1].endswith(" things to look at")


def test_the_2026_era_is_checked_too(toolwire: Run) -> None:
    with RawServer({"tools/list": listing(b'{"name":"fine",' + OBJECT)}, era="2026-07-28") as server:
        ran = toolwire("check", "--", *server.argv)
    assert (ran.code, ran.err) == (0, b"")
    assert "protocol 2026-07-28" in lines(ran.text)[0]


def test_a_listing_that_is_refused_is_an_error_and_not_a_report(toolwire: Run) -> None:
    with RawServer({"tools/list": result(b'{"tools":"none"}')}) as server:
        ran = toolwire("check", "--", *server.argv)
    assert ran.code in (1, 3)
    assert ran.out == b""
    assert ran.said.startswith("toolwire: ")
