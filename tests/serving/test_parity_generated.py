"""Made-up requests through both lanes: nothing that a client can write tells them apart (issue 4)."""

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.serving.parity import Step, compare
from tests.serving.raw_client import DISCOVER, ENVELOPE, INITIALIZE, INITIALIZED
from tests.serving.shop import RAW, TYPED, shop

NAMES = [f'"{tool.name}"'.encode() for tool in (*TYPED, *RAW) if tool.name != "panic"]

numbers = st.sampled_from(
    [b"0", b"-0", b"1", b"-1", b"1.0", b"1.50", b"1e3", b"1E400", b"0.1", b"9007199254740993", b"1" * 30, b"-1e-7"]
)
strings = st.sampled_from(
    [
        b'""',
        b'"a"',
        b'"1234"',
        b'"boom"',
        b'"\\u0061"',
        b'"\\ud83d\\ude00"',
        b'"\\ud800"',
        b'"\\n\\u0000"',
        '"é"'.encode(),
        b'"null"',
    ]
)
scalars = st.one_of(numbers, strings, st.sampled_from([b"null", b"true", b"false"]))
member_names = st.sampled_from(
    [
        b'"text"',
        b'"order_id"',
        b'"verbose"',
        b'"a"',
        b'"b"',
        b'"self"',
        b'"colour"',
        b'"weights"',
        b'"t\\u0065xt"',
        b'"x"',
        b'""',
    ]
)


def array(items: list[bytes]) -> bytes:
    return b"[" + b",".join(items) + b"]"


def object_of(members: list[tuple[bytes, bytes]]) -> bytes:
    return b"{" + b",".join(name + b":" + value for name, value in members) + b"}"


values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(array), st.lists(st.tuples(member_names, inner), max_size=3).map(object_of)
    ),
    max_leaves=6,
)
objects = st.lists(st.tuples(member_names, values), max_size=4).map(object_of)
mostly_objects = st.one_of(objects, objects, objects, values)

TOKEN = b'"progressToken"'
meta_members = st.one_of(
    st.tuples(st.just(TOKEN), st.one_of(numbers, strings, values)),
    st.tuples(
        st.sampled_from([b'"traceparent"', b'"k"', b'"progress_token"', b'"progressTok\\u0065n"', b'""']), values
    ),
    st.tuples(
        st.sampled_from(
            [
                b'"io.modelcontextprotocol/logLevel"',
                b'"io.modelcontextprotocol/protocolVersion"',
                b'"io.modelcontextprotocol/clientCapabilities"',
                b'"io.modelcontextprotocol/clientInfo"',
                b'"io.modelcontextprotocol/unheard"',
            ]
        ),
        st.one_of(
            values,
            st.sampled_from([b'"debug"', b'"2026-07-28"', b'"2025-11-25"', b"{}", b'{"name":"c","version":"1"}']),
        ),
    ),
)


def meta_of(enveloped: bool, members: list[tuple[bytes, bytes]]) -> bytes:
    rest = b",".join(name + b":" + value for name, value in members)
    return b"{" + b",".join(filter(None, (ENVELOPE if enveloped else b"", rest))) + b"}"


metas = st.one_of(
    st.none(),
    st.builds(meta_of, st.booleans(), st.lists(meta_members, max_size=2)),
    st.builds(meta_of, st.booleans(), st.just([])),
    values,
)
names = st.one_of(st.sampled_from(NAMES), st.sampled_from(NAMES), values, st.sampled_from([b'"nope"', b'"ech\\u006f"']))
extras = st.lists(
    st.tuples(st.sampled_from([b'"task"', b'"requestState"', b'"x"', b'"name"', b'"arguments"', b'"_meta"']), values),
    max_size=1,
)


def params_of(
    name: bytes | None, arguments: bytes | None, meta: bytes | None, extra: list[tuple[bytes, bytes]]
) -> bytes:
    given = [(b'"name"', name), (b'"arguments"', arguments), (b'"_meta"', meta)]
    return object_of([(member, value) for member, value in given if value is not None] + extra)


params = st.one_of(
    st.builds(params_of, names, st.one_of(st.none(), mostly_objects), metas, st.just([])),
    st.builds(params_of, st.sampled_from(NAMES), objects, metas, st.just([])),
    st.builds(params_of, st.one_of(st.none(), names), st.one_of(st.none(), mostly_objects), metas, extras),
    values,
)
ids = st.one_of(st.sampled_from([b"1", b"2", b'"1"', b'"x"']), scalars)
methods = st.sampled_from([b'"tools/call"'] * 8 + [b'"tools\\/call"', b'"tools/list"', b'"ping"', b'"nope"', b"5"])
envelope_extras = st.lists(st.tuples(st.sampled_from([b'"x"', b'"result"', b'"error"', b'"id"']), values), max_size=1)


def request_of(
    identifier: bytes | None, method: bytes, params: bytes | None, extra: list[tuple[bytes, bytes]]
) -> bytes:
    members = [(b'"jsonrpc"', b'"2.0"'), (b'"id"', identifier), (b'"method"', method), (b'"params"', params)]
    return object_of([(name, value) for name, value in members if value is not None] + extra)


odd = st.one_of(
    st.builds(request_of, ids, st.just(b'"tools/call"'), params, st.just([])),
    st.builds(request_of, ids, methods, st.one_of(st.none(), params), st.one_of(st.just([]), envelope_extras)),
)


def good(enveloped: bool) -> st.SearchStrategy[bytes]:
    """Calls with nothing odd about them but their arguments."""
    plain = st.lists(st.tuples(st.sampled_from([b'"k"', b'"traceparent"']), values), max_size=1)
    token = st.sampled_from([b"7", b'"t"']).map(lambda value: [(TOKEN, value)])
    meta = st.builds(meta_of, st.just(enveloped), st.one_of(plain, token))
    called = st.builds(params_of, st.sampled_from(NAMES), objects, meta, st.just([]))
    return st.builds(request_of, st.sampled_from([b"1", b"2", b'"x"']), st.just(b'"tools/call"'), called, st.just([]))


openings: dict[str, list[Step]] = {
    "none": [],
    "handshake": [[INITIALIZE], [INITIALIZED]],
    "half a handshake": [[INITIALIZE]],
    "modern": [[DISCOVER]],
}
ran: dict[str, int] = dict.fromkeys(openings, 0)
scripts = st.sampled_from([*openings, "handshake", "modern"]).flatmap(
    lambda opening: st.tuples(
        st.just(opening), st.lists(st.one_of(good(opening == "modern"), odd), min_size=2, max_size=6)
    )
)


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(scripts)
def test_made_up_requests_are_answered_alike(script: tuple[str, list[bytes]]) -> None:
    opening, lines = script

    async def run() -> None:
        # Each twice: what was accepted once may go express the second time.
        steps = [[line] for line in lines for _ in range(2)]
        compared = await compare(shop, [*openings[opening], *steps])
        ran[opening] += compared.express.express_calls

    anyio.run(run)


def test_made_up_requests_did_take_the_express_lane_where_they_may() -> None:
    """Runs behind the test above: requests that are all declined would prove nothing."""
    if sum(ran.values()) == 0:
        test_made_up_requests_are_answered_alike()
    assert ran["half a handshake"] == 0
    assert ran["handshake"] > 20
    assert ran["modern"] > 20
