"""Every request through both lanes of equal servers: what a client hears is the same (issue 4, design 2).

The steps are a client's: each line alone, so that the order of answers is certain, but for what is sent together.
Counters say that the express lane really ran where it should, and never where it must not.
"""

import pytest

from tests.serving.parity import Step, compare, opening
from tests.serving.raw_client import (
    ERAS,
    call_line,
)
from tests.serving.shop import shop

CALLS = [
    (b'"echo"', b'{"text":"hello"}'),
    (b'"echo"', b'{"text":"a\\u0000b\\ud83d\\ude00\\"\\\\/"}'),
    (b'"echo"', b' { "text" : "spaced" } '),
    (b'"echo"', b"{}"),
    (b'"echo"', b'{"text":5}'),
    (b'"echo"', b'{"text":null}'),
    (b'"echo"', b'{"text":"a","x":1}'),
    (b'"echo"', b'{"text":"a","text":"b"}'),
    (b'"echo"', b'{"t\\u0065xt":"a"}'),
    (b'"ech\\u006f"', b'{"text":"a"}'),
    (b'"lookup_order"', b'{"order_id":"1234"}'),
    (b'"lookup_order"', b'{"order_id":"boom"}'),
    (b'"lookup_order"', b'{"order_id":"none"}'),
    (b'"lookup_order"', b'{"order_id":42}'),
    (b'"lookup_order"', b'{"order_id":"1","verbose":null}'),
    (b'"add"', b'{"a":1}'),
    (b'"add"', b'{"a":123456789012345678901234567890}'),
    (b'"add"', b'{"a":1.0}'),
    (b'"add"', b'{"a":1e2}'),
    (b'"add"', b'{"a":true}'),
    (b'"many"', b'{"colour":"blue","size":"m","weights":[1,1.50],"extra":{"k":[{}]}}'),
    (b'"many"', b'{"colour":"green"}'),
    (b'"many"', b'{"weights":[1E400]}'),
    (b'"anything"', b'{"self":1,"function":2,"is_async":3,"class":4,"":5}'),
    (b'"panic"', b"{}"),
    (b'"nothing_finite"', b"{}"),
    (b'"half"', b"{}"),
    (b'"with_context"', b"{}"),
    (b'"raw"', b'{ "markup": "a<b&c>d" }'),
    (b'"raw"', b'{"a":1.50,"b":1e3,"c":-0,"d":1E400,"e":0.10000000000000000555,"f":"\\u00e9"}'),
    (b'"raw"', b'{"a":1,"a":2}'),
    (b'"parts"', b"{}"),
    (b'"remote"', b"{}"),
    (b'"badge"', b"{}"),
    (b'"scalar"', b"{}"),
    (b'"whoami"', b"{}"),
    (b'"nope"', b"{}"),
    (b'""', b"{}"),
]


@pytest.mark.parametrize("era", ERAS)
async def test_calls_of_every_ending_are_answered_alike(era: str) -> None:
    template = call_line(era, "NAME", b"ARGUMENTS")
    calls = [[template.replace(b'"NAME"', name).replace(b"ARGUMENTS", given)] for name, given in CALLS]
    compared = await compare(shop, [*opening(era), *calls])
    assert compared.tolerated == set()
    # All but the two unknown names and the tool that wants the SDK's own context.
    assert compared.express.express_calls == len(CALLS) - 3
    assert compared.sdk.sdk_requests == len(CALLS) + 1


@pytest.mark.parametrize("era", ERAS)
async def test_our_results_are_equal_to_the_byte(era: str) -> None:
    """Stronger than equal as JSON: `1.50`, `1E400`, `-0` and the order of members come back on both lanes."""
    calls = [[call_line(era, name)] for name in ("remote", "scalar", "parts", "lookup_order")]
    calls.append([call_line(era, "raw", b'{"a":1.50,"b":-0}')])
    compared = await compare(shop, [*opening(era), *calls])
    assert compared.express.answers == compared.sdk.answers
    assert compared.express.express_calls == len(calls)


