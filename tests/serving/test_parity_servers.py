"""Servers with something of the user's between client and tool: it is never gone round, and both lanes answer alike.

`express` says how many of the calls may take the express lane: all where nothing stands between, none otherwise.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

import toolwire
from tests.serving.between import (
    Additive,
    Counting,
    Observer,
    Subclassed,
    beside_handlers,
    beside_tools,
    changing,
    replaced_later,
    rewriting,
    rewriting_meta,
    short_circuiting,
    vetoing,
    with_cache_hints,
    with_extension,
    with_lifespan,
    with_middleware,
)
from tests.serving.parity import AnyServer, Step, compare, opening
from tests.serving.raw_client import ERAS, HANDSHAKE, call_line, request_line, served
from tests.serving.shop import add, echo, shop
from toolwire import Tool

CALLS = [
    ("echo", b'{"text":"hello"}'),
    ("echo", b'{"text":5}'),
    ("add", b'{"a":1.0}'),
    ("add", b'{"a":2,"b":3}'),
    ("lookup_order", b'{"order_id":"1"}'),
    ("lookup_order", b'{"order_id":"boom"}'),
    ("raw", b'{"n":1.50,"big":1E400}'),
    ("remote", b"{}"),
    ("whoami", b"{}"),
    ("counted", b"{}"),
    ("own", b'{"a":1}'),
    ("nope", b"{}"),
]
OURS = len(CALLS) - 2


def script(era: str) -> list[Step]:
    calls = [[call_line(era, name, given, meta=b'"progressToken":5,"k":1.50')] for name, given in CALLS]
    return [*opening(era), *calls, [request_line(era, "tools/list")]]


@dataclass
class Case:
    """A kind of server, and how many of the calls may go express."""

    make: Callable[[], AnyServer]
    express: int


CASES = {
    "nothing between": Case(shop, OURS),
    "an observing middleware": Case(with_middleware(Observer()), 0),
    "a middleware that rewrites params": Case(with_middleware(rewriting), 0),
    "a middleware that rewrites _meta": Case(with_middleware(rewriting_meta), 0),
    "a middleware that changes results": Case(with_middleware(changing), 0),
    "a middleware that vetoes": Case(with_middleware(vetoing), 0),
    "a middleware that answers by itself": Case(with_middleware(short_circuiting), 0),
    "a subclass of the SDK's middleware": Case(with_middleware(Subclassed()), 0),
    "the user's own handlers beside ours": Case(beside_handlers, OURS),
    "a handler that replaced ours": Case(replaced_later, 0),
    "an MCPServer's own tools": Case(beside_tools, OURS),
    "an extension that intercepts calls": Case(with_extension(Counting), 0),
    "an extension that only adds": Case(with_extension(Additive), OURS),
    "a lifespan": Case(with_lifespan, OURS),
    "cache hints": Case(with_cache_hints, OURS),
}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("case", CASES)
async def test_whatever_stands_between_has_its_say_on_both_lanes(case: str, era: str) -> None:
    compared = await compare(CASES[case].make, script(era))
    assert compared.tolerated == set()
    assert compared.express.express_calls == CASES[case].express


def text_at(compared: Any, name: str) -> str:
    """The first text of the last answer to a call of that name."""
    first = 2 if len(compared.express.answers[1]) == 0 else 1
    at = first + max(index for index, (called, _) in enumerate(CALLS) if called == name)
    answer = json.loads(compared.express.answers[at][-1])
    text: str = answer["result"]["content"][0]["text"] if "result" in answer else answer["error"]["message"]
    return text


@pytest.mark.parametrize("era", ERAS)
async def test_what_was_changed_is_what_is_answered(era: str) -> None:
    """Equality alone would hold for two lanes that are wrong alike."""
    for case, name, expected in [
        ("a middleware that rewrites params", "nope", "42"),
        (
            "a middleware that rewrites params",
            "add",
            'INVALID_INPUT: tool "add": field "a": expected integer, got bool',
        ),
        ("a middleware that vetoes", "echo", "not today"),
        ("a middleware that answers by itself", "raw", "from the cache"),
        ("the user's own handlers beside ours", "nope", "own nope {}"),
        ("a handler that replaced ours", "add", 'own add {"a": 2, "b": 3}'),
        ("an extension that intercepts calls", "echo", "seen 2"),
        ("an MCPServer's own tools", "own", "2"),
    ]:
        compared = await compare(CASES[case].make, script(era))
        assert text_at(compared, name) == expected, case


@pytest.mark.parametrize("era", ERAS)
async def test_a_result_that_was_changed_keeps_the_change_and_one_that_was_not_keeps_its_bytes(era: str) -> None:
    changed = await compare(CASES["a middleware that changes results"].make, script(era))
    raw = [line for step in changed.express.answers for line in step if b"1.50" in line or b"and more" in line]
    assert all(b'"text":"and more"' in line for line in raw)
    kept = await compare(CASES["an observing middleware"].make, script(era))
    assert any(b'"structuredContent":{"b":1.50,"a":[1E400,-0,123456789012345678901234567890]}' in line
               for step in kept.express.answers for line in step)  # fmt: skip


@pytest.mark.parametrize("era", ERAS)
async def test_meta_that_a_middleware_rewrote_is_what_the_handler_sees(era: str) -> None:
    compared = await compare(CASES["a middleware that rewrites _meta"].make, script(era))
    assert json.loads(text_at(compared, "whoami"))[2]["by"] == "middleware"


@pytest.mark.parametrize("era", ERAS)
async def test_the_lifespans_state_and_context_variables_are_seen_on_both_lanes(era: str) -> None:
    compared = await compare(with_lifespan, [*script(era), [call_line(era, "whose", identifier=99)]])
    assert "set by the lifespan, {'state': 'of the lifespan'}" in compared.answers[-1]["result"]["content"][0]["text"]
    assert compared.express.express_calls == OURS + 1


async def test_an_interceptor_runs_once_around_an_mcpservers_own_tool() -> None:
    extension = Counting()

    def make() -> AnyServer:
        server = MCPServer("shop", version="1", extensions=[extension])

        @server.tool()
        def own(a: int) -> int:
            return a + 1

        toolwire.add_tools(server, echo, add)
        return server

    await compare(make, [*opening(HANDSHAKE), [call_line(HANDSHAKE, "own", b'{"a":1}')]])
    assert extension.count == 2  # one on each lane


@pytest.mark.parametrize("era", ERAS)
async def test_a_middleware_that_comes_and_goes_while_clients_are_connected_is_obeyed_at_once(era: str) -> None:
    server = shop()
    observer = Observer()
    async with served(server) as client:
        await client.open(era)
        for expected, change in [(1, None), (1, server.middleware.append), (2, server.middleware.remove)]:
            if change is not None:
                change(observer)
            await client.call(era, "echo", b'{"text":"a"}')
            assert client.wire.counters["express_calls"] == expected
    assert [seen[0] for seen in observer.seen[:1]] == ["tools/call"]


@pytest.mark.parametrize("era", ERAS)
async def test_a_change_that_python_does_not_see_is_a_change(era: str) -> None:
    """For Python `1 == 1.0 == True`: a middleware that makes another of one has the last word all the same."""

    async def changing_kind(ctx: Any, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method == "tools/call" and isinstance(result, dict):
            return {**result, "structuredContent": {"n": True, "m": 1.0}}
        if ctx.method == "tools/list" and isinstance(result, dict):
            return {
                **result,
                "tools": [{**entry, "inputSchema": {"type": "object", "x": True}} for entry in result["tools"]],
            }
        return result

    server: Server[Any] = Server("s")
    tool = Tool.raw("t", "", b'{"type":"object","x":1}', lambda _: '{"n":1,"m":1}', output_schema=b'{"type":"object"}')
    toolwire.add_tools(server, tool)
    server.middleware.append(changing_kind)
    async with served(server) as client:
        await client.open(era)
        await client.call(era, "t")
        assert b'"structuredContent":{"n":true,"m":1.0}' in client.lines[-1]
        await client.ask(request_line(era, "tools/list"))
        assert b'"inputSchema":{"type":"object","x":true}' in client.lines[-1]
