"""A mended frame is a message to the SDK's own parser, of the same kind. What it refuses all the same has a name."""

import re
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import example, given
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from tests.core.streams import envelopes
from tests.core.texts import examples, refusal
from toolwire import _core

CLASSES: Final = {
    "request": JSONRPCRequest,
    "notification": JSONRPCNotification,
    "result": JSONRPCResponse,
    "error": JSONRPCError,
}


def params_are_no_object(frame: _core.Frame) -> bool:
    return frame.params is not None and frame.params[:1] not in {b"{", b"n"}


def answers_nobody(frame: _core.Frame) -> bool:
    return frame.kind in {"result", "error"} and frame.id is None


# What the SDK refuses in a mended frame, and how to see that this is why.
REFUSED: Final[dict[str, Callable[[_core.Frame], bool]]] = {
    "JSON-RPC allows params in an array, MCP and the SDK do not": params_are_no_object,
    "an answer whose id is neither a number nor a string belongs to no request": answers_nobody,
    "more than 200 levels": lambda frame: refusal(frame.text, depth=195) is not None,
    "an integer of more than 4,300 digits": lambda frame: re.search(rb"\d{4301}", frame.text) is not None,
}
# What it takes for another kind: a request without an id that can be answered is told, not asked.
OTHERWISE: Final = {("request", JSONRPCNotification)}


def parsed(frame: _core.Frame) -> JSONRPCMessage | None:
    try:
        return jsonrpc_message_adapter.validate_json(frame.mended(), by_name=False)
    except ValueError:
        return None


def frames_of(line: str) -> list[_core.Frame]:
    inbound = _core.Inbound()
    return [frame for frame in inbound.feed(line.encode() + b"\n") + inbound.finish() if frame.kind in CLASSES]


@examples(200)
@given(envelopes())
@example('{"jsonrpc":"2.0","id":"7","method":"m","result":{},"error":null}')
@example('{"jsonrpc":"2.0","id":7,"error":{"code":-1}}')
@example('{"jsonrpc":"2.0","error":{"code":-32700,"message":null}}')
def test_a_mended_frame_is_the_same_message_to_the_sdk_or_the_reason_has_a_name(line: str) -> None:
    for frame in frames_of(line):
        message = parsed(frame)
        if message is None:
            assert any(explains(frame) for explains in REFUSED.values()), line
            continue
        assert (frame.kind, type(message)) in {*CLASSES.items(), *OTHERWISE}, line
        if isinstance(message, JSONRPCResponse | JSONRPCError) and frame.answers != -1:
            assert message.id == frame.answers
        if isinstance(message, JSONRPCRequest | JSONRPCNotification):
            assert message.method == frame.method


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ('{"jsonrpc":"2.0","id":7.0,"result":{"a":1.50}}', '{"jsonrpc":"2.0","id":7,"result":{"a":1.50}}'),
        ('{"jsonrpc":"2.0","id":"7","result":{}}', '{"jsonrpc":"2.0","id":7,"result":{}}'),
        ('{"jsonrpc":"2.0","id":"a","result":{}}', '{"jsonrpc":"2.0","id":"a","result":{}}'),
        ('{"jsonrpc":"2.0","id":"7","method":"ping"}', '{"jsonrpc":"2.0","id":"7","method":"ping"}'),
        ('{"jsonrpc":"2.0","id":7e0,"method":"ping"}', '{"jsonrpc":"2.0","id":7,"method":"ping"}'),
        ('noise {"jsonrpc":"2.0","id":7.0,"result":{}}', '{"jsonrpc":"2.0","id":7,"result":{}}'),
        ('{"jsonrpc":"2.0","id":7,"result":{"t":"\\ud83d!"}}', '{"jsonrpc":"2.0","id":7,"result":{"t":"\\ufffd!"}}'),
        ('{"jsonrpc":"2.0","id":7,"error":{"code":-1}}', '{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":""}}'),
        (
            '{"jsonrpc":"2.0","error":{"code":1e1,"message":[1]}}',
            '{"jsonrpc":"2.0","id":null,"error":{"code":10,"message":"[1]"}}',
        ),
    ],
)  # fmt: skip
def test_only_what_the_sdk_would_refuse_is_changed(line: str, mended: str) -> None:
    (frame,) = frames_of(line)
    assert frame.mended().decode() == mended
    assert parsed(frame) is not None


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","method":"m","params":[1]}',
        '{"jsonrpc":"2.0","id":null,"result":{}}',
        '{"jsonrpc":"2.0","id":1,"result":{"a":%s}}' % ("[" * 250 + "]" * 250),
        '{"jsonrpc":"2.0","id":1,"result":{"a":%s}}' % ("1" * 4301),
    ],
    ids=REFUSED,
)
def test_each_named_difference_is_still_one(line: str) -> None:
    (frame,) = frames_of(line)
    assert parsed(frame) is None
    assert any(explains(frame) for explains in REFUSED.values())
