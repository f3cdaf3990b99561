"""A byte channel to one peer. It moves bytes and knows no message: above it stand the lanes, below it the system.

A channel calls back from the event loop that it was opened in, and never after `aclose` has returned.
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["Channel", "HeldChannel", "HeldListener", "Listener"]


class Listener(Protocol):
    """Who hears from a channel."""

    def received(self, chunk: bytes, /) -> None:
        """Bytes arrived."""

    def ended(self, reason: str, /) -> None:
        """No more bytes will come: `reason` is a sentence for an error text. Called once."""

    def writable(self) -> None:
        """The unwritten bytes went below the high-water mark again."""


class HeldListener(Listener, Protocol):
    """A server, as who hears from a channel."""

    @property
    def idle(self) -> bool:
        """Nothing runs for the peer, so that what happens next is a request of it."""


class Outward(Protocol):
    """The way to a peer."""

    @property
    def full(self) -> bool:
        """More bytes are unwritten than new calls should add to."""

    def write(self, line: bytes, /, *, now: bool = False) -> None:
        """Accepts bytes to send, in order; `now` asks not to wait for company. After the end it does nothing."""

    async def aclose(self) -> None:
        """Ends the peer within five seconds, once; a second call waits for the first."""


class Channel(Outward, Protocol):
    """One peer's bytes."""

    @property
    def exit_code(self) -> int | None:
        """The peer's process exited with this; negative is a signal."""

    @property
    def stderr_tail(self) -> bytes:
        """The last of what the peer wrote to its stderr."""

    async def open(self, listener: Listener, /) -> None:
        """Starts the peer. Raises ConnectError."""


class HeldChannel(Outward, Protocol):
    """A channel whose peer can be held back, as a server needs it against a client that never reads."""

    async def open(self, listener: HeldListener, /) -> None:
        """Starts to read."""

    @property
    def unwritten(self) -> int:
        """Bytes that the peer has not taken yet."""

    def pause(self) -> None:
        """Reads no more for now."""

    def resume(self) -> None:
        """Reads again."""
