"""An app with an event store: every call is the SDK's, since what is told must be there for who comes back."""

import pytest
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage

from tests.http.server_posts import HANDSHAKE, MODERN, SESSION, Ask, call, opened
from tests.serving.shop import shop


class Store(EventStore):
    def __init__(self) -> None:
        self.events: list[tuple[StreamId, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        stream, _ = self.events[int(last_event_id) - 1]
        for number, (other, message) in enumerate(self.events[int(last_event_id) :], int(last_event_id) + 1):
            if other == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return None


@pytest.mark.parametrize("era", [HANDSHAKE, MODERN])
async def test_with_an_event_store_no_call_is_express_and_what_is_stored_is_replayed(era: str) -> None:
    store = Store()
    async with opened(shop, era, event_store=store) as site:
        reply = await site.ask(call(era, "echo", b'{"text":"a"}'))
        assert reply.answer["result"]["content"][0]["text"] == "heard: a"
        assert site.lane.express_calls == 0
        if era == MODERN:
            return
        first = next(line for line in reply.body.split(b"\r\n") if line.startswith(b"id: ")).removeprefix(b"id: ")
        headers = (("host", "127.0.0.1:1"), ("accept", "text/event-stream"), ("mcp-session-id", SESSION))
        again = await site.ask(Ask(headers=(*headers, ("last-event-id", first.decode())), method="GET"))
        assert again.answer["result"]["content"][0]["text"] == "heard: a"
