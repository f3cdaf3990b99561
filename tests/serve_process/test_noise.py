"""What handlers print never breaks the stream, and standard input and output come back as they were (issue 4)."""

import pytest

from tests.serve_process.peer import BACKENDS, ERAS, KINDS, Peer, argv

WAYS = ("print", "flushed", "write", "child", "logging", "unbuffered")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_a_handler_prints_lands_on_stderr(kind: str, backend: str, era: str) -> None:
    with Peer(argv(kind, backend), era) as peer:
        peer.open()
        for way in WAYS:
            assert peer.call("noisy", way=way) == "quiet"
        assert peer.call("echo", text="clean") == "clean"
        peer.close_input()
        assert list(peer.lines()) == [b"stdout is back\n"]
        assert peer.wait() == 0
    for way in WAYS:
        assert f"noise: {way}".encode() in peer.noise
    assert b'{"jsonrpc":"2.0","id":1,"result":{}}' in peer.noise
    assert b"printed before" in peer.noise, "a client would have read it as a broken message"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_handler_that_reads_standard_input_gets_none_of_the_clients_messages(backend: str) -> None:
    with Peer(argv(backend=backend)) as peer:
        peer.open()
        peer.send(peer.tool("noisy", 1, way="input"), peer.tool("echo", 2, text="heard"))
        answers = {answer["id"]: answer["result"]["content"][0]["text"] for answer in (peer.answer(), peer.answer())}
        assert answers == {1: "''", 2: "heard"}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("way", ["run", "streams"])
def test_standard_input_and_output_come_back_as_they_were(way: str, backend: str) -> None:
    with Peer(argv("lowlevel", backend, way)) as peer:
        peer.open()
        peer.close_input()
        assert list(peer.lines()) == [b"stdout is back\n"]
        assert peer.wait() == 0
    assert peer.said == ["lifespan closed", "stdin blocks: True, stdout blocks: True", "done"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_second_session_in_the_same_process_is_as_good_as_the_first(backend: str) -> None:
    with Peer(["true"]) as writer:
        second = writer.request("ping", {}, "second")
    with Peer(argv("lowlevel", backend, "twice", second.decode())) as peer:
        peer.open()
        peer.close_input()
        assert peer.answer() == {"jsonrpc": "2.0", "id": "second", "result": {}}
        assert list(peer.lines()) == [b"stdout is back\n"]
        assert peer.wait() == 0
    assert peer.said == [
        "lifespan closed",
        "between",
        "lifespan closed",
        "stdin blocks: True, stdout blocks: True",
        "done",
    ]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_lifespan_that_fails_ends_the_session_with_its_own_error(kind: str, backend: str) -> None:
    with Peer(argv(kind, backend, "failing")) as peer:
        assert list(peer.lines()) == [b"stdout is back\n"]
        assert peer.wait() == 0
    assert peer.said == ["failed: no database", "stdin blocks: True, stdout blocks: True", "done"]
