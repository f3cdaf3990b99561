"""What a server says beside the answers to express requests: to the SDK, and to who listens.

It comes on the SDK's own streams, decoded, and on the streams that answer express requests, as frames.
"""

from __future__ import annotations

from collections.abc import Callable

from mcp_types import JSONRPCMessage, JSONRPCNotification

from toolwire import _core
from toolwire.wire.http_client.lane import HttpLane
from toolwire.wire.sdk_streams import message_of

__all__ = ["Arrivals"]

PROGRESS = "notifications/progress"


class Arrivals:
    """Routes messages. `progressed(token, …)` hears of the progress of express requests."""

    def __init__(self, lane: HttpLane, progressed: Callable[[int, float, float | None, str | None], None]) -> None:
        self._lane = lane
        self._progressed = progressed
        self._listeners: dict[str, list[Callable[[], None]]] = {}
        self.late_answers = 0

    def carried(self, message: JSONRPCMessage) -> None:
        """The SDK's transport has read this."""
        if isinstance(message, JSONRPCNotification) and message.method == PROGRESS:
            self.route(_core.read_message(message.model_dump_json(by_alias=True, exclude_unset=True).encode()))
            return
        self._lane.incoming(message)
        if isinstance(message, JSONRPCNotification):
            self.tell(message.method)

    def route(self, frame: _core.Frame) -> None:
        """A frame that answers no express request of its stream."""
        kind, method = frame.kind, frame.method
        if kind == "notification" and method == PROGRESS:
            token, progress, total, text = frame.progress()
            if token >= _core.EXPRESS_ID:
                self._progressed(token, progress, total, text)
                return
        message = message_of(frame) if kind in ("request", "notification") else None
        if message is None:
            self.late_answers += 1
            return
        self._lane.incoming(message)
        if kind == "notification":
            self.tell(method or "")

    def listen(self, method: str, heard: Callable[[], None]) -> Callable[[], None]:
        """Calls `heard` at each notification of `method`; the call that ends it."""
        listeners = self._listeners.setdefault(method, [])
        listeners.append(heard)
        return lambda: listeners.remove(heard) if heard in listeners else None

    def tell(self, method: str) -> None:
        """Tells who listens to `method`."""
        for heard in tuple(self._listeners.get(method, ())):
            heard()