ARGUMENTS = [
    b'"arguments":null,',
    b"",
    b'"arguments":[],',
    b'"arguments":5,',
    b'"arguments":"{}",',
    b'"arguments":{},"arguments":{"x":1},',
    b'"argument\\u0073":{"text":"escaped"},',
    b'"arguments":{},"task":{"ttl":1},',
    b'"arguments":{},"requestState":"s",',
    b'"arguments":{},"inputResponses":{},',
    b'"arguments":{},"x":null,',
    b'"name":"echo","arguments":{"text":"a"},',
    b'"nam\\u0065":"echo","arguments":{"text":"a"},',
]


@pytest.mark.parametrize("era", ERAS)
async def test_odd_params_are_answered_alike(era: str) -> None:
    good = call_line(era, "raw", b"{}")
    steps: list[Step] = [
        [good.replace(b',"arguments":{}', b"," + odd.rstrip(b",") if odd else b"")] for odd in ARGUMENTS
    ]
    whole = (b"null", b"[]", b'"x"', b"5", b"{}", b'{"name":5}', b'{"name":null}', b'{"name":["raw"]}')
    steps += [[b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":%s}' % params] for params in whole]
    steps.append([b'{"jsonrpc":"2.0","id":9,"method":"tools/call"}'])
    compared = await compare(shop, [*opening(era), *steps])
    # Absent and null arguments are certain; everything else is the SDK's to judge.
    assert compared.express.express_calls == 2
    # Names are told apart after unescaping, and the last of a name counts, as the SDK reads them.
    results = [answer["result"] for answer in compared.answers if "content" in answer.get("result", {})]
    texts = [result["content"][0]["text"] for result in results]
    assert texts[:4] == ["{}", "{}", '{"x":1}', '{"text":"escaped"}']
    assert texts[-2:] == ["heard: a", "heard: a"]


IDS = [
    b"0", b"-1", b"-0", b"7", b'"7"', b'"x"', b'""', b'"\\u0041"', b"7.0", b"7.5", b"1e2", b"null", b"true",
    b"[1]", b"{}", b"999999999999999999", b"9999999999999999999", b"123456789012345678901234567890",
    b'"999999999999999999999"', b'"-5"',
]  # fmt: skip
CERTAIN_IDS = 11


@pytest.mark.parametrize("era", ERAS)
async def test_ids_of_every_kind_come_back_alike(era: str) -> None:
    line = call_line(era, "echo", b'{"text":"a"}', 77777)
    steps = [[line.replace(b"77777", identifier)] for identifier in IDS]
    compared = await compare(shop, [*opening(era), *steps])
    assert compared.express.express_calls == CERTAIN_IDS


METAS = [
    b'"progressToken":1', b'"progressToken":"t"', b'"progressToken":0', b'"progressToken":-1',
    b'"progressToken":1.0', b'"progressToken":1.5', b'"progressToken":null', b'"progressToken":true',
    b'"progressToken":[1]', b'"progressToken":{}', b'"progressToken":""',
    b'"progressToken":123456789012345678901234567890', b'"progressToken":1,"progressToken":2',
    b'"progressTok\\u0065n":1', b'"progress_token":1', b'"progress_token":[1]', b'"traceparent":"00-aa-bb-01"',
    b'"k":{"a":[1.50,null]},"":1', b'"k":1,"k":2', b'"io.modelcontextprotocol/logLevel":"debug"',
    b'"io.modelcontextprotocol/logLevel":"loud"', b'"io.modelcontextprotocol/unheard":1',
    b'"io.modelcontextprotocol/":1', b'"io.modelcontextprotocol\\/x":1',
    b'"io.modelcontextprotocol/protocolVersion":"2025-11-25"',
    b'"io.modelcontextprotocol/protocolVersion":"2026-07-28"',
    b'"io.modelcontextprotocol/clientCapabilities":5', b'"io.modelcontextprotocol/clientInfo":null',
    b'"IO.modelcontextprotocol/protocolVersion":1',
]  # fmt: skip


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", ["counted", "whoami"])
async def test_metas_of_every_kind_are_answered_alike(era: str, tool: str) -> None:
    """Each twice: what the SDK has accepted once may go express the second time."""
    steps = [[call_line(era, tool, identifier=number, meta=meta)] for meta in METAS for number in (1, 2)]
    compared = await compare(shop, [*opening(era), *steps])
    assert compared.express.express_calls > len(METAS) / 2
