"""What a crossing between Rust and Python costs, each way beside the other: the figures of `docs/decisions/border.md`.

Run by itself, `python -m benches.border`: it holds no bar and is no part of the table.
"""

import json
import statistics
import threading
import time
from collections.abc import Callable

import orjson
from mcp_types import CallToolResult, JSONRPCResponse, jsonrpc_message_adapter

from toolwire import _core

LINES = 32
MIB = 1 << 20


def best(call: Callable[[], object], turns: int = 2_000, rounds: int = 15) -> float:
    """Time one call in seconds."""
    found = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(turns):
            call()
        found = min(found, (time.perf_counter() - began) / turns)
    return found


def median(call: Callable[[], object], rounds: int) -> float:
    """Time one call in seconds, as it usually is."""
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def answer(text: str, number: int = 1_000_000_000) -> bytes:
    """Make the line of one answer."""
    body = {"content": [{"type": "text", "text": text}], "structuredContent": {"text": text, "price": 1.5}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": body}, separators=(",", ":")).encode() + b"\n"


def forms() -> None:
    """Read one answer in each form in which it could cross, down to the text that a model reads."""
    print("one answer, from its line to the model's text, in microseconds")
    for size in (20, 2_000, 200_000):
        line = answer("x" * size)
        inbound = _core.Inbound()

        def spans(line: bytes = line, inbound: _core.Inbound = inbound) -> str:
            result = inbound.feed(line)[0].call_result()
            assert result is not None
            return result.render("content")

        def objects(line: bytes = line) -> str:
            text: str = orjson.loads(line)["result"]["content"][0]["text"]
            return text

        def decoded(line: bytes = line) -> str:
            text: str = json.loads(line)["result"]["content"][0]["text"]
            return text

        def models(line: bytes = line) -> str:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            assert isinstance(message, JSONRPCResponse)
            block = CallToolResult.model_validate(message.result).content[0]
            assert block.type == "text"
            return block.text

        assert spans() == objects() == decoded() == models()
        turns = max(20, 200_000 // (size + 100))
        figures = {read.__name__: best(read, turns) * 1e6 for read in (spans, objects, decoded, models)}
        print(f"  {size:>7,} characters  " + "  ".join(f"{name} {value:,.2f}" for name, value in figures.items()))


def crossings() -> None:
    """Feed the same lines in one crossing and in one each."""
    lines = [answer("hello", 1_000_000_000 + index) for index in range(LINES)]
    chunk = b"".join(lines)
    inbound = _core.Inbound()

    def one_each() -> None:
        for line in lines:
            inbound.feed(line)

    together, apart = best(lambda: inbound.feed(chunk)) / LINES, best(one_each) / LINES
    print(f"{LINES} lines to frames: one crossing {together * 1e9:.0f} ns a line, a crossing each {apart * 1e9:.0f} ns")
    frame = inbound.feed(chunk)[0]
    print(
        f"a number read from a frozen class: {best(lambda: frame.answers) * 1e9:.0f} ns, the call of a lambda included"
    )


def copies() -> None:
    """Feed lines that are copied out of their chunk, and tell what the copy is of the whole."""
    for size in (200, 20_000):
        lines = max(1, 200_000 // size)
        chunk = answer("x" * size) * lines
        inbound = _core.Inbound()
        whole = best(lambda chunk=chunk, inbound=inbound: inbound.feed(chunk), 50) / lines  # type: ignore[misc]  # bound now
        line = memoryview(chunk)[: len(chunk) // lines]
        copy = best(lambda line=line: bytes(line))  # type: ignore[misc]  # bound now
        print(f"a line of {len(line):,} bytes: {whole * 1e9:.0f} ns to a frame, a copy in Python {copy * 1e9:.0f} ns")


def lock() -> None:
    """Feed one line on each side of the size at which the lock is let go, alone and beside a busy thread; medians."""
    # `answer` writes the text twice.
    small, large = answer("x" * (MIB // 2 - 1_000)), answer("x" * (MIB // 2 + 1_000))
    assert len(small) < MIB < len(large)
    inbound = _core.Inbound()
    for beside in ("alone", "beside a busy thread"):
        done = threading.Event()

        def busy(done: threading.Event = done) -> None:
            while not done.is_set():
                pass

        thread = threading.Thread(target=busy)
        if beside != "alone":
            thread.start()
        held, gone = median(lambda: inbound.feed(small), 101), median(lambda: inbound.feed(large), 101)
        done.set()
        if beside != "alone":
            thread.join()
        print(f"a line of 1 MiB, {beside}: lock held {held * 1e3:.2f} ms, let go {gone * 1e3:.2f} ms")


if __name__ == "__main__":
    forms()
    crossings()
    copies()
    lock()
