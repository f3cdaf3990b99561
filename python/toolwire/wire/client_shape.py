"""What the rooms above ask of a wire to a server, whatever carries it: a byte channel, or one POST a request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from toolwire import _core
from toolwire.errors import RemoteCallError
from toolwire.wire.express import Label, OnProgress
from toolwire.wire.limits import Limits

__all__ = ["Express", "Lane", "Wire"]


class Express(Protocol):
    """Requests that never touch pydantic."""

    async def send(
        self,
        line: Callable[[int], bytes],
        *,
        label: Label,
        timeout: float | None,
        idle: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> _core.Frame:
        """Send `line(id)` and wait for the frame that answers it. Raises RemoteCallError."""


class Lane(Protocol):
    """The SDK's half of a wire."""

    @property
    def envelope(self) -> bytes:
        """The members of `_meta` that each request carries; empty in the handshake eras."""

    def tap(
        self, hear: Callable[[_core.Frame | RemoteCallError], None], paste: tuple[bytes, bytes] | None = None
    ) -> int:
        """The id for a request of ours on this lane: `hear` gets the bytes of its answer."""

    def untap(self, number: int) -> None:
        """The request is over, however it ended."""


class Wire(Protocol):
    """A connection to one server, as an SDK transport with an express lane beside it."""

    name: str
    limits: Limits

    @property
    def express(self) -> Express:
        """The fast lane."""

    @property
    def sdk(self) -> Lane:
        """The SDK's lane."""

    @property
    def open(self) -> bool:
        """Express requests may go."""

    @property
    def lost(self) -> bool:
        """The server ended the connection; nobody here had closed it."""

    @property
    def end_reason(self) -> str | None:
        """Why the connection has ended; `None` while it lives."""

    @property
    def counters(self) -> Mapping[str, int]:
        """What was forgiven so far, by name."""

    @property
    def first_fault(self) -> str | None:
        """What was wrong with the first answer to the SDK that could not be mended."""

    @property
    def noise(self) -> tuple[bytes, ...]:
        """The first texts that were no messages, clipped."""

    @property
    def stderr_tail(self) -> bytes:
        """The last of a server process's stderr."""

    @property
    def exit_code(self) -> int | None:
        """The server's process exited with this."""

    def listen(self, method: str, heard: Callable[[], None]) -> Callable[[], None]:
        """Call `heard` at each notification of `method`, besides the SDK; the call that ends it."""

    def listed(self, page: _core.Page) -> None:
        """A page of the server's tools was read on this wire."""

    async def request(self, method: str, params: bytes, *, timeout: float | None) -> _core.Frame:
        """One express request; `params` are the JSON members of its params."""
