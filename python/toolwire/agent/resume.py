"""Resuming: decisions on the calls that a transcript leaves open (spec one-session 2.9).

Pure: it finds what is open, checks the decisions against it, and puts results where they belong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolwire.agent.result import PendingCall, digest_of
from toolwire.contract.message import Message, ToolCallPart, ToolResultPart
from toolwire.errors import ToolwireError, quoted

__all__ = ["Decisions", "OpenCalls", "open_calls"]

INTERRUPTED = "no result recorded: the call was interrupted"


@dataclass(frozen=True, slots=True)
class Decisions:
    """What somebody decided, by call id. An approval may carry the parked call that was looked at."""

    approve: Mapping[str, PendingCall | None] = field(default_factory=dict)
    deny: Mapping[str, str] = field(default_factory=dict)
    resolve: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        approve: Iterable[str | PendingCall],
        deny: Mapping[str, str] | Iterable[str],
        resolve: Mapping[str, Any],
    ) -> Decisions:
        """Decisions as a caller writes them: ids or parked calls, ids with reasons, ids with results."""
        approved = {
            entry.id if isinstance(entry, PendingCall) else entry: entry if isinstance(entry, PendingCall) else None
            for entry in approve
        }
        denied = dict(deny) if isinstance(deny, Mapping) else dict.fromkeys(deny, "")
        return cls(approved, denied, dict(resolve))

    def __bool__(self) -> bool:
        return bool(self.approve or self.deny or self.resolve)


@dataclass(frozen=True, slots=True)
class OpenCalls:
    """The calls of the last assistant message that have no result: `index` is that message's place."""

    index: int
    calls: tuple[ToolCallPart, ...]

    def check(self, decisions: Decisions) -> None:
        """Raises ToolwireError for a decision on a call that is not open."""
        waiting = {call.id for call in self.calls}
        for word, ids in (("approve", decisions.approve), ("deny", decisions.deny), ("resolve", decisions.resolve)):
            for call_id in ids:
                if call_id not in waiting:
                    raise ToolwireError(f"{word}: call {quoted(call_id)} is not pending in this run's transcript")

    def completed(
        self, messages: Sequence[Message], results: Sequence[ToolResultPart], parked: Mapping[str, str]
    ) -> list[Message]:
        """The transcript with `results` in the tool message behind the calls, in the assistant's order.

        `parked` are the calls that stay open, with their marks.
        """
        assistant = messages[self.index]
        found = {result.call_id: result for result in results}
        rest = list(messages[self.index + 1 :])
        if rest and rest[0].role == "tool":
            found.update({result.call_id: result for result in rest.pop(0).results})
        marked = assistant.with_parts(
            ToolCallPart(part.id, part.name, part.args, parked.get(part.id, ""))
            if isinstance(part, ToolCallPart)
            else part
            for part in assistant.parts
        )
        ordered = [found[call.id] for call in assistant.calls if call.id in found]
        tool = [Message("tool", ordered)] if ordered else []
        return [*messages[: self.index], marked, *tool, *rest]


def open_calls(messages: Sequence[Message]) -> OpenCalls | None:
    """The calls that the transcript leaves open, if there are any."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role != "assistant":
            continue
        following = messages[index + 1] if index + 1 < len(messages) else None
        answered = {result.call_id for result in following.results} if following and following.role == "tool" else set()
        calls = tuple(call for call in messages[index].calls if call.id not in answered)
        return OpenCalls(index, calls) if calls else None
    return None


def still_stands(call: ToolCallPart, shown: PendingCall | None, fingerprint: str) -> bool:
    """An approval still means this call: the bytes are those that were looked at, and the tool is the one that it was."""
    now = digest_of(call.name, call.args, fingerprint)
    if shown is not None and shown.digest != now:
        return False
    return not call.parked or call.parked == now
