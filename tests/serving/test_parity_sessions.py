"""Sessions in every state through both lanes: envelopes, openings, odd frames, and the list of what may differ.

An express call is accepted only on a session that is open in the SDK's own view (design 2).
"""

import pytest

from tests.serving.parity import TOLERATED, Step, compare, opening
from tests.serving.raw_client import (
    DISCOVER,
    ENVELOPE,
    ERAS,
    HANDSHAKE,
    INITIALIZE,
    INITIALIZED,
    MODERN,
    call_line,
    request_line,
)
from tests.serving.shop import shop, with_custom_method


@pytest.mark.parametrize("meta", [b"null", b"[]", b"5", b'"x"', b"{}"])
async def test_a_meta_that_is_no_envelope_is_answered_alike(meta: bytes) -> None:
    for era in ERAS:
        line = call_line(HANDSHAKE, "echo", b'{"text":"a"}').replace(b'"a"}', b'"a"},"_meta":%s')
        compared = await compare(shop, [*opening(era), [line % meta], [line % meta]])
        assert compared.express.express_calls == (2 if (era, meta) == (HANDSHAKE, b"{}") else 0)


def envelope(
    version: bytes = b'"2026-07-28"', info: bytes = b'{"name":"c","version":"1"}', can: bytes = b"{}"
) -> bytes:
    members = {b"protocolVersion": version, b"clientInfo": info, b"clientCapabilities": can}
    return b",".join(b'"io.modelcontextprotocol/%s":%s' % item for item in members.items() if item[1])


ENVELOPES = [
    envelope(), envelope(b'"2025-11-25"'), envelope(b'"2099-01-01"'), envelope(b"5"), envelope(b"null"),
    envelope(b""), envelope(info=b""), envelope(info=b"null"), envelope(info=b"{}"), envelope(info=b'"x"'),
    envelope(can=b""), envelope(can=b"null"), envelope(can=b"[]"), envelope(can=b'{"sampling":{}}'),
    envelope(can=b'{"sampling":5}'), envelope() + b',"io.modelcontextprotocol/protocolVersion":"2025-11-25"',
    b'"io.modelcontextprotocol/protocolVersion":"2025-11-25",' + envelope(),
]  # fmt: skip


@pytest.mark.parametrize("opened", [None, *ERAS])
async def test_envelopes_of_every_kind_are_judged_alike(opened: str | None) -> None:
    """Before anything, on a session of either era: three times, by a request that teaches and two that may use it."""
    line = call_line(HANDSHAKE, "echo", b'{"text":"a"}').replace(b"}}}", b'},"_meta":{ENVELOPE}}}')
    ran = 0
    for members in ENVELOPES:
        steps = [[line.replace(b"ENVELOPE", members)]] * 3
        compared = await compare(shop, [*(opening(opened) if opened else []), *steps])
        ran += compared.express.express_calls
    assert (ran > 0) == (opened != HANDSHAKE)


async def test_an_envelope_that_only_a_custom_method_has_accepted_is_not_known() -> None:
    """The SDK looks into an envelope only where the specification has a method of that name."""
    bad = envelope(can=b'{"sampling":5}')
    custom = b'{"jsonrpc":"2.0","id":1,"method":"x/custom","params":{"_meta":{%s}}}' % bad
    call = (
        b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"_meta":{%s}}}'
    )
    compared = await compare(with_custom_method, [[DISCOVER], [custom], [call % bad], [call % bad]])
    assert compared.answers[1]["result"]["ok"] == 1
    assert compared.answers[2]["error"]["code"] == -32602
    assert compared.express.express_calls == 0


EARLY: dict[str, list[Step]] = {
    "a call before anything": [[call_line(HANDSHAKE, "echo", b'{"text":"a"}')]],
    "a modern call before anything": [[call_line(MODERN, "echo", b'{"text":"a"}')]] * 3,
    "after initialize, before initialized": [[INITIALIZE], [call_line(HANDSHAKE, "echo", b'{"text":"a"}')]],
    "initialized alone": [[INITIALIZED], [call_line(HANDSHAKE, "echo", b'{"text":"a"}')]],
    "initialized first": [[INITIALIZED], [INITIALIZE], [call_line(HANDSHAKE, "echo", b'{"text":"a"}')]],
    "initialized twice": [[INITIALIZE], [INITIALIZED], [INITIALIZED], [call_line(HANDSHAKE, "add", b'{"a":1}')]],
    "initialize twice": [[INITIALIZE], [INITIALIZED], [INITIALIZE], [call_line(HANDSHAKE, "add", b'{"a":1}')]],
    "initialize that is refused": [
        [INITIALIZE.replace(b'"protocolVersion":"2025-11-25",', b"")],
        [INITIALIZED],
        [call_line(HANDSHAKE, "add", b'{"a":1}')],
    ],
    "an old version": [
        [INITIALIZE.replace(b"2025-11-25", b"2024-11-05")],
        [INITIALIZED],
        [call_line(HANDSHAKE, "lookup_order", b'{"order_id":"1"}')],
        [call_line(HANDSHAKE, "scalar")],
    ],
    "a version that nobody knows": [
        [INITIALIZE.replace(b"2025-11-25", b"1999-01-01")],
        [INITIALIZED],
        [call_line(HANDSHAKE, "add", b'{"a":1}')],
    ],
    "initialize on a modern session": [
        [DISCOVER],
        [INITIALIZE],
        [INITIALIZED],
        [call_line(HANDSHAKE, "add", b'{"a":1}')],
    ],
    "initialize under an envelope": [
        [INITIALIZE.replace(b'"capabilities":{}', b'"capabilities":{},"_meta":{%s}' % ENVELOPE)],
        [INITIALIZED],
        [call_line(HANDSHAKE, "add", b'{"a":1}')],
        [call_line(MODERN, "add", b'{"a":1}')],
    ],
    "a handshake call on a modern session": [[DISCOVER], [call_line(HANDSHAKE, "add", b'{"a":1}')]],
    "a modern call on a handshake session": [[INITIALIZE], [INITIALIZED], [call_line(MODERN, "add", b'{"a":1}')]],
    "everything at once, handshake": [[INITIALIZE, INITIALIZED, call_line(HANDSHAKE, "add", b'{"a":1}', 2)]],
    "everything at once, modern": [[DISCOVER, call_line(MODERN, "add", b'{"a":1}', 2)]],
}
RUNS_EXPRESS = {
    "a modern call before anything", "initialized first", "initialized twice", "initialize twice", "an old version",
    "a version that nobody knows", "initialize under an envelope",
}  # fmt: skip


