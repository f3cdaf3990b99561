"""Output schemas of one discovery: each compiled once, a bad one charged to who promised it."""

import json
import threading
from typing import Any

from toolwire import _core
from toolwire.bridge.promises import Promises


def entries(*promises: Any) -> list[_core.Entry]:
    tools = [
        {"name": f"t{index}", "inputSchema": {"type": "object"}, "outputSchema": promise}
        for index, promise in enumerate(promises)
    ]
    return _core.read_page(json.dumps({"tools": tools}).encode()).entries


def test_equal_promises_are_compiled_once_and_a_bad_one_is_an_error_of_its_own() -> None:
    text, number, bad = {"type": "string"}, {"type": "number"}, {"type": "nothing"}
    with Promises() as promises:
        promises.begin(entries(text, bad, None))
        promises.begin(entries(text, number, text))
        found = promises.compiled()
    assert list(found) == [json.dumps(promise).encode() for promise in (text, bad, number)]
    compiled, refused, _ = found.values()
    assert isinstance(compiled, _core.Validator)
    assert compiled.check(b"1") is not None
    assert isinstance(refused, _core.SchemaFault)


def test_where_nothing_is_promised_no_thread_is_started() -> None:
    before = set(threading.enumerate())
    with Promises() as promises:
        promises.begin(entries(None, None))
        assert promises.compiled() == {}
        assert set(threading.enumerate()) <= before
