"""What a run tells while it goes, in order: each event has the run's id and a number (spec one-session 2.13)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Event", "Events", "OnEvent"]


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `kind` says which of the other fields mean something.

    `run_start`, `step_start`, `text_delta` (text), `reasoning_delta` (text), `tool_start` (call_id, name, args),
    `tool_finish` (call_id, name, content, is_error), `step_finish`, `run_finish` (result), `nested` (call_id, event).
    """

    kind: str
    run_id: str
    seq: int
    step: int = 0
    text: str = ""
    call_id: str = ""
    name: str = ""
    args: bytes = b""
    content: str = ""
    is_error: bool = False
    event: Event | None = None
    result: Any = None


OnEvent = Callable[[Event], object]


class Events:
    """The events of one run: numbered, and handed to who listens. A listener that raises ends the run, not a call."""

    def __init__(self, run_id: str, listener: OnEvent | None) -> None:
        self._run_id = run_id
        self._listener = listener
        self._seq = 0
        self.heard = listener is not None
        """Somebody listens: without that, who tells often may leave it."""

    def emit(self, kind: str, **fields: Any) -> None:
        """Numbers an event and hands it on."""
        if self._listener is not None:
            self._seq += 1
            self._listener(Event(kind, self._run_id, self._seq, **fields))
