"""Every bound of the Python half, each with its reason. The core's own stand in `rust/limits.rs`.

`None` lifts a deadline. All times are seconds, all sizes bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from toolwire import _core

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one connection may take. The defaults are those of the design (4.4)."""

    connect_timeout: float | None = 30.0
    """From the start of the process to the end of the handshake: `npx` may have to unpack a server first."""
    list_timeout: float | None = 60.0
    """A whole listing, all pages: fifty pages of four seconds are a broken server (fault F5)."""
    call_timeout: float | None = 300.0
    """One call in total, from the call on: long enough for a build, short enough to notice a hang."""
    idle_timeout: float | None = None
    """Since the last progress of a call. Off: most servers report none."""
    in_flight: int = 1_000
    """Calls that were written and not answered. More wait, so that a slow server costs memory in proportion."""
    line_limit: int = _core.LINE_LIMIT
    """The longest line that is kept; a longer one fails its request and is drained."""
    pages: int = 1_000
    """Pages of one listing: real servers have one."""
    tools: int = 20_000
    """Tools of one listing: the largest real one has 235."""

    def __post_init__(self) -> None:
        """Refuses what would make every call wait for ever, or end before it began. Raises ValueError."""
        for name in ("connect_timeout", "list_timeout", "call_timeout", "idle_timeout"):
            seconds = getattr(self, name)
            if seconds is not None and not seconds > 0:
                raise ValueError(f"{name} must be above 0, got {seconds!r}; None lifts it")
        for name in ("in_flight", "line_limit", "pages", "tools"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)!r}")


WRITE_HIGH_WATER: Final = 4 * 1024 * 1024
"""Unwritten bytes above which new calls wait: a server that does not read must not fill our memory."""

WRITE_CHUNK: Final = 256 * 1024
"""Bytes given to a pipe at once: small messages leave together, a large one is not copied for each part that leaves."""

FIRST_COMPANY: Final = 2
"""Requests of one turn that leave together at first; twice as many at each further write, up to `COMPANY`."""

COMPANY: Final = 8
"""The same at most. A server that waits for a whole turn of 32 sleeps half of the time, and so do we then: written in
eights, calls are twice as fast, and a system call for eight of them is a tenth of what they cost."""

READ_CHUNK: Final = 256 * 1024
"""Bytes asked of a pipe at once: four of its usual buffers, so one crossing into the core serves many answers."""

PIPE_SIZE: Final = READ_CHUNK
"""Bytes that the pipe of a server's output holds where the system lets us choose: what one read takes."""

READS_A_TURN: Final = 16
"""Chunks read before the event loop gets its turn: 4 MiB, about two milliseconds."""

VIGIL: Final = 100e-6
"""After what was sent: how long the loop stays awake for what comes back. To be woken costs about half of that here."""

VIGIL_PAUSE: Final = 1_024
"""Vigils at most that are left out after one in vain, so that a slow peer costs 0.1 µs a message."""

VIGIL_REQUESTS: Final = 8
"""Requests that wait at most where a client keeps a vigil: of many slow ones one is always answered soon."""

STDERR_TAIL: Final = 64 * 1024
"""Bytes of a server's stderr that are kept for error messages."""

STDERR_QUOTED: Final = 2_000
"""Characters of that tail which an error text quotes."""

EXIT_GRACE: Final = 0.5
"""After a server closed its output: how long its exit code is waited for before pending calls fail without it."""

SILENT_AFTER_EXIT: Final = 2.0
"""After a server's process exited with its output still open (a child holds it), or after it closed its input: how long
silence is believed to be work."""

EXIT_POLL: Final = 0.02
"""Between two looks for an exit, where the system cannot tell of it by a descriptor."""

FLUSH_TIMEOUT: Final = 0.5
"""At close: for bytes that were accepted and not written. With the three below it stays under 5 s (fault I4)."""

EXIT_TIMEOUT: Final = 2.0
"""At close, after end of input: for a server to go by itself."""

TERMINATE_TIMEOUT: Final = 1.5
"""After SIGTERM to the process group."""

KILL_TIMEOUT: Final = 0.5
"""After SIGKILL: for the kernel to reap."""

GROUP_POLL: Final = 0.002
"""Between two looks whether a killed group is empty: the system tells nobody but the parent."""

ORPHAN_GRACE: Final = 0.05
"""For what a server left in its group, between SIGTERM and SIGKILL and behind that: it has nobody to serve."""

SDK_BACKLOG: Final = 10_000
"""Messages that wait for the SDK lane. Above it notifications are dropped and counted: a storm may not fill memory."""

SDK_BACKLOG_BYTES: Final = 64 * 1024 * 1024
"""The same in bytes of their text: one line may be as long as this."""

SERVER_REQUESTS: Final = 1_000
"""Requests of a server that the SDK has not answered. Above it they are refused: a server that asks and does not read
may not fill memory either."""

NOISE_QUOTED: Final = 3
"""Noise lines that a connection error quotes."""

SERVED_AT_ONCE: Final = 1_000
"""Requests of one client that run at once; more wait. Handlers hold files and connections of their own."""

QUEUED_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one client's waiting requests, and of answers that it does not read. Above, requests are refused and
reading stops."""

QUEUED_OVERHEAD: Final = 1_024
"""What a waiting request counts beside its bytes: the objects that hold it."""

LEAVE_TIMEOUT: Final = 1.0
"""At the end of a session: for cancelled handlers to clean up. With `FLUSH_TIMEOUT` it stays under SIGTERM's
three seconds."""

SHIELD_POLL: Final = 0.01
"""Between two looks at a cancelled handler that shields itself."""

KNOWN_ENVELOPES: Final = 64
"""Envelopes of one client that express calls may carry: a client has one, a gateway a handful."""

POSTED_AT_ONCE: Final = 10_000
"""Posted calls that run at once on one app, as many as the SDK opens sessions. More are answered with 503: a client of
HTTP knows what to do with that, and a request that waits unseen holds its connection."""

POSTED_BYTES: Final = 256 * 1024 * 1024
"""The same in bytes of their bodies: the SDK reads up to 4 MiB of each."""

POSTED_ENVELOPES: Final = 1_024
"""Envelopes that calls posted to one app may carry; the one not used for longest goes. Each client has its own."""

POSTED_ENVELOPE_BYTES: Final = 4_096
"""Of one that is remembered: with the bound above it stays under 4 MiB, and a real one has 200."""

EVENT_PING: Final = 15.0
"""Between two signs of life on a stream of events whose call says nothing: the SDK's own pace."""

TELL_TIMEOUT: Final = 5.0
"""For a session over HTTP to take what its server tells it unasked: its client may hold a stream open and not read."""

SERVER_POLL: Final = 0.5
"""Between two looks whether the ASGI server is to end, from an open stream of events: the SDK's own pace."""
