"""Rows 99 to 105 and 110 of many-sources 7: what came in goes out again, in both eras."""

import json
from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import PromptMessage, TextContent

import toolwire
from tests.bridge.raw import ERAS, NEW, PATIENCE, connected, entry, on_both_loops
from tests.many_sources.support import discovered, in_process, mode, raw_tool, registered, same
from toolwire import Citation, MediaPart, Message, Source, TextPart, ToolOutput, _core
from toolwire.errors import ContentError, ToolwireError
from toolwire.testing import RawServer, listing, result

ANNOTATIONS = b'"annotations":{"audience":["user","assistant"],"priority":0.50,"lastModified":"2026-01-12T15:00:58Z"}'
META = (
    b'"_meta":{"app/n":{"id":9007199254740993,"d":0.12345678901234567890123456789,"e":1E400,"z":-0,'
    b'"null":null,"o":{},"a":[]}}'
)
OWN = b'"_meta":{"own":[1.50,null,{}]}'
ICONS = b'"icons":[{"src":"https://e.invalid/i.png","mimeType":"image/png","sizes":["48x48"],"theme":"dark"}]'
LINK = b'"title":"T","description":"D","size":1024'
BLOCKS = [
    b'{"type":"text","text":"hello \\u00e9",%s,%s}' % (ANNOTATIONS, META),
    b'{"type":"image","data":"iVBORw==","mimeType":"image/png",%s,%s}' % (ANNOTATIONS, META),
    b'{"type":"audio","data":"UklGRg==","mimeType":"audio/wav; rate=8000",%s,%s}' % (ANNOTATIONS, META),
    b'{"type":"resource_link","uri":"https://e.invalid/d.pdf","name":"d","mimeType":"application/pdf",%s,%s,%s,%s}'
    % (LINK, ICONS, ANNOTATIONS, META),
    b'{"type":"resource","resource":{"uri":"n://1","mimeType":"text/markdown","text":"# T",%s},%s,%s}'
    % (OWN, ANNOTATIONS, META),
    b'{"type":"resource","resource":{"uri":"n://2","mimeType":"image/png","blob":"iVBORw==",%s},%s,%s}'
    % (OWN, ANNOTATIONS, META),
    b'{"type":"resource_link","uri":"https://e.invalid/x","name":""}',
    b'{"type":"resource","resource":{"uri":"n://3","text":"plain"}}',
    b'{"type":"resource","resource":{"uri":"n://4","blob":"AAEC"}}',
    b'{"type":"text","text":"bare"}',
]
CONTENT = b"[" + b",".join(BLOCKS) + b"]"


def content_of(raw: bytes) -> bytes:
    content = _core.read_result(raw).content
    assert content is not None
    return content


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_row_099_every_block_goes_round(era: str) -> None:
    """The first server is a process that speaks these bytes, the second serves what was discovered there."""
    answer = result(b'{"content":%s}' % CONTENT, verbatim=True)
    async with discovered(entry("t"), calls=answer, era=era) as (_, remote):
        first = await remote[0].call(b"{}")
        async with registered(*remote, era=era) as (_, tools):
            second = await tools[0].call(b"{}")
        assert same(content_of(second.raw), CONTENT)
        assert [type(part) for part in second.parts] == [type(part) for part in first.parts]
        assert [part.metadata for part in second.parts] == [part.metadata for part in first.parts]
        assert same(content_of(toolwire.encode_tool_result_json(first)), CONTENT)


def core_output() -> ToolOutput:
    cited = (Citation("uri", "https://e.invalid/p", "A page", "as it says"), Citation("reference", "doc-7"))
    return ToolOutput(
        parts=[
            TextPart("cited", metadata={"app/value": b"9007199254740993"}, citations=cited),
            MediaPart(
                b"\x89PNG",
                mime_type="image/png",
                name="n",
                id="i",
                media_metadata={"m": b"1.50"},
                metadata={"k": b"null"},
            ),
            MediaPart(b"%PDF", mime_type="application/pdf"),
            MediaPart(uri="https://e.invalid/l", name="l", id="j"),
        ],
        structured=b'{"a":1.50}',
    )


