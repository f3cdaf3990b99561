"""Rows 122 to 135 of many-sources 7: a remote tool asks something in the middle of a call, and the call goes on."""

import json
import pickle
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.server.mcpserver import Context, MCPServer

import toolwire
from tests.bridge.raw import ERAS, NEW, OLD, PATIENCE, arguments_of, entry, on_both_loops
from tests.many_sources.support import discovered, in_process, mode
from toolwire import (
    Continuation,
    ContinuationBindingError,
    InputAnswerError,
    InputRequest,
    RemoteCallError,
    Source,
    Tool,
    ToolFailure,
    ToolwireError,
)
from toolwire.bridge.input_rounds import MAX_ROUNDS
from toolwire.errors import IncompleteResultError
from toolwire.testing import Answer, RawServer, die, listing, result

ORDINARY = Path(__file__).resolve().parents[1] / "wire" / "sdk_server.py"
NEGOTIATED: dict[str, Any] = {"input_rounds": True}
SCHEMA = b'{"type":"object","properties":{"name":{"type":"string","minLength":1}},"required":["name"]}'
STATE = rb'"s \"1\" \u00e9 \\ \/ \ud83d\ude00"'
INCOMPLETE = 'mcp: call tool "t": mcp: remote tool result requires further input'


def form(message: str = "Which?", schema: bytes | None = SCHEMA) -> bytes:
    asked = b"" if schema is None else b',"requestedSchema":' + schema
    return b'{"method":"elicitation/create","params":{"message":%s%s}}' % (json.dumps(message).encode(), asked)


def asks(requests: bytes, state: bytes | None = STATE, more: bytes = b"") -> Answer:
    kept = b"" if state is None else b',"requestState":' + state
    return result(b'{"resultType":"input_required","inputRequests":%s%s%s}' % (requests, kept, more), verbatim=True)


def once(request: bytes = form(), **options: Any) -> Answer:
    return asks(b'{"q":%s}' % request, **options)


DONE = result(b'{"content":[{"type":"text","text":"done"}],"resultType":"complete"}', verbatim=True)


async def requested(tool: Tool, arguments: bytes = b"{}") -> InputRequest:
    with pytest.raises(InputRequest) as caught:
        await tool.call(arguments)
    return caught.value


ASKING = MCPServer("asking")


@ASKING.tool(structured_output=False)
async def question(ctx: Context, topic: str) -> str | types.InputRequiredResult:
    """Asks for a name, and then whether that was meant."""
    responses = ctx.input_responses
    if responses is None:
        return _asked("name", f"Which {topic}?", {"name": {"type": "string"}}, "first")
    if "name" in responses:
        answer = responses["name"]
        assert isinstance(answer, types.ElicitResult)
        if answer.action != "accept":
            return f"{answer.action} {ctx.request_state}"
        assert answer.content is not None
        return _asked("sure", "Sure?", {"sure": {"type": "boolean"}}, f"second:{answer.content['name']}")
    answer = responses["sure"]
    assert isinstance(answer, types.ElicitResult)
    return f"{topic} {answer.content} {ctx.request_state}"


def _asked(key: str, message: str, properties: dict[str, Any], state: str) -> types.InputRequiredResult:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    return types.InputRequiredResult(input_requests={key: types.ElicitRequest(params=params)}, request_state=state)


@on_both_loops
async def test_row_122_a_form_becomes_a_request() -> None:
    async with in_process(ASKING, NEW, connecting=NEGOTIATED) as (_, tools):
        request = await requested(tools[0], b'{"topic":"city"}')
        prompt = json.loads(request.prompt)
        assert prompt["message"] == "Which city?"
        assert prompt["requestedSchema"]["properties"] == {"name": {"type": "string"}}
        assert (prompt["source"], prompt["tool"]) == ("src", "question")
        assert not isinstance(request, ToolFailure)
        assert not hasattr(request, "output")
        assert json.loads(request.response_schema)


