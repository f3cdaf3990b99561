"""A lost session: one new `initialize` for all who wait, over the SDK's own transport, which keeps the session (J1)."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Awaitable, Callable

import anyio
import anyio.abc
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from toolwire.errors import RemoteCallError
from toolwire.wire.http_client.lane import HttpLane
from toolwire.wire.http_client.learned import Learned

__all__ = ["Renewal"]

logger = logging.getLogger("toolwire.wire")


class Renewal:
    """Opens a new session for a lost one. `send` gives a message to the SDK's transport; `done` hears of each success.

    The SDK's session stays the one that it was: a server that came back speaking another version is an error.
    """

    def __init__(
        self,
        lane: HttpLane,
        learned: Learned,
        tasks: anyio.abc.TaskGroup,
        timeout: float | None,
        send: Callable[[SessionMessage], Awaitable[None]],
        done: Callable[[], None],
    ) -> None:
        self._lane = lane
        self._learned = learned
        self._tasks = tasks
        self._timeout = timeout
        self._send = send
        self._done = done
        self._ids = itertools.count(1)
        self._running: _Attempt | None = None
        self._answer: tuple[str, anyio.Event] | None = None
        self._answered: JSONRPCMessage | None = None
        self.count = 0
        """Sessions that were opened in the place of a lost one."""

    async def renew(self, session: str) -> None:
        """Waits until `session` has been replaced. Raises RemoteCallError: then nothing was sent a second time."""
        if self._learned.session != session and self._running is None:
            return
        attempt = self.start()
        await attempt.over.wait()
        if attempt.fault is not None:
            raise RemoteCallError(
                f"the server has lost the session, and no new one came about: {attempt.fault}", may_have_run=False
            )

    def hold(self) -> Awaitable[None] | None:
        """Until when a new request has to wait for its session; `None` where none is being opened."""
        return None if self._running is None else self._running.over.wait()

    def start(self) -> _Attempt:
        """The attempt that runs, or a new one."""
        attempt = self._running
        if attempt is None:
            # It belongs to nobody who waits: one of them may give up.
            attempt = self._running = _Attempt()
            self._tasks.start_soon(self._run, attempt)
        return attempt

    def takes(self, message: JSONRPCMessage) -> bool:
        """The message answers our `initialize`, of which the SDK knows nothing."""
        if self._answer is None or not isinstance(message, JSONRPCResponse | JSONRPCError):
            return False
        number, heard = self._answer
        if message.id != number:
            return False
        self._answered = message
        heard.set()
        return True

    async def _run(self, attempt: _Attempt) -> None:
        attempt.fault = "it did not answer in time"
        try:
            with anyio.move_on_after(self._timeout):
                attempt.fault = await self._handshake()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            attempt.fault = "the connection was closed"
        finally:
            self._running = self._answer = None
            attempt.over.set()
        if attempt.fault is None:
            self.count += 1
            logger.info("the server had lost the session, and a new one is open")
            self._done()

    async def _handshake(self) -> str | None:
        """What went wrong; `None` when a new session stands."""
        first = self._lane.initialize
        if first is None:
            return "it was opened without a handshake"
        number, heard = f"toolwire-renewal-{next(self._ids)}", anyio.Event()
        self._answer = number, heard
        protocol = self._lane.protocol
        # The id is new: the SDK's first one may be in use again by now.
        await self._send(
            SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=number, method="initialize", params=first.params))
        )
        await heard.wait()
        answer = self._answered
        if isinstance(answer, JSONRPCError):
            return answer.error.message
        spoken = answer.result.get("protocolVersion") if isinstance(answer, JSONRPCResponse) else None
        if spoken != protocol:
            return f"it speaks protocol {spoken!r} now, and spoke {protocol!r} before"
        settled = self._lane.settled = anyio.Event()
        headers = {} if protocol is None else {MCP_PROTOCOL_VERSION_HEADER: protocol}
        note = JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized")
        await self._send(SessionMessage(note, metadata=ClientMessageMetadata(headers=headers)))
        await settled.wait()
        return None


class _Attempt:
    """One handshake, for all who wait for it."""

    __slots__ = ("fault", "over")

    def __init__(self) -> None:
        self.over = anyio.Event()
        self.fault: str | None = None