def facts(part: Any) -> Any:
    """What the host gave a part; the envelope is what the way has added."""
    own = {name: given for name, given in part.metadata.items() if name != "mcp/content"}
    if isinstance(part, TextPart):
        return ("text", part.text, own, part.citations)
    uri = part.uri if part.data is None else None
    return ("media", part.data, uri, part.mime_type, part.name or "", part.id, own, dict(part.media_metadata))


@on_both_loops
@pytest.mark.parametrize("era", ERAS)
async def test_row_100_core_values_go_round(era: str) -> None:
    given = core_output()
    async with registered(raw_tool(given), era=era) as (_, tools):
        found = await tools[0].call(b"{}")
    assert [facts(part) for part in found.parts] == [facts(part) for part in given.parts]
    assert found.structured == given.structured


def metadata(message: Message) -> Any:
    """The metadata of a message's one part."""
    (part,) = message.parts
    assert isinstance(part, TextPart | MediaPart)
    return part.metadata


MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": {"type": "text", "text": "hi"}},
    {"role": "user", "content": {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}},
    {"role": "assistant", "content": {"type": "resource_link", "uri": "https://e.invalid/r", "name": "report"}},
]


def test_row_101_prompt_kinds() -> None:
    for messages in (
        MESSAGES,
        [PromptMessage.model_validate(each) for each in MESSAGES],
        json.dumps(MESSAGES).encode(),
    ):
        chat = toolwire.prompt_messages_to_chat(messages)
        assert [message.role for message in chat] == ["user", "user", "assistant"]
        text, image, link = (message.parts[0] for message in chat)
        assert isinstance(text, TextPart)
        assert isinstance(image, MediaPart)
        assert isinstance(link, MediaPart)
        assert (text.text, image.data, link.name) == ("hi", b"\x89PNG", "report")
        restored = toolwire.messages_from_json(toolwire.messages_to_json(chat))
        assert [facts(message.parts[0]) for message in restored] == [facts(message.parts[0]) for message in chat]
        assert [metadata(message) for message in restored] == [metadata(message) for message in chat]


def prompt_error(message: Any) -> str:
    good = {"role": "user", "content": {"type": "text", "text": "hi"}}
    with pytest.raises(ToolwireError) as caught:
        toolwire.prompt_messages_to_chat([good, message])
    return str(caught.value)


def test_row_102_bad_prompts() -> None:
    assert prompt_error(None) == "mcp: prompt message 1 is nil"
    system = {"role": "system", "content": {"type": "text", "text": "x"}}
    assert prompt_error(system) == 'mcp: prompt message 1 has unsupported role "system"'
    assert prompt_error({"role": "user", "content": None}) == "mcp: prompt message 1: mcp: content is nil"
    image = {"role": "user", "content": {"type": "image", "data": "", "mimeType": "image/png"}}
    assert prompt_error(image).startswith("mcp: prompt message 1: toolwire: invalid source")
    with pytest.raises(ContentError):
        toolwire.prompt_messages_to_chat([image])


def test_row_103_the_role_comes_first() -> None:
    message = {"role": "system", "content": {"type": "text", "text": ""}}
    assert prompt_error(message) == 'mcp: prompt message 1 has unsupported role "system"'


def test_row_104_an_empty_prompt() -> None:
    assert toolwire.prompt_messages_to_chat([{"role": "user", "content": {"type": "text", "text": ""}}]) == []
    empty = PromptMessage(role="user", content=TextContent(type="text", text=""))
    assert toolwire.prompt_messages_to_chat([empty]) == []
    assert toolwire.prompt_messages_to_chat(None) == []


@pytest.mark.parametrize("era", ERAS)
async def test_row_105_prompts_and_tools_share_one_codec(era: str) -> None:
    messages = b",".join(b'{"role":"user","content":%s}' % block for block in BLOCKS)
    complete = b'"resultType":"complete"' if era == NEW else b'"x":1'
    answers = {
        "tools/list": listing(entry("t")),
        "tools/call": result(b'{"content":%s}' % CONTENT, verbatim=True),
        "prompts/list": result(
            b'{"prompts":[{"name":"p","description":"d"}],%s,"ttlMs":0,"cacheScope":"private"}' % complete,
            verbatim=True,
        ),
        "prompts/get": result(b'{"messages":[%s],%s}' % (messages, complete), verbatim=True),
        "completion/complete": result(b'{"completion":{"values":["one","only"]},%s}' % complete, verbatim=True),
    }
    async with connected(answers, era=era) as (server, connection):
        prompts = await toolwire.prompts(connection)
        assert [(prompt.name, prompt.description) for prompt in prompts] == [("p", "d")]
        chat = await prompts.get("p", {"q": "x"})
        (tool,) = await toolwire.discover([Source("s", connection)])
        output = await tool.call(b"{}")
        assert [metadata(message) for message in chat] == [part.metadata for part in output.parts]
        assert await prompts.complete("p", "q", "on") == ["one", "only"]
        (got,) = server.requests("prompts/get")
        assert json.loads(got)["params"]["arguments"] == {"q": "x"}