@on_both_loops
async def test_row_123_an_answer_goes_back_with_the_same_arguments_and_state() -> None:
    arguments = b'{ "n":1.50, "e":1E400 }'
    async with discovered(calls=[once(), DONE], era=NEW, connecting=NEGOTIATED) as (server, tools):
        request = await requested(tools[0], arguments)
        continuation = request.answer(b'{"action":"accept","content":{"name":"MCP"}}')
        assert (await tools[0].resume(continuation)).joined_text() == "done"
        first, second = server.requests("tools/call")
    assert b'"arguments":' + arguments in second
    assert b'"inputResponses":{"q":{"action":"accept","content":{"name":"MCP"}}}' in second
    assert b'"requestState":' + STATE in second
    assert json.loads(first)["id"] != json.loads(second)["id"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_row_124_declining_and_cancelling_are_answers(action: str) -> None:
    async with in_process(ASKING, NEW, connecting=NEGOTIATED) as (_, tools):
        request = await requested(tools[0], b'{"topic":"city"}')
        output = await tools[0].resume(request.answer(json.dumps({"action": action})))
    assert output.joined_text() == f"{action} first"


BAD_ANSWERS = [
    b'{"action":"accept","content":{"name":5}}',
    b'{"action":"accept","content":{}}',
    b'{"action":"accept"}',
    b'{"action":"perhaps"}',
    b'{"action":"decline","content":{"name":"x"}}',
    b'{"action":"accept","content":{"name":"x"},"more":1}',
    b'{"action":"accept","action":"decline","content":{"name":"x"}}',
    b'{"action":"accept","content":{"name":"\\ud800"}}',
    b"null",
    b"{",
    b"",
    b'"' + b"x" * (1 << 20) + b'"',
]


async def test_row_125_a_bad_answer_never_reaches_the_server() -> None:
    async with discovered(calls=[once(), DONE], era=NEW, connecting=NEGOTIATED) as (server, tools):
        request = await requested(tools[0])
        for answer in BAD_ANSWERS:
            with pytest.raises(InputAnswerError):
                request.answer(answer)
        assert len(server.requests("tools/call")) == 1
        assert (await tools[0].resume(request.answer(b'{"action":"accept","content":{"name":"x"}}'))).text == "done"


@pytest.mark.parametrize("state", [STATE, b'""', rb'"\ud800"', None])
async def test_row_126_the_state_is_echoed_byte_for_byte(state: bytes | None) -> None:
    """Fault I15."""
    async with discovered(calls=[once(state=state), DONE], era=NEW, connecting=NEGOTIATED) as (server, tools):
        request = InputRequest.from_json((await requested(tools[0])).to_json())
        continuation = Continuation.from_json(request.answer(b'{"action":"cancel"}').to_json())
        await tools[0].resume(continuation)
        line = server.requests("tools/call")[1]
    if state is None:
        assert b"requestState" not in line
    else:
        assert b'"requestState":' + state in line


@on_both_loops
async def test_row_127_two_rounds() -> None:
    async with in_process(ASKING, NEW, connecting=NEGOTIATED) as (_, tools):
        first = await requested(tools[0], b'{"topic":"city"}')
        with pytest.raises(InputRequest) as caught:
            await tools[0].resume(first.answer(b'{"action":"accept","content":{"name":"Oslo"}}'))
        second = caught.value
        assert json.loads(second.prompt)["message"] == "Sure?"
        output = await tools[0].resume(second.answer(b'{"action":"accept","content":{"sure":true}}'))
    assert output.joined_text() == "city {'sure': True} second:Oslo"


async def incomplete(answer: Answer, **connecting: Any) -> RemoteCallError:
    async with discovered(calls=answer, era=NEW, connecting=connecting or NEGOTIATED) as (server, tools):
        with pytest.raises(RemoteCallError) as caught:
            await tools[0].call(b"{}")
        assert len(server.requests("tools/call")) == 1
    assert str(caught.value) == INCOMPLETE
    assert isinstance(caught.value.cause, IncompleteResultError)
    assert not isinstance(caught.value, ToolFailure)
    return caught.value


@pytest.mark.parametrize("state", [None, STATE])
async def test_row_128_nothing_is_asked(state: bytes | None) -> None:
    await incomplete(asks(b"{}", state=state))


OTHERS = [
    b'{"a":%s,"b":%s}' % (form(), form()),
    b'{"q":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}}',
    b'{"q":{"method":"roots/list"}}',
    b'{"q":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://e.invalid","elicitationId":"1"}}}',
    b'{"q":{"method":"elicitation/create","params":{"message":"m","url":"https://e.invalid"}}}',
    b'{"q":{"method":"elicitation/other","params":{"message":"m"}}}',
    b'{"q":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"nope"}}}}',
    b'{"q":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"string"}}}}',
    b'{"q":{"method":5}}',
    b'{"q":{}}',
    b'{"q":null}',
    b'["q"]',
    b"null",
]


@pytest.mark.parametrize("requests", OTHERS, ids=range(len(OTHERS)))
async def test_row_129_anything_else_is_incomplete(requests: bytes) -> None:
    await incomplete(asks(requests))


async def test_row_130_a_session_that_negotiated_nothing() -> None:
    await incomplete(once(), call_timeout=20)
    async with discovered(calls=once(), era=OLD, connecting=NEGOTIATED) as (_, tools):
        with pytest.raises(RemoteCallError) as caught:
            await tools[0].call(b"{}")
    assert str(caught.value) == INCOMPLETE


@pytest.mark.parametrize(
    "more",
    [
        b',"content":[{"type":"text","text":"secret"}],"isError":true',
        b',"content":5,"isError":"x","structuredContent":[1]',
    ],
)
async def test_row_131_unfinished_content_is_hidden(more: bytes) -> None:
    error = await incomplete(once(b'{"method":"roots/list"}', more=more))
    assert "secret" not in str(error)
    assert not hasattr(error, "output")
    async with discovered(calls=once(more=more), era=NEW, connecting=NEGOTIATED) as (_, tools):
        request = await requested(tools[0])
    assert b"secret" not in request.prompt + request.state + request.to_json().encode()


ANSWER = b'{"action":"cancel"}'


async def refused(tool: Tool, continuation: Continuation, server: RawServer, calls: int) -> None:
    with pytest.raises(ContinuationBindingError) as caught:
        await tool.resume(continuation)
    text = "mcp: continuation does not match this admitted remote call"
    assert str(caught.value) == f'mcp: call tool "{tool.mcp_identity[1]}": {text}' if tool.mcp_identity else text
    assert len(server.requests("tools/call")) == calls


async def test_row_132_a_continuation_of_another_tool() -> None:
    async with discovered(entry("t"), entry("u"), calls=[once(), DONE], era=NEW, connecting=NEGOTIATED) as (
        server,
        tools,
    ):
        continuation = (await requested(tools[0])).answer(ANSWER)
        await refused(tools[1], continuation, server, 1)
        assert (await tools[0].resume(continuation)).text == "done"


async def test_row_133_a_continuation_with_other_arguments() -> None:
    async with discovered(calls=[once(), DONE], era=NEW, connecting=NEGOTIATED) as (server, tools):
        continuation = (await requested(tools[0], b'{"a":1}')).answer(ANSWER)
        await refused(tools[0], replace(continuation, arguments=b'{"a":2}'), server, 1)


async def test_row_134_a_reconnect_is_another_binding() -> None:
    with (
        anyio.fail_after(PATIENCE),
        RawServer({"tools/list": listing(entry("t")), "tools/call": once()}, era=NEW) as server,
    ):
        async with toolwire.connect(server.argv, **NEGOTIATED) as connection:
            (tool,) = await toolwire.discover([Source("s", connection)])
            continuation = (await requested(tool)).answer(ANSWER)
            (again,) = await toolwire.discover([Source("s", connection)])
            await refused(again, continuation, server, 1)
        async with toolwire.connect(server.argv, **NEGOTIATED) as connection:
            (tool,) = await toolwire.discover([Source("s", connection)])
            await refused(tool, continuation, server, 1)
    local = Tool.raw("local", "", None, lambda _: "")
    with pytest.raises(ContinuationBindingError):
        await local.resume(continuation)


def tampered(state: bytes) -> Sequence[bytes]:
    outer = json.loads(state)
    facts = json.loads(outer["body"])
    other = {**outer, "body": json.dumps({**facts, "key": "other"})}
    return [
        json.dumps(other).encode(),
        json.dumps({**outer, "seal": outer["seal"][::-1]}).encode(),
        b"{}",
        b"[]",
        b"not json",
        b"",
        b'{"body":5,"seal":"x"}',
        b'{"body":"{}","seal":"\xc3\xa9"}',
    ]


async def test_row_135_a_tampered_state() -> None:
    async with discovered(calls=[once(), DONE], era=NEW, connecting=NEGOTIATED) as (server, tools):
        continuation = (await requested(tools[0])).answer(ANSWER)
        for state in tampered(continuation.state):
            await refused(tools[0], replace(continuation, state=state), server, 1)
        # An answer that was changed in its file is checked again.
        with pytest.raises(InputAnswerError):
            await tools[0].resume(replace(continuation, answer=b'{"action":"accept","content":{"name":5}}'))
        assert len(server.requests("tools/call")) == 1


async def test_rounds_are_bounded() -> None:
    """Fault I15 and design 4.2."""
    async with discovered(calls=once(), era=NEW, connecting=NEGOTIATED) as (server, tools):
        request = await requested(tools[0])
        for _ in range(MAX_ROUNDS - 1):
            with pytest.raises(InputRequest) as caught:
                await tools[0].resume(request.answer(ANSWER))
            request = caught.value
        with pytest.raises(RemoteCallError, match=f"asked for input more than {MAX_ROUNDS} times"):
            await tools[0].resume(request.answer(ANSWER))
        assert len(server.requests("tools/call")) == MAX_ROUNDS + 1


async def test_a_state_over_a_mebibyte_is_refused() -> None:
    async with discovered(calls=once(state=b'"' + b"s" * (1 << 20) + b'"'), era=NEW, connecting=NEGOTIATED) as (
        _,
        tools,
    ):
        with pytest.raises(RemoteCallError, match="over 1 MiB"):
            await tools[0].call(b"{}")


async def test_a_form_with_references_of_its_own_is_answered() -> None:
    schema = b'{"type":"object","properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}'
    async with discovered(calls=[once(form(schema=schema)), DONE], era=NEW, connecting=NEGOTIATED) as (_, tools):
        request = await requested(tools[0])
        with pytest.raises(InputAnswerError):
            request.answer(b'{"action":"accept","content":{"x":5}}')
        assert (await tools[0].resume(request.answer(b'{"action":"accept","content":{"x":"y"}}'))).text == "done"


async def test_request_meta_is_derived_again_for_the_next_round() -> None:
    given: list[bytes] = []

    def meta(invocation: Any) -> dict[str, int]:
        given.append(invocation.arguments)
        return {"round": len(given)}

    async with discovered(calls=[once(), DONE], era=NEW, connecting=NEGOTIATED, request_meta=meta) as (server, tools):
        request = await requested(tools[0], b'{"a":1}')
        await tools[0].resume(request.answer(ANSWER))
        assert [json.loads(line)["params"]["_meta"]["round"] for line in server.requests("tools/call")] == [1, 2]
        assert [
            arguments_of(line.split(b',"inputResponses"')[0] + b"}}") for line in server.requests("tools/call")[1:]
        ] == [b'{"a":1}']
    assert given == [b'{"a":1}'] * 2


@pytest.mark.parametrize("era", ERAS)
async def test_tools_without_discovery_say_the_same(era: str) -> None:
    answers = {"tools/list": listing(entry("t")), "tools/call": once()}
    with anyio.fail_after(PATIENCE), RawServer(answers, era=era) as server:
        async with toolwire.connect(
            server.argv, mode=mode(era) if era == NEW else "legacy", **NEGOTIATED
        ) as connection:
            (tool,) = await toolwire.tools(connection)
            with pytest.raises(RemoteCallError, match=r"^mcp: remote tool result requires further input$") as caught:
                await tool.call(b"{}")
            assert isinstance(caught.value.cause, IncompleteResultError)


async def test_what_comes_outside_of_a_round_is_declined() -> None:
    """Design 4.2: `input_rounds=True` advertises forms with nobody behind them."""
    server = MCPServer("outside")

    @server.tool(structured_output=False)
    async def ask(ctx: Context) -> str:
        found = await ctx.session.elicit_form("now?", {"type": "object", "properties": {}})
        action: str = found.action
        return action

    async with in_process(server, OLD, connecting=NEGOTIATED) as (_, tools):
        assert (await tools[0].call(b"{}")).joined_text() == "decline"


async def test_a_callers_own_elicitation_callback_negotiates_too() -> None:
    async def callback(context: Any, params: Any) -> types.ElicitResult:
        raise AssertionError("a round is never driven by itself")

    async with in_process(ASKING, NEW, connecting={"elicitation_callback": callback}) as (_, tools):
        request = await requested(tools[0], b'{"topic":"x"}')
    assert b"Which x?" in request.prompt


async def test_a_lost_connection_in_a_round_is_an_unknown_outcome() -> None:
    async with discovered(calls=[once(), die(3)], era=NEW, connecting=NEGOTIATED) as (_, tools):
        request = await requested(tools[0])
        with pytest.raises(RemoteCallError) as caught:
            await tools[0].resume(request.answer(ANSWER))
    assert caught.value.may_have_run


@pytest.mark.parametrize("era", ERAS)
async def test_a_real_server_in_a_process_asks_or_is_refused_by_era(era: str) -> None:
    """The SDK's own stdio server: input rounds are of 2026-07-28, and 2025-11-25 has none."""
    command = [sys.executable, str(ORDINARY)]
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(command, mode=mode(era), **NEGOTIATED) as connection:
            tools = await toolwire.discover([Source("", connection)])
            tool = tools["question"]
            if era == OLD:
                with pytest.raises((RemoteCallError, ToolFailure)):
                    await tool.call(b"{}")
                return
            request = await requested(tool)
            output = await tool.resume(request.answer(b'{"action":"accept","content":{"name":"Ada"}}'))
    assert output.joined_text() == "{'name': 'Ada'} s1"


async def test_a_prompt_over_a_mebibyte_cannot_become_a_request() -> None:
    """Section 1.2; the answer is kept, since the call has begun."""
    async with discovered(calls=once(form("m" * (1 << 20))), era=NEW, connecting=NEGOTIATED) as (_, tools):
        with pytest.raises(RemoteCallError) as caught:
            await tools[0].call(b"{}")
    assert str(caught.value) == INCOMPLETE
    assert isinstance(caught.value.__cause__, IncompleteResultError)
    assert len(caught.value.raw or b"") > 1 << 20


FORMS = [
    b'{"type":"object","properties":{"$id":{"type":"string"},"n":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"string"}}}',
    b'{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"n":{"items":[{}],"type":"string"}}}',
]


@pytest.mark.parametrize("schema", FORMS)
async def test_a_form_means_inside_an_answer_what_it_means_alone(schema: bytes) -> None:
    async with discovered(calls=[once(form(schema=schema)), DONE], era=NEW, connecting=NEGOTIATED) as (_, tools):
        request = await requested(tools[0])
        with pytest.raises(InputAnswerError):
            request.answer(b'{"action":"accept","content":{"n":5}}')
        continuation = request.answer(b'{"action":"accept","content":{"n":"s"}}')
        assert (await tools[0].call(continuation)).joined_text() == "done"


async def test_a_request_crosses_a_process_border_as_it_is_saved() -> None:
    async with discovered(calls=[once(), DONE], era=NEW, connecting=NEGOTIATED) as (_, tools):
        request = await requested(tools[0], b'{ "a":1.50 }')
        other = pickle.loads(pickle.dumps(request))  # noqa: S301 - our own bytes
        assert (other.prompt, other.response_schema, other.state) == (
            request.prompt,
            request.response_schema,
            request.state,
        )
        assert (await tools[0].resume(other.answer(b'{"action":"decline"}'))).text == "done"


async def test_a_file_that_was_saved_by_something_else_is_refused() -> None:
    async with discovered(calls=once(), era=NEW, connecting=NEGOTIATED) as (server, tools):
        request = await requested(tools[0])
        continuation = request.answer(b'{"action":"decline"}')
        saved = (request.to_json(), continuation.to_json())
        with pytest.raises(
            ToolwireError, match=r"^this is no saved input request or continuation: it has no 'answer'$"
        ):
            Continuation.from_json(saved[0])
        for text in (saved[1], "{}", "[]", "null", "5", '{"call_id":5}', "[" * 100_000, b"\xff", ""):
            with pytest.raises(ToolwireError, match=r"^this is no saved input request or continuation: "):
                InputRequest.from_json(text)
        for state in (b"[" * 100_000, b"1" * 5000, b"\xff"):
            with pytest.raises(ContinuationBindingError):
                await tools[0].resume(replace(continuation, state=state))
        assert len(server.requests("tools/call")) == 1
