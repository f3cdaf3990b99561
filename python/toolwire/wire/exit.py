"""How one server process ends: learning of it, and bringing it about within five seconds (fault I4)."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
from collections.abc import Callable

import anyio

from toolwire.wire.limits import EXIT_POLL, EXIT_TIMEOUT, GROUP_POLL, KILL_TIMEOUT, ORPHAN_GRACE, TERMINATE_TIMEOUT
from toolwire.wire.runtime import Runtime, Watch

__all__ = ["Exit", "within"]

logger = logging.getLogger("toolwire.wire")


class Exit:
    """The exit of `process`, the leader of its own group; `call` is called once, when it has been reaped."""

    def __init__(self, process: subprocess.Popen[bytes], runtime: Runtime, call: Callable[[], None]) -> None:
        self._process = process
        self._runtime = runtime
        self._call = call
        self._reaped = anyio.Event()
        self._pidfd = -1
        # A number is not given away while somebody of the group lives; an empty group's may be a stranger's tomorrow.
        self._group_left = True
        self._watch = self._watched()

    @property
    def code(self) -> int | None:
        """The exit code; negative is a signal; `None` while the process runs."""
        return self._process.returncode

    @property
    def reason(self) -> str | None:
        """The exit as a sentence; `None` while the process runs."""
        code = self.code
        if code is None:
            return None
        if code >= 0:
            return f"the server exited with code {code}"
        try:
            return f"the server was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"the server was ended by signal {-code}"

    def reap(self) -> bool:
        """The process has exited; says so to who asked, once."""
        if self._reaped.is_set():
            return True
        if self._process.poll() is None:
            return False
        self.forget()
        self._signal(0)
        self._reaped.set()
        self._call()
        return True

    async def bring_about(self) -> None:
        """Waits, terminates, kills: the process and whoever is left of its group. Its input has ended before."""
        if not await within(EXIT_TIMEOUT, self._reaped):
            self._signal(signal.SIGTERM)
            await within(TERMINATE_TIMEOUT, self._reaped)
        elif self._signal(signal.SIGTERM):
            await self._emptied()
        if self._signal(signal.SIGKILL):
            await self._emptied()
        if not await within(KILL_TIMEOUT, self._reaped):
            logger.warning("process %d survived SIGKILL for %g s and was abandoned", self._process.pid, KILL_TIMEOUT)

    async def _emptied(self) -> None:
        """Wait until nobody is left in the group, but not long: a dead orphan is in it until its parent reaps it."""
        with anyio.move_on_after(ORPHAN_GRACE):
            while self._signal(0):  # noqa: ASYNC110 - the system tells of a group by no event
                await anyio.sleep(GROUP_POLL)

    def kill(self) -> None:
        """Kills the group and reaps at once, without the event loop: it is going away."""
        self._signal(signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(KILL_TIMEOUT)
        self.reap()

    def forget(self) -> None:
        """Watches no longer."""
        self._watch.cancel()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def _watched(self) -> Watch:
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):
                self._pidfd = os.pidfd_open(self._process.pid)
                return self._runtime.readable(self._pidfd, self.reap)
        return self._runtime.at(self._runtime.now() + EXIT_POLL, self._poll)

    def _poll(self) -> None:
        if not self.reap():
            self._watch = self._runtime.at(self._runtime.now() + EXIT_POLL, self._poll)

    def _signal(self, number: int) -> bool:
        """Signals the group; False when nobody is left in it, or nobody that may be signalled."""
        if self._group_left:
            try:
                os.killpg(self._process.pid, number)
            except (ProcessLookupError, PermissionError):
                self._group_left = False
        return self._group_left


async def within(seconds: float, event: anyio.Event) -> bool:
    """Waits for an event, not for ever."""
    with anyio.move_on_after(seconds):
        await event.wait()
    return event.is_set()
