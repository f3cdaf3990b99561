"""A client that asks for too much, or does not read: everything is answered in the end, and memory stays bounded."""

import json
import sys

import pytest

from tests.serve_process.peer import BACKENDS, ERAS, Peer, argv, text, write_slowly

MIB = 1 << 20
MANY = 10_000


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_arguments_and_answers_of_ten_megabytes_pass(backend: str, era: str) -> None:
    with Peer(argv(backend=backend), era) as peer:
        peer.open()
        peer.send(peer.tool("size", 1, text="x" * 10_000_000))
        assert text(peer.answer()) == "10000000"
        assert len(peer.call("echo", text="é" * 5_000_000)) == 5_000_000


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_ten_thousand_calls_that_are_sent_before_one_answer_is_read_are_all_answered(backend: str, era: str) -> None:
    with Peer(argv(backend=backend), era) as peer:
        peer.open()
        calls = b"".join(peer.tool("echo", number, text="x" * 100) for number in range(MANY))
        writer = write_slowly(peer.input, calls)
        seen = set()
        for _ in range(MANY):
            answer = peer.answer()
            assert text(answer) == "x" * 100
            seen.add(answer["id"])
        writer.join()
        assert seen == set(range(MANY))


@pytest.mark.parametrize("lane", ["express", "sdk"])
def test_more_calls_than_may_run_at_once_wait_for_their_turn_and_other_messages_do_not(lane: str) -> None:
    """2,500 handlers wait for a gate: 1,000 run, the others queue, and the call that opens the gate still gets in."""
    with Peer(argv()) as peer:
        if lane == "express":
            peer.open()
        else:
            info = {"protocolVersion": peer.era, "capabilities": {}, "clientInfo": {"name": "p", "version": "1"}}
            peer.ask("initialize", info)
            peer.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        peer.send(*(peer.request("tools/call", _gated(lane), number) for number in range(2_500)))
        peer.told("start g", 1_000)
        assert peer.said.count("start g") == 1_000
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}}
        peer.send(json.dumps(cancel).encode() + b"\n")
        peer.told("cancelled g")
        peer.told("start g", 1_001)
        for number in range(1, 1_600):
            cancel["params"] = {"requestId": number}
            peer.send(json.dumps(cancel).encode() + b"\n")
        peer.told("start g", 1_900)
        peer.send(peer.tool("open_gate", 9_999, gate="g"))
        answers = [peer.answer() for _ in range(901)]
        assert {answer["id"] for answer in answers} == {9_999, *range(1_600, 2_500)}


def _gated(lane: str) -> dict[str, object]:
    """Params of a call; a member that nobody knows sends it down the SDK lane."""
    params: dict[str, object] = {"name": "wait", "arguments": {"gate": "g"}}
    return params if lane == "express" else {**params, "unknown": True}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("backend", "era"), list(zip(BACKENDS, ERAS, strict=True)))
def test_a_client_that_never_reads_costs_bounded_memory(backend: str, era: str) -> None:
    """Each call is owed a megabyte. What is neither read nor taken in stays in the client's own pipe."""
    with Peer(argv(backend=backend), era) as peer:
        peer.open()
        before = peer.peak_when_still()
        calls = b"".join(peer.tool("repeat", number, text="0123456789" * 100, times=1_000) for number in range(600))
        writer = write_slowly(peer.input, calls)
        peak = peer.peak_when_still()
        assert peak - before < 200 * MIB, "600 answers would take 600 MB"
        seen = set()
        for _ in range(600):
            answer = peer.answer()
            assert len(text(answer)) == 1_000_000
            seen.add(answer["id"])
        writer.join()
        assert seen == set(range(600))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("lane", ["express", "sdk"])
def test_a_client_that_never_reads_and_writes_on_is_refused_and_then_not_read(lane: str) -> None:
    """64 MiB of requests wait; more are answered with an error; when those are not read either, reading stops."""
    with Peer(argv()) as peer:
        peer.open()
        before = peer.peak_when_still()
        method = "tools/call" if lane == "express" else "ping"
        params = (
            {"name": "echo", "arguments": {"text": "x" * 2_000}} if lane == "express" else {"_meta": {"k": "x" * 2_000}}
        )
        total = 80_000
        calls = b"".join(peer.request(method, params, number) for number in range(total))
        writer = write_slowly(peer.input, calls)
        peak = peer.peak_when_still()
        assert peak - before < 400 * MIB, f"{len(calls) / MIB:.0f} MiB were sent"
        answered = {peer.answer()["id"] for _ in range(total)}
        writer.join()
        assert answered == set(range(total)), "each is answered, if only with an error"
