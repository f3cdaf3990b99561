"""Staying awake for what the peer says next, as long as that pays.

An event loop that has nothing to do sleeps, and to be woken by a pipe costs tens of microseconds where idle processors
are halted, in virtual machines above all: more than a fast server takes to answer, or a fast client to ask again. So
after few requests, and after the last answer, the loop is kept turning for some microseconds. Everything else in it
goes on, a turn at a time. A vigil in vain doubles the number of those that are left out, so a slow peer costs next to
nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from toolwire.wire.limits import VIGIL, VIGIL_PAUSE

__all__ = ["Vigil"]


class Vigil:
    """Keeps the loop of one channel awake. `begin` when something was sent, `heard` when the peer said something."""

    __slots__ = ("_now", "_pause", "_skip", "_soon", "_turning", "_until")

    def __init__(self, now: Callable[[], float], soon: Callable[[Callable[[], object]], object]) -> None:
        self._now = now
        self._soon = soon
        self._until = 0.0
        """When the vigil ends; 0 while there is none."""
        self._turning = False
        """The loop is kept turning: one turn asks for the next, however many vigils follow one another."""
        self._pause = 0
        self._skip = 0

    def begin(self) -> None:
        """What was sent has just left, and the peer's answer to it is all that is to come."""
        if self._until:
            return
        if self._skip:
            self._skip -= 1
            return
        self._until = self._now() + VIGIL
        if not self._turning:
            self._turning = True
            self._soon(self._turn)

    def heard(self) -> None:
        """The peer said something: what was waited for, as far as a channel can know."""
        if self._until:
            self._until = 0.0
            self._pause = 0

    def _turn(self) -> None:
        if self._until and self._now() < self._until:
            self._soon(self._turn)
            return
        self._turning = False
        if not self._until:
            return
        self._until = 0.0
        self._pause = self._skip = min(max(1, self._pause * 2), VIGIL_PAUSE)
