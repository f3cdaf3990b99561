"""What `toolwire demo` measures: what becomes of a value through a client, and how many calls a second it makes.

Both clients are a `Caller` here, so that neither is measured in another way. The server's `echo` says what it received;
a value that was changed on the way out is thereby told apart from one that was changed on the way back.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

import anyio

from toolwire._raw_peer import members

PATIENCE: Final = 10.0
"""Seconds that one call may take before it counts as one that never ends."""

VALUES: Final = {
    "a price": "1.50",
    "past 2^53": "9007199254740993",
    "30 digits": "123456789012345678901234567890",
    "beyond any float": "1E400",
    "a signed zero": "-0",
    "order of the keys": '{"z":1,"10":2,"a":3}',
}
SCHEMA_VALUES: Final = {"a schema's default": ("default", "1.50"), "a schema's maximum": ("maximum", "1E400")}


class Caller(Protocol):
    """What both clients can do, in JSON text."""

    async def call(self, name: str, arguments: bytes) -> tuple[str, str]:
        """Call a tool; give its first text block and its structured value."""

    async def schema(self, name: str) -> str:
        """Give the input schema of a tool."""


@dataclass(frozen=True)
class Fate:
    """What became of one value: `sent`, what the server `received`, what `returned`. All JSON text, or a reason."""

    what: str
    sent: str
    received: str
    returned: str

    @property
    def kept(self) -> bool:
        """Whether it arrived, both ways, as it was sent."""
        return self.sent == self.received == self.returned


async def fates(caller: Caller) -> list[Fate]:
    """Send each value through `echo`, and look at the numbers in its schema. A call that fails is a fate too."""
    found: list[Fate] = []
    for what, value in VALUES.items():
        try:
            with anyio.fail_after(PATIENCE):
                received, returned = await caller.call("echo", b'{"value":' + value.encode() + b"}")
            found.append(Fate(what, value, span(received, "value"), span(returned, "value")))
        except Exception as error:  # noqa: BLE001 - whatever a client does with a legal value is what the table shows
            reason = f"{type(error).__name__}: {error}"
            found.append(Fate(what, value, reason, reason))
    schema = await caller.schema("echo")
    for what, (member, value) in SCHEMA_VALUES.items():
        spelled = span(span(span(schema, "properties"), "price"), member)
        found.append(Fate(what, value, spelled, spelled))
    return found


def span(text: str, member: str) -> str:
    """Cut the value of a member out of an object's text, as it is spelled there."""
    start, end = members(text)[member]
    return text[start:end]


async def rate(call: Callable[[], Awaitable[object]], *, in_flight: int, seconds: float) -> float:
    """Measure calls per second, with `in_flight` of them under way at any time, for about `seconds`."""
    done = 0
    began = time.perf_counter()

    async def caller() -> None:
        nonlocal done
        while time.perf_counter() - began < seconds:
            await call()
            done += 1

    async with anyio.create_task_group() as group:
        for _ in range(in_flight):
            group.start_soon(caller)
    return done / (time.perf_counter() - began)