DETAILS = [
    b"9007199254740993",
    b'{"n":18446744073709551615}',
    b"[null,9007199254740993]",
    b"false",
    b'"text"',
    b"0.12345678901234567890123456789",
]


@pytest.mark.parametrize("details", DETAILS)
@pytest.mark.parametrize("era", ERAS)
async def test_row_110_details_are_exact_over_a_real_transport(details: bytes, era: str) -> None:
    body = b'{"content":[{"type":"text","text":"x"}],"structuredContent":%s}' % details
    async with discovered(entry("t"), calls=result(body, verbatim=True), era=era) as (_, remote):
        assert (await remote[0].call(b"{}")).structured == details
        async with registered(*remote, era=era) as (_, tools):
            served = await tools[0].call(b"{}")
    # Before 2026-07-28 a result has a place for an object alone (design 2).
    assert served.structured == (details if era == NEW or details[:1] == b"{" else None)


async def test_prompts_of_an_sdk_server() -> None:
    server = MCPServer("prompts")

    @server.prompt()
    def greet(name: str) -> str:
        return f"Say hello to {name}"

    for era in ERAS:
        async with in_process(server, era) as (connection, _):
            prompts = await toolwire.prompts(connection)
            (message,) = await prompts.get("greet", {"name": "Ada"})
            assert message.text == "Say hello to Ada"
    server_without: Server[Any] = Server("none")
    with anyio.fail_after(PATIENCE):
        async with toolwire.connect(server_without, mode=mode(NEW)) as connection:
            assert len(await toolwire.prompts(connection)) == 0


async def test_prompts_are_listed_over_pages_and_a_repeated_cursor_ends_them() -> None:
    pages = [
        result(b'{"prompts":[{"name":"a"}],"nextCursor":"1"}'),
        result(b'{"prompts":[{"name":"b"}],"nextCursor":"1"}'),
    ]
    with anyio.fail_after(PATIENCE), RawServer({"prompts/list": pages}) as server:
        async with toolwire.connect(server.argv) as connection:
            assert [prompt.name for prompt in await toolwire.prompts(connection)] == ["a", "b"]


@pytest.mark.parametrize("era", ERAS)
async def test_halves_of_surrogate_pairs_cost_nothing_and_are_never_served(era: str) -> None:
    """Fault A18 for results: a reader would refuse the whole message, after a side effect."""
    link = rb'{"type":"resource_link","uri":"http://e.invalid/\ud800","name":"n\udc00"}'
    inline = rb'{"type":"resource","resource":{"uri":"n://\ud800","text":"r\ud83d"}}'
    core = rb'{"toolwire/content":{"citations":[{"source":{"kind":"reference","value":"c\ud800"}}]}}'
    odd = rb'{"type":"text","text":"m","_meta":{"a":{"b":1,"b":"\ud800"}}}'
    cited = rb'{"type":"text","text":"q","_meta":%s}' % core
    content = rb'[{"type":"text","text":"x\ud800y \ud83d\ude00"},%s,%s,%s,%s]' % (link, inline, odd, cited)
    body = rb'{"content":%s,"structuredContent":{"s":"\ud800"}}' % content
    async with discovered(entry("t"), calls=result(body, verbatim=True), era=era) as (_, remote):
        output = await remote[0].call(b"{}")
        assert output.raw == body
        texts = [part.text for part in output.parts if isinstance(part, TextPart)]
        assert texts == ["x\ufffdy \U0001f600", "r\ufffd", "m", "q"]
        async with registered(*remote, era=era) as (_, tools):
            served = await tools[0].call(b"{}")
    assert b"\\ud800" not in served.raw
    assert b"\\udc00" not in served.raw
    assert served.structured == rb'{"s":"\ufffd"}'
    assert len(served.parts) == 5
