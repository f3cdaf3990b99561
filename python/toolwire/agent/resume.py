"""Resuming: decisions on the calls that a transcript leaves open (spec one-session 2.9).

Pure: it finds what is open, checks the decisions against it, sorts the calls by them, and puts results in their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolwire.agent.result import PendingCall, digest_of
from toolwire.contract.input_round import Continuation
from toolwire.contract.message import Message, ToolCallPart, ToolResultPart, json_text
from toolwire.contract.output import ToolOutput
from toolwire.contract.tool_object import Tool
from toolwire.errors import ToolError, ToolwireError, quoted

__all__ = ["Decided", "Decisions", "OpenCalls", "decided", "open_calls"]

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
        approve: Iterable[str | PendingCall] | PendingCall,
        deny: Mapping[str, str] | Iterable[str],
        resolve: Mapping[str, Any],
    ) -> Decisions:
        """Decisions as a caller writes them: ids or parked calls, ids with reasons, ids with results."""
        approved = {
            entry.id if isinstance(entry, PendingCall) else entry: entry if isinstance(entry, PendingCall) else None
            for entry in ((approve,) if isinstance(approve, str | PendingCall) else approve)
        }
        denied = dict.fromkeys((deny,) if isinstance(deny, str) else deny, "")
        if isinstance(deny, Mapping):
            denied.update(deny)
        return cls(approved, denied, dict(resolve))

    def __bool__(self) -> bool:
        return bool(self.approve or self.deny or self.resolve)

    def check(self, found: OpenCalls | None) -> None:
        """Raises ToolwireError for a decision on a call that is not open, and for two on one call."""
        waiting = {call.id for call in found.calls} if found is not None else set()
        seen: dict[str, str] = {}
        for word, ids in (("approve", self.approve), ("deny", self.deny), ("resolve", self.resolve)):
            for call_id in ids:
                if call_id not in waiting:
                    raise ToolwireError(f"{word}: call {quoted(call_id)} is not pending in this run's transcript")
                if call_id in seen:
                    raise ToolwireError(f"{word}: call {quoted(call_id)} has another decision already: {seen[call_id]}")
                seen[call_id] = word


@dataclass(frozen=True, slots=True)
class OpenCalls:
    """The calls of the last assistant message that have no result: `index` is that message's place."""

    index: int
    calls: tuple[ToolCallPart, ...]

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
        ordered = [found[call.id] for call in assistant.calls if call.id in found]
        tool = [Message("tool", ordered)] if ordered else []
        return [*messages[: self.index], assistant.with_marks(parked), *tool, *rest]


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


@dataclass(frozen=True, slots=True)
class Decided:
    """The open calls by what becomes of them: those that `run`, and what of them was approved."""

    run: list[ToolCallPart] = field(default_factory=list)
    approved: dict[str, str] = field(default_factory=dict)
    resolved: list[tuple[ToolCallPart, ToolOutput | ToolError | str]] = field(default_factory=list)
    denied: list[ToolResultPart] = field(default_factory=list)
    continuations: dict[str, Continuation] = field(default_factory=dict)


def decided(found: OpenCalls, decisions: Decisions, tools: Mapping[str, Tool]) -> Decided:
    """Sorts the open calls; one that nobody decided on is denied."""
    work = Decided()
    for call in found.calls:
        if call.id in decisions.approve:
            work.run.append(call)
            work.approved[call.id] = what_was_approved(call, decisions.approve[call.id], tools.get(call.name))
        elif isinstance(continuation := decisions.resolve.get(call.id), Continuation):
            # The tool asked something in the middle of the call: it goes on with the answer, and is not run anew.
            work.run.append(call)
            work.continuations[call.id] = continuation
        elif call.id in decisions.resolve:
            work.resolved.append((call, _as_result(decisions.resolve[call.id])))
        else:
            reason = decisions.deny.get(call.id, "no decision") or "no reason given"
            work.denied.append(ToolResultPart(call.id, call.name, f"DENIED: {reason}", True))
    return work


def _as_result(value: Any) -> ToolOutput | ToolError | str:
    """A result that somebody gave by hand: a text, an output and an error as they are, anything else as JSON."""
    return value if isinstance(value, str | ToolOutput | ToolError) else json_text(value)


def what_was_approved(call: ToolCallPart, shown: PendingCall | None, tool: Tool | None) -> str:
    """The digest that the call has to have when it is sent; one that nothing has, where two were looked at.

    What was looked at is `shown` and what the transcript's mark is of; without either it is the transcript's call.
    """
    seen = {digest for digest in (shown.digest if shown is not None else "", call.parked) if digest}
    if len(seen) > 1:
        return ""
    fingerprint = tool.fingerprint if tool is not None else ""
    return seen.pop() if seen else digest_of(call.name, call.args, fingerprint)