@pytest.mark.parametrize("case", EARLY)
async def test_a_session_in_any_state_answers_alike(case: str) -> None:
    compared = await compare(shop, EARLY[case])
    assert (compared.express.express_calls > 0) == (case in RUNS_EXPRESS)


ODD_FRAMES = [
    b"garbage", b"", b"[]", b"{}", b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"1.0","id":5,"method":"tools/call","params":{}}',
    b'{"id":5,"method":"tools/call","params":{"name":"echo"}}', b'{"jsonrpc":"2.0","id":5,"method":5}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":NaN}}}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\\ud800"}}}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"raw","arguments":{"text":"\\ud83d"}}}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ech\\udc00","arguments":{}}}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}trailing',
    b'{"jsonrpc":"2.0","id":5,"id":6,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","method":"ping","params":{"name":"echo","arguments":{"text":"a"}}}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools\\/call","params":{"name":"echo","arguments":{"text":"a"}}}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}},"x":1}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}},"result":{}}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}},"error":null}',
    b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}',
    b'{"jsonrpc":"2.0","id":5,"result":{}}', b'{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}',
    b'\xef\xbb\xbf{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}',
    b'[{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}]',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\xff"}}}',
]  # fmt: skip


@pytest.mark.parametrize("frame", ODD_FRAMES)
async def test_an_odd_frame_is_answered_alike_and_the_session_goes_on(frame: bytes) -> None:
    after = call_line(HANDSHAKE, "echo", b'{"text":"after"}', 6)
    compared = await compare(shop, [*opening(HANDSHAKE), [frame], [after]])
    assert compared.answers[-1]["result"]["content"] == [{"type": "text", "text": "heard: after"}]
    assert compared.express.express_calls >= 1


@pytest.mark.parametrize("era", ERAS)
async def test_what_only_the_sdk_refuses_is_the_whole_list_of_differences(era: str) -> None:
    """Every name of the table is met, and nothing else differs; beyond 256 levels both lanes refuse."""
    steps = [
        [call_line(era, "raw", b'{"n":1%s}' % (b"0" * 5000))],
        [call_line(era, "add", b'{"a":1%s}' % (b"0" * 5000))],
        [call_line(era, "raw", b'{"n":%s%s}' % (b"[" * 220, b"]" * 220))],
        [call_line(era, "anything", b'{"n":%s%s}' % (b"[" * 220, b"]" * 220))],
        [call_line(era, "raw", b'{"n":%s%s}' % (b"[" * 190, b"]" * 190))],
        [call_line(era, "raw", b'{"n":%s%s}' % (b"[" * 300, b"]" * 300))],
    ]
    compared = await compare(shop, [*opening(era), *steps])
    assert compared.tolerated == set(TOLERATED)
    assert b'"error"' in compared.express.answers[-1][0]
    assert b'"error"' not in compared.express.answers[-2][0]


@pytest.mark.parametrize("era", ERAS)
async def test_calls_sent_together_are_each_answered_alike(era: str) -> None:
    together = [call_line(era, "counted", b"{}", number, b'"progressToken":%d' % number) for number in range(1, 20)]
    together += [call_line(era, name, given, 100 + at) for at, (name, given) in enumerate([("add", b'{"a":1}')] * 20)]
    compared = await compare(shop, [*opening(era), together])
    assert len(compared.answers) == 1 + 19 * 4 + 20
    assert compared.express.express_calls == len(together)


@pytest.mark.parametrize("era", ERAS)
async def test_two_calls_under_one_id_are_both_answered_alike(era: str) -> None:
    twice = [call_line(era, "counted", b"{}", 5), call_line(era, "counted", b"{}", 5)]
    compared = await compare(shop, [*opening(era), twice, [call_line(era, "echo", b'{"text":"a"}', 5)]])
    assert len(compared.answers) == 1 + 3


@pytest.mark.parametrize("era", ERAS)
async def test_other_methods_are_the_sdks_on_both(era: str) -> None:
    methods = ["tools/list", "ping", "prompts/list", "resources/list", "server/discover", "nope", "subscriptions/nope"]
    compared = await compare(shop, [*opening(era), *[[request_line(era, method)] for method in methods]])
    assert compared.express.express_calls == 0
    assert compared.express.answers == compared.sdk.answers
