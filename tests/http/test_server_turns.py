"""In which order the clients of a stateless app are served and answered."""

from typing import Any

import anyio
import pytest
from mcp.server.lowlevel import Server

import toolwire
from tests.http.server_posts import Reply, call, opened
from tests.serving.raw_client import ERAS


@pytest.mark.parametrize("era", ERAS)
async def test_all_requests_of_a_turn_are_served_before_the_first_of_them_is_answered(era: str) -> None:
    replies = [Reply() for _ in range(5)]
    answered_before: list[int] = []

    @toolwire.tool
    async def count() -> str:
        """Count who has an answer."""
        answered_before.append(sum(reply.status == 200 for reply in replies))
        return "ok"

    def make() -> Server[Any]:
        server: Server[Any] = Server("turns")
        toolwire.add_tools(server, count)
        return server

    async with opened(make, era, stateless_http=True, json_response=True) as site:
        before = site.lane.express_calls
        async with anyio.create_task_group() as clients:
            for reply in replies:
                clients.start_soon(site.ask, call(era, "count"), None, reply)
        assert site.lane.express_calls == before + len(replies)
    assert answered_before == [0] * len(replies)
    assert [reply.answer["result"]["content"] for reply in replies] == [[{"type": "text", "text": "ok"}]] * len(replies)
