"""Calls of every ending, over HTTP, through both lanes of equal apps (issue 7, "Server")."""

from typing import Any

import pytest

from tests.http.server_parity import MODES, compare
from tests.http.server_posts import call, post
from tests.serving.raw_client import ERAS, call_line
from tests.serving.shop import shop
from tests.serving.test_parity import CALLS

BY_NAME = {b"ech\\u006f": "echo"}


def calls(era: str) -> list[Any]:
    asks = []
    for place, (name, arguments) in enumerate(CALLS):
        body = call_line(era, "NAME", b"ARGUMENTS", place).replace(b'"NAME"', name).replace(b"ARGUMENTS", arguments)
        text = name[1:-1]
        asks.append(post(era, body, name=BY_NAME.get(text, text.decode())))
    return asks


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_calls_of_every_ending_are_answered_alike(era: str, mode: dict[str, Any]) -> None:
    _, site = await compare(shop, era, calls(era), **mode)
    # Not on the express lane: an unknown tool, twice, one that asks for the SDK's context, and what opened it all.
    assert site.lane.express_calls == len(CALLS) - 3


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_the_sdks_own_app_answers_alike_where_it_keeps_every_number(era: str, mode: dict[str, Any]) -> None:
    # What the SDK decodes it does not keep: a number's spelling, a block that it does not know, a name given twice,
    # whether the client asked for progress.
    asks = [
        ask
        for ask, (name, arguments) in zip(calls(era), CALLS, strict=True)
        if name not in (b'"remote"', b'"raw"', b'"scalar"', b'"many"', b'"whoami"')
        and arguments not in (b'{"text":"a","text":"b"}', b'{"a":1e2}')
    ]
    await compare(shop, era, asks, sdk_app=True, **mode)


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("era", ERAS)
async def test_progress_is_told_where_the_answer_is_a_stream(era: str, mode: dict[str, Any]) -> None:
    ask = call(era, "counted", b'{"steps":3}', meta=b'"progressToken":"p"')
    (reply,), site = await compare(shop, era, [ask], **mode)
    assert site.lane.express_calls == 1
    assert len(reply.messages) == (1 if mode["json_response"] else 4)
