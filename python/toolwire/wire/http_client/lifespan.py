"""The lifespan of an ASGI app: started before its first request, ended after its last, in one task."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

import anyio

from toolwire.errors import ConnectError

__all__ = ["AsgiApp", "Lifespan", "Message", "Receive", "Send"]

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

logger = logging.getLogger("toolwire.wire")


class Lifespan:
    """Runs as a task of a group that outlives it. `state` is what the app keeps for its requests."""

    def __init__(self, app: AsgiApp) -> None:
        self.state: dict[str, Any] = {}
        self._app = app
        self._told = False
        self._started, self._stop, self._ended = anyio.Event(), anyio.Event(), anyio.Event()
        self._spoke = False
        self._failure: str | None = None

    async def start(self) -> None:
        """Waits until the app has started. Raises ConnectError with its words when it could not."""
        await self._started.wait()
        if self._failure is not None:
            raise ConnectError(f"the app did not start: {self._failure}")

    async def stop(self) -> None:
        """Waits until the app has ended. What goes wrong then is logged: nobody needs the app any more."""
        self._stop.set()
        await self._ended.wait()

    async def run(self) -> None:
        """The task. An app that knows no lifespan goes without one, as the ASGI standard has it."""
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self.state}
        try:
            await self._app(scope, self._receive, self._send)
        except Exception as error:
            if not self._spoke:
                logger.debug("the app has no lifespan", exc_info=True)
            elif not self._started.is_set():
                self._failure = f"{type(error).__name__}: {error}"
            elif self._failure is None:
                logger.warning("the app's lifespan ended with an error", exc_info=True)
        finally:
            self._started.set()
            self._ended.set()

    async def _receive(self) -> Message:
        if not self._told:
            self._told = True
            return {"type": "lifespan.startup"}
        await self._stop.wait()
        return {"type": "lifespan.shutdown"}

    async def _send(self, message: Message) -> None:
        self._spoke = True
        match message["type"]:
            case "lifespan.startup.complete":
                self._started.set()
            case "lifespan.startup.failed":
                self._failure = _last_line(message.get("message", "")) or "it said no more"
                self._started.set()
            case "lifespan.shutdown.failed":
                logger.warning("the app did not end well: %s", message.get("message", ""))
            case _:
                pass


def _last_line(message: str) -> str:
    """Starlette sends a whole traceback; what happened stands in its last line."""
    return message.strip().rpartition("\n")[2].strip()
