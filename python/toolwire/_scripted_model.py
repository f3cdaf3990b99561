"""A model that plays a script, for tests: one turn per model call, every request recorded (spec one-session 2.12).

model = Script(ToolCalls(Call("echo", b'{"text":"hi"}')), Say("All done."))
result = await Agent(model, tools=[echo]).generate("go")
assert model.last_request().tool_names == ["echo"]
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolwire.agent.model import (
    CallEvent,
    Finish,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    Usage,
)

__all__ = [
    "Call",
    "Fail",
    "MaxTokens",
    "Raw",
    "RecordedRequest",
    "Say",
    "SayThenFail",
    "Script",
    "Think",
    "ToolCalls",
    "Turn",
    "golden",
]

_USAGE = Usage(10, 5)


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model: its events, what it uses, and what it fails with behind them."""

    events: tuple[Any, ...] = ()
    usage: Usage = _USAGE
    error: Exception | None = None
    reason: str | None = "stop"

    def with_usage(self, input_tokens: int, output_tokens: int) -> Turn:
        """The same turn with another usage."""
        return replace(self, usage=Usage(input_tokens, output_tokens))


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a turn; without an id it is `call_1`, `call_2`, … by its place in the turn."""

    name: str
    args: bytes | str = b"{}"
    id: str = ""


def Say(text: str) -> Turn:  # noqa: N802 - the script reads as a play
    """Says a text, and ends."""
    return Turn((TextDelta(text),))


def Think(thought: str, text: str = "") -> Turn:  # noqa: N802 - as above
    """Thinks, then says a text."""
    return Turn((ReasoningDelta(thought), *((TextDelta(text),) if text else ())))


def ToolCalls(*calls: Call) -> Turn:  # noqa: N802 - as above
    """Asks for calls."""
    events = tuple(
        CallEvent(
            call.id or f"call_{index}", call.name, call.args.encode() if isinstance(call.args, str) else call.args
        )
        for index, call in enumerate(calls, 1)
    )
    return Turn(events, reason="tool_calls")


def MaxTokens(text: str = "", *calls: Call) -> Turn:  # noqa: N802 - as above
    """Is cut off by the output limit, with calls or without."""
    said = (TextDelta(text),) if text else ()
    return Turn((*said, *ToolCalls(*calls).events), reason="max_tokens")


def Fail(error: Exception | str) -> Turn:  # noqa: N802 - as above
    """Fails before it says anything."""
    return Turn(error=RuntimeError(error) if isinstance(error, str) else error, reason=None)


def SayThenFail(text: str, error: Exception | str) -> Turn:  # noqa: N802 - as above
    """Says something and fails."""
    return replace(Fail(error), events=(TextDelta(text),))


def Raw(events: Iterable[ModelEvent]) -> Turn:  # noqa: N802 - as above
    """Exactly these events: for streams that break the contract."""
    return Turn(tuple(events), reason=None)


class RecordedRequest:
    """A request that the script got."""

    def __init__(self, request: ModelRequest) -> None:
        self.request = request
        self.system = request.system
        self.messages = tuple(request.messages)
        self.tools = tuple(request.tools)

    def has_tool(self, name: str) -> bool:
        """The tool was offered."""
        return any(tool.name == name for tool in self.tools)

    @property
    def tool_names(self) -> list[str]:
        """The names offered, sorted."""
        return sorted(tool.name for tool in self.tools)

    @property
    def last_text(self) -> str:
        """The text of the last message."""
        return self.messages[-1].text if self.messages else ""


class Script:
    """A model that plays its turns in order; `requests` are those it got, the one that exhausted it too."""

    provider = "toolwire"
    name = "script"
    scripted = True

    def __init__(self, *turns: Turn) -> None:
        self._turns = list(turns)
        self.requests: list[RecordedRequest] = []

    def last_request(self) -> RecordedRequest:
        """The newest request. Raises IndexError before the first."""
        return self.requests[-1]

    async def stream(self, request: ModelRequest, /) -> AsyncIterator[ModelEvent]:
        """Plays the next turn."""
        self.requests.append(RecordedRequest(request))
        index = len(self.requests) - 1
        if index >= len(self._turns):
            raise RuntimeError(
                "wefttest: model script exhausted (agent made more model calls than the script provides)"
            )
        turn = self._turns[index]
        for event in turn.events:
            yield event
        if turn.error is not None:
            raise turn.error
        if turn.reason is not None:
            yield Finish(turn.reason, turn.usage)  # type: ignore[arg-type]  # the reasons above are the Literal's


def golden(path: str | Path, content: bytes | str, *, update: bool = False) -> None:
    """Compares with a committed file; `update=True` rewrites it. Raises AssertionError with the first difference."""
    path, content = Path(path), content.encode() if isinstance(content, str) else content
    if update:
        path.write_bytes(content)
        return
    expected = path.read_bytes()
    if expected != content:
        line = next(
            (
                number
                for number, (old, new) in enumerate(zip(expected.splitlines(), content.splitlines(), strict=False), 1)
                if old != new
            ),
            min(len(expected.splitlines()), len(content.splitlines())) + 1,
        )
        raise AssertionError(f"{path} differs from line {line} on: rewrite it with update=True if that is right")
