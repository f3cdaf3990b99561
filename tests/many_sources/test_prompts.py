"""Prompts of a peer that answers in its own way (many-sources 1.13, design 4.3): nothing is an empty success."""

from typing import Any

import pytest

import toolwire
from tests.bridge.raw import ERAS, connected
from toolwire import Prompts, RemoteCallError, ResultError, TextPart
from toolwire.errors import ContentError, EmptyEmbeddedResourceError, IncompleteResultError, ToolwireError
from toolwire.testing import Answer, listing, result, silence

LISTED = result(b'{"prompts":[{"name":"p"}]}', verbatim=True)


def peer(answer: Answer, listed: Answer = LISTED) -> dict[str, Answer]:
    return {
        "tools/list": listing(),
        "prompts/list": listed,
        "prompts/get": answer,
        "completion/complete": answer,
    }


async def asked(era: str, body: bytes, how: str) -> Any:
    async with connected(peer(result(body, verbatim=True)), era=era) as (_, connection):
        prompts = await toolwire.prompts(connection)
        return await (prompts.get("p") if how == "get" else prompts.complete("p", "q", "v"))


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("how", ["get", "complete"])
async def test_a_result_that_asks_for_input_is_no_empty_success(era: str, how: str) -> None:
    body = b'{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list"}}}'
    with pytest.raises(RemoteCallError, match="mcp: remote tool result requires further input") as caught:
        await asked(era, body, how)
    assert isinstance(caught.value.cause, IncompleteResultError)
    assert caught.value.raw == body


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("how", ["get", "complete"])
@pytest.mark.parametrize("body", [b"null", b"[]", b'"x"', b'{"resultType":"other","messages":[]}'])
async def test_what_is_no_complete_result_is_an_error(era: str, how: str, body: bytes) -> None:
    with pytest.raises(RemoteCallError, match="the server's result is ") as caught:
        await asked(era, body, how)
    assert caught.value.raw == body


@pytest.mark.parametrize("body", [b"{}", b'{"messages":null}', b'{"messages":{}}'])
async def test_missing_messages_are_none(body: bytes) -> None:
    assert await asked(ERAS[0], body, "get") == []


@pytest.mark.parametrize(
    "body", [b"{}", b'{"completion":null}', b'{"completion":[]}', b'{"completion":{"values":null}}']
)
async def test_missing_completions_are_none(body: bytes) -> None:
    assert await asked(ERAS[0], body, "complete") == []


async def test_a_bad_message_leaves_the_others_on_the_error() -> None:
    good = b'{"role":"user","content":{"type":"text","text":"good"}}'
    bad = b'{"role":"user","content":{"type":"resource","resource":{"uri":"n://1"}}}'
    body = b'{"messages":[%s,%s,%s]}' % (good, bad, good)
    with pytest.raises(ResultError) as caught:
        await asked(ERAS[0], body, "get")
    error = caught.value
    assert str(error) == "mcp: prompt message 1: mcp: empty embedded resources are unsupported"
    assert isinstance(error.__cause__, EmptyEmbeddedResourceError)
    assert [part.text for part in error.output.parts if isinstance(part, TextPart)] == ["good", "good"]
    assert error.raw == body


async def listed(answer: Answer, **limits: Any) -> Prompts:
    async with connected(peer(result(b"{}"), answer), **limits) as (_, connection):
        return await toolwire.prompts(connection)


@pytest.mark.parametrize("body", [b'{"prompts":null}', b"{}", b'{"prompts":{}}'])
async def test_a_listing_without_a_list_has_no_prompts(body: bytes) -> None:
    assert len(await listed(result(body, verbatim=True))) == 0


async def test_a_bad_entry_costs_itself_alone() -> None:
    entries = b'[null,"x",7,[],{"name":"p","description":5,"arguments":null}]'
    (prompt,) = await listed(result(b'{"prompts":%s}' % entries, verbatim=True))
    assert (prompt.name, prompt.description) == ("p", "")


async def test_one_deadline_covers_the_whole_walk() -> None:
    with pytest.raises(RemoteCallError, match=r"^mcp: listing the prompts of .* timed out after 0\.2 s$") as caught:
        await listed(silence(), list_timeout=0.2)
    assert not caught.value.may_have_run
    assert isinstance(caught.value.cause, TimeoutError)


@pytest.mark.parametrize("messages", [b"null", b"{}", b"[", b"5"])
def test_what_is_no_list_of_messages_is_refused(messages: bytes) -> None:
    with pytest.raises(ToolwireError, match=r"^mcp: prompt messages are no list of JSON objects: "):
        toolwire.prompt_messages_to_chat(messages)


def test_numbers_that_json_has_no_word_for_are_refused() -> None:
    content = {"type": "text", "text": "x", "_meta": {"a": float("nan")}}
    with pytest.raises(ToolwireError, match=r"^mcp: prompt messages are no list of JSON objects: "):
        toolwire.prompt_messages_to_chat([{"role": "user", "content": content}])


@pytest.mark.parametrize(("role", "shown"), [(b"null", "null"), (b"5", "5"), (b"1" * 5000, "1" * 5000)])
def test_a_role_that_is_no_text_is_shown_as_it_is_spelled(role: bytes, shown: str) -> None:
    with pytest.raises(ToolwireError) as caught:
        toolwire.prompt_messages_to_chat(b'[{"role":%s,"content":{"type":"text","text":"x"}}]' % role)
    assert str(caught.value) == f'mcp: prompt message 0 has unsupported role "{shown}"'


def test_a_link_to_a_host_that_is_none_is_the_messages_own_fault() -> None:
    link = b'{"role":"user","content":{"type":"resource_link","name":"x","uri":"http://[x"}}'
    with pytest.raises(ContentError) as caught:
        toolwire.prompt_messages_to_chat(b"[%s]" % link)
    text = 'mcp: prompt message 0: toolwire: invalid source: "http://[x" is not an absolute URI'
    assert str(caught.value) == text
