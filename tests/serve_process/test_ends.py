"""How calls and sessions end: the client cancels, or goes away, or the process is told to stop; handlers clean up."""

import json

import pytest

from tests.serve_process.peer import BACKENDS, ERAS, Peer, argv, text

THREE_SECONDS = 3.0
"""What SIGTERM may take (issue 4). Handlers get two and a half; a busy machine gets the rest of the guard."""
ENDED = (0, 128 + 15)
"""By itself, or by the last resort: which one depends on whether the interpreter waits for threads that block."""


def cancel(identifier: int | str) -> bytes:
    return (
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}\n'
        % json.dumps(identifier).encode()
    )


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_cancelled_call_ends_its_handler_and_is_not_answered(backend: str, era: str) -> None:
    with Peer(argv(backend=backend), era) as peer:
        peer.open()
        peer.send(peer.tool("wait", 1, gate="a"), peer.tool("wait", "two", gate="b"), peer.tool("wait", 3, gate="c"))
        peer.told("start c")
        peer.send(cancel(1), cancel("two"))
        peer.told("finally a")
        peer.told("finally b")
        peer.send(peer.tool("open_gate", 4, gate="c"))
        assert {answer["id"] for answer in (peer.answer(), peer.answer())} == {3, 4}
        peer.send(cancel(3), cancel(99))
        assert peer.call("echo", text="alive") == "alive", "what is over can't be cancelled, and what never was neither"
    assert peer.said.count("cancelled a") == peer.said.count("cancelled b") == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_call_may_be_cancelled_in_the_same_breath_and_its_id_used_again(backend: str) -> None:
    with Peer(argv(backend=backend)) as peer:
        peer.open()
        peer.send(peer.tool("wait", 1, gate="a") + cancel(1) + peer.tool("echo", 1, text="the second"))
        assert text(peer.answer()) == "the second"
        assert peer.call("echo", text="alive") == "alive"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_handler_that_swallows_its_cancellation_is_not_answered_either(backend: str) -> None:
    with Peer(argv(backend=backend)) as peer:
        peer.open()
        peer.send(peer.tool("stubborn", 1, times=1))
        peer.told("holding on")
        peer.send(cancel(1))
        peer.told("swallowed")
        assert peer.call("echo", text="alive") == "alive"
        peer.close_input()
        assert list(peer.lines()) == [b"stdout is back\n"]
        assert peer.wait() == 0


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_answers_come_in_the_order_in_which_handlers_finish(backend: str, era: str) -> None:
    with Peer(argv(backend=backend), era) as peer:
        peer.open()
        peer.send(*(peer.tool("wait", number, gate=str(number)) for number in range(5)))
        peer.told("start 4")
        for number in (3, 0, 4, 2, 1):
            peer.send(peer.tool("open_gate", "opener", gate=str(number)))
            assert {peer.answer()["id"], peer.answer()["id"]} == {number, "opener"}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_client_that_goes_away_in_the_middle_of_calls_ends_them(backend: str, era: str) -> None:
    with Peer(argv(backend=backend), era) as peer:
        peer.open()
        peer.send(peer.tool("wait", 1, gate="a"), peer.tool("slow_goodbye", 2))
        peer.told("start goodbye")
        peer.close_input()
        answers = [json.loads(line) for line in peer.lines() if line != b"stdout is back\n"]
        assert {(answer["id"], answer["error"]["message"]) for answer in answers} == {
            (1, "Connection closed"),
            (2, "Connection closed"),
        }
        assert peer.wait() == 0
    assert peer.said.index("finally a") < peer.said.index("lifespan closed")
    assert "goodbye with ['open']" in peer.said, "the lifespan ends after the handlers"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_client_that_closes_only_its_reading_end_is_gone_too(backend: str) -> None:
    with Peer(argv(backend=backend)) as peer:
        peer.open()
        peer.send(peer.tool("wait", 1, gate="a"))
        peer.told("start a")
        assert peer.process.stdout is not None
        peer.process.stdout.close()
        peer.send(peer.tool("echo", 2, text="nobody hears this"))
        peer.told("finally a")
        peer.told("lifespan closed")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_sigterm_cancels_async_handlers_and_their_cleanup_runs(backend: str, era: str) -> None:
    with Peer(argv(backend=backend), era) as peer:
        peer.open()
        peer.send(peer.tool("wait", 1, gate="a"), peer.tool("slow_goodbye", 2))
        peer.told("start goodbye")
        peer.terminate()
        assert peer.wait(THREE_SECONDS * 2) == 0
    assert {"cancelled a", "finally a", "goodbye with ['open']", "lifespan closed", "done"} <= set(peer.said)


@pytest.mark.parametrize("backend", BACKENDS)
def test_sigterm_ends_the_process_although_a_handler_blocks_a_thread(backend: str) -> None:
    with Peer(argv(backend=backend)) as peer:
        peer.open()
        peer.send(peer.tool("block", 1), peer.tool("wait", 2, gate="a"))
        peer.told("blocking")
        peer.told("start a")
        peer.terminate()
        # The handler sleeps for ten minutes: the guard is far under that, and over what a busy machine adds to three.
        assert peer.wait(THREE_SECONDS * 3) in ENDED
    assert "finally a" in peer.said


@pytest.mark.parametrize("backend", BACKENDS)
def test_sigterm_ends_the_process_although_a_handler_blocks_the_event_loop(backend: str) -> None:
    with Peer(argv(backend=backend)) as peer:
        peer.open()
        peer.send(peer.tool("block_the_loop", 1))
        peer.told("blocking the loop")
        peer.terminate()
        assert peer.wait(THREE_SECONDS * 3) in ENDED


@pytest.mark.parametrize("backend", BACKENDS)
def test_sigterm_ends_the_process_although_a_handler_swallows_every_cancellation(backend: str) -> None:
    with Peer(argv(backend=backend)) as peer:
        peer.open()
        peer.send(peer.tool("stubborn", 1, times=1_000_000_000))
        peer.told("holding on")
        peer.terminate()
        assert peer.wait(THREE_SECONDS * 3) in ENDED


def test_sigterm_ends_the_process_although_the_client_does_not_read() -> None:
    with Peer(argv()) as peer:
        peer.open()
        peer.send(*(peer.tool("repeat", number, text="0123456789", times=100_000) for number in range(20)))
        peer.terminate()
        assert peer.wait(THREE_SECONDS * 3) in ENDED
