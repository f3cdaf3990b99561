"""Bytes on their way out through a descriptor that does not block: in order, and several messages in a system call.

A message that may not wait and has no company leaves at once; those of one turn of the loop leave together, or a few
together where the peer should begin while the turn still makes the rest.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable

import anyio

from toolwire.wire.limits import FIRST_COMPANY, WRITE_CHUNK, WRITE_HIGH_WATER
from toolwire.wire.runtime import Runtime, Watch

__all__ = ["Outflow"]


class Outflow:
    """The way out to one peer.

    `sent` is called when all that a turn wrote has left, `drained` when there is room again after `full`, `broken` when
    the peer reads no more. At most `company` messages leave together, beginning with two; `None` lets a turn be whole.
    """

    def __init__(
        self,
        runtime: Runtime,
        descriptor: int,
        *,
        sent: Callable[[], object],
        drained: Callable[[], object],
        broken: Callable[[], object],
        company: int | None = None,
    ) -> None:
        self._runtime = runtime
        self._descriptor = descriptor
        self._sent = sent
        self._drained = drained
        self._broken = broken
        self._most = company
        self._company = FIRST_COMPANY
        self._lines: deque[bytes | memoryview] = deque()
        self.unwritten = 0
        """Bytes that the peer has not taken yet."""
        self.full = False
        """More than the high-water mark of them, or the peer reads no more: new calls should wait."""
        self._deaf = False
        """The peer reads no more: this is full for ever."""
        self._turn_ends = False
        """The end of the turn has been asked for: what was written until then leaves together."""
        self._waiting: Watch | None = None
        """For the peer to read, since it has not taken all."""
        self._emptied = anyio.Event()
        self._stopped = False

    def write(self, line: bytes, *, now: bool) -> None:
        """Accept bytes; `now` asks not to wait for company. Once it is stopped it does nothing."""
        if self._stopped:
            return
        self._lines.append(line)
        self.unwritten += len(line)
        if self.unwritten > WRITE_HIGH_WATER:
            self.full = True
        if self._waiting is not None:
            return
        if self._turn_ends:
            if self._most is not None and len(self._lines) >= self._company and not self.full:
                self._company = min(self._company * 2, self._most)
                self.flush()
        elif now:
            self._send()
        else:
            self._turn_ends = True
            self._runtime.soon(self._end_turn)

    def _end_turn(self) -> None:
        self._turn_ends = False
        self._company = FIRST_COMPANY
        self._send()

    def _send(self) -> None:
        self.flush()
        if not self._lines and not self._stopped:
            self._sent()

    def flush(self) -> None:
        """Write as much as the peer takes, and the rest when it reads again."""
        if self._stopped:
            return
        was_full = self.full
        while self._lines:
            batch = self._batch()
            try:
                written = os.write(self._descriptor, batch)
            except BlockingIOError:
                written = 0
            except OSError:
                self._deaf = True
                self.stop()
                self._broken()
                return
            self.unwritten -= written
            if written < len(batch):
                self._lines.appendleft(memoryview(batch)[written:])
                if self._waiting is None:
                    self._waiting = self._runtime.writable(self._descriptor, self.flush)
                break
        else:
            self._is_empty()
        self.full = self.unwritten > WRITE_HIGH_WATER
        if was_full and not self.full:
            self._drained()

    def _batch(self) -> bytes | memoryview:
        """What leaves next: small messages together, a large one alone."""
        batch = self._lines.popleft()
        if not self._lines or len(batch) >= WRITE_CHUNK:
            return batch
        parts, size = [batch], len(batch)
        while self._lines and size < WRITE_CHUNK:
            size += len(self._lines[0])
            parts.append(self._lines.popleft())
        return b"".join(parts)

    def _is_empty(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        self._emptied.set()

    def stop(self) -> None:
        """Write no more: what was left is dropped."""
        self._stopped = True
        self._lines.clear()
        self.unwritten = 0
        self.full = self._deaf
        self._is_empty()

    async def emptied(self, seconds: float) -> bool:
        """Wait until all has left, or `seconds` in which the peer took too little; whether nothing is left."""
        self._emptied = anyio.Event()
        if self._lines:
            with anyio.move_on_after(seconds):
                await self._emptied.wait()
        return not self._lines
