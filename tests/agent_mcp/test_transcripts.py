"""What a transcript keeps of a call: the text that the model read, and beside it every part, through JSON and back."""

import base64
import json

import pytest

from tests.agent_mcp.support import SPREAD, entry, imported, run, serving, text
from toolwire import (
    Agent,
    LocalOutput,
    MediaPart,
    Message,
    TextPart,
    ToolOutput,
    max_result_bytes,
    messages_from_json,
    messages_to_json,
    require_approval,
    tool,
)
from toolwire.agent.middleware import Call as ToolCall
from toolwire.agent.middleware import Next
from toolwire.agent.result import PendingCall
from toolwire.contract.message import SaidPart, ToolCallPart, ToolResultPart
from toolwire.testing import Call, Say, Script, ToolCalls, result

PIXELS = bytes(range(9))
IMAGE = b'{"type":"image","data":"%s","mimeType":"image/png"}' % base64.b64encode(PIXELS)
LINK = b'{"type":"resource_link","uri":"file:///var/y","name":"y"}'
MIXED = b'{"content":[{"type":"text","text":"look"},%s,%s],"structuredContent":{"n":1.50},"resultType":"complete"}' % (
    IMAGE,
    LINK,
)
spread = pytest.mark.parametrize(("anyio_backend", "era"), SPREAD)


@spread
async def test_parts_and_structured_bytes_of_an_imported_tool_stay_beside_the_capped_text(era: str) -> None:
    async with imported(serving([entry("shoot")], {"shoot": result(MIXED)}, era), era) as tools:
        outcome = await run(tools, Call("shoot"), max_result_bytes=4)
    [part] = outcome.messages[2].results
    assert part.content == '{"n"\n…[truncated 6 bytes]'
    kinds = [(type(each), each.block) for each in part.parts]
    assert kinds == [(TextPart, "text"), (MediaPart, "image"), (MediaPart, "resource_link")]
    assert part.output is not None
    assert part.output.structured == b'{"n":1.50}'
    assert outcome.steps[0].results == outcome.messages[2]


@spread
async def test_a_transcript_goes_through_json_with_every_part(era: str) -> None:
    answers = {"shoot": result(MIXED), "say": text("plain")}
    async with imported(serving([entry("shoot"), entry("say")], answers, era), era) as tools:
        outcome = await run(tools, Call("shoot"), Call("say", id="2"))
    written = outcome.messages_json()
    restored = messages_from_json(written)
    assert tuple(restored) == outcome.messages
    shot, said = restored[2].results
    assert shot.output is not None
    assert shot.output.structured == b'{"n":1.50}'
    assert [getattr(part, "data", None) for part in shot.parts] == [None, PIXELS, None]
    assert shot.parts[2].uri == "file:///var/y"
    # A text that says everything is written once.
    assert said.output is None
    assert said.parts == (TextPart("plain"),)
    assert "output" not in json.loads(written)[2]["parts"][1]
    assert messages_to_json(restored) == written


async def test_parts_of_a_local_tool_and_of_a_failure_are_kept() -> None:
    picture = MediaPart(PIXELS, block="image", mime_type="image/png")
    shoot = tool(lambda: LocalOutput(parts=[TextPart("look"), picture]), name="shoot")
    outcome = await run([shoot], Call("shoot"))
    [part] = messages_from_json(outcome.messages_json())[2].results
    assert part.content == "look\n[image image/png, 9 bytes]"
    assert [getattr(each, "data", None) for each in part.parts] == [None, PIXELS]


@spread
async def test_an_error_of_a_remote_tool_keeps_its_parts(era: str) -> None:
    failed = b'{"content":[{"type":"text","text":"see"},%s],"isError":true,"resultType":"complete"}' % IMAGE
    async with imported(serving([entry("shoot")], {"shoot": result(failed)}, era), era) as tools:
        outcome = await run(tools, Call("shoot"))
    [part] = outcome.messages[2].results
    assert (part.content, part.is_error) == ("see\n[image image/png, 9 bytes]", True)
    assert [each.block for each in part.parts] == ["text", "image"]


@spread
async def test_a_str_from_a_middleware_replaces_everything(era: str) -> None:
    async def plain(call: ToolCall, following: Next) -> str:
        return f"{call.name} gave {len((await following(call)).parts)} parts"

    async with imported(serving([entry("shoot")], {"shoot": result(MIXED)}, era), era) as tools:
        outcome = await run(tools, Call("shoot"), middleware=[plain])
        whole = await Agent(Script(), tools=tools, middleware=[plain]).call_tool("shoot")
    [part] = outcome.messages[2].results
    assert part.content == whole.text == "shoot gave 3 parts"
    assert part.parts == whole.parts == (TextPart("shoot gave 3 parts"),)
    assert isinstance(whole, ToolOutput)
    assert whole.structured is None


@spread
async def test_call_tool_gives_the_whole_output(era: str) -> None:
    async with imported(serving([entry("shoot")], {"shoot": result(MIXED)}, era), era) as tools:
        output = await Agent(Script(), tools=tools).call_tool("shoot", '{"q":1.50}')
    assert output.structured == b'{"n":1.50}'
    assert output.raw == MIXED


async def test_a_given_result_may_be_a_value_or_a_whole_output() -> None:
    gate = tool(lambda: "", require_approval(), max_result_bytes(12), name="gate")
    agent = Agent(Script(ToolCalls(*(Call("gate", id=name) for name in "abc")), Say("ok")), tools=[gate])
    parked = await agent.generate("go")
    given = LocalOutput(parts=[MediaPart(PIXELS, block="image", mime_type="image/png")])
    outcome = await agent.generate(
        messages=parked.messages, resolve={"a": {"price": 1.5, "é": None}, "b": given, "c": "by hand"}
    )
    a, b, c = outcome.messages[2].results
    assert a.content == '{"price":1.5\n…[truncated 11 bytes]'
    assert b.parts == given.parts
    assert (c.content, c.is_error) == ("by hand", False)


def test_any_bytes_of_a_model_and_any_text_of_a_tool_go_through_json() -> None:
    """Half of a surrogate pair and bytes that are no UTF-8 can't be written as they are; a file must be readable."""
    messages = [
        Message("user", "é\ud800"),
        Message("assistant", [SaidPart(""), ToolCallPart("1", "t", b'{"a":"\xff"}')]),
        Message("tool", [ToolResultPart("1", "t", "\udfff", True)]),
    ]
    written = messages_to_json(messages)
    assert messages_from_json(written.encode()) == messages
    pending = PendingCall("1", "t", b'{"a":"\xff"}')
    assert PendingCall.from_json(pending.to_json().encode()) == pending


@pytest.mark.parametrize(
    "broken",
    [
        '[{"role":"user"}]',
        '[{"role":"tool","parts":[{"type":"tool_result","call_id":"1","name":"t","content":"","output":"{"}]}]',
        '[{"role":"tool","parts":[{"type":"unknown"}]}]',
        '[{"role":"boss","parts":[]}]',
    ],
)
def test_a_broken_transcript_is_refused_by_the_place(broken: str) -> None:
    with pytest.raises(ValueError, match="message 0 is none"):
        messages_from_json(broken)


@pytest.mark.parametrize("broken", ["", "{}", "null", '"x"', '{"id":"1","name":"t"}', '{"id":"1","args":5}', "[]x"])
def test_what_is_no_transcript_and_no_parked_call_is_a_value_error(broken: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever says so: the text is json's or ours
        messages_from_json(broken)
    with pytest.raises(ValueError):  # noqa: PT011 - as above
        PendingCall.from_json(broken)
