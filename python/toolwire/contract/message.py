"""A conversation as data: messages of parts, round-tripping through JSON with the arguments' exact bytes.

Arguments are kept as the text that the model wrote; in JSON they are one string, so that no reader can re-print a number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

__all__ = ["Message", "ReasoningPart", "Role", "SaidPart", "ToolCallPart", "ToolResultPart", "messages_from_json", "messages_to_json"]

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class SaidPart:
    """Text that somebody said."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """What a model thought aloud; never shown to the model of another provider."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A call that the model asked for. `parked` is set while it waits for approval: what was shown to the approver."""

    id: str
    name: str
    args: bytes
    parked: str = ""


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """The text that answers a call, as the model reads it."""

    call_id: str
    name: str
    content: str
    is_error: bool = False


MessagePart = SaidPart | ReasoningPart | ToolCallPart | ToolResultPart
_KINDS: dict[str, type[Any]] = {
    "text": SaidPart,
    "reasoning": ReasoningPart,
    "tool_call": ToolCallPart,
    "tool_result": ToolResultPart,
}
_WORDS = {kind: word for word, kind in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of one side. `Message("user", "text")` takes a text for its one part."""

    role: Role
    parts: tuple[MessagePart, ...]

    def __init__(self, role: Role, parts: str | Iterable[MessagePart] = ()) -> None:
        object.__setattr__(self, "role", role)
        object.__setattr__(self, "parts", (SaidPart(parts),) if isinstance(parts, str) else tuple(parts))

    @property
    def text(self) -> str:
        """The text parts run together."""
        return "".join(part.text for part in self.parts if isinstance(part, SaidPart))

    @property
    def calls(self) -> tuple[ToolCallPart, ...]:
        """The calls, in the model's order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCallPart))

    @property
    def results(self) -> tuple[ToolResultPart, ...]:
        """The results of a tool message."""
        return tuple(part for part in self.parts if isinstance(part, ToolResultPart))

    def with_parts(self, parts: Iterable[MessagePart]) -> Message:
        """The same turn with other parts."""
        return Message(self.role, parts)


def messages_to_json(messages: Sequence[Message]) -> str:
    """A transcript as JSON text."""
    return json.dumps([_dumped(message) for message in messages], ensure_ascii=False, separators=(",", ":"))


def _dumped(message: Message) -> dict[str, Any]:
    parts = []
    for part in message.parts:
        fields = {name: getattr(part, name) for name in type(part).__dataclass_fields__}
        if isinstance(part, ToolCallPart):
            fields["args"] = part.args.decode("utf-8", "surrogateescape")
        parts.append({"type": _WORDS[type(part)], **{name: value for name, value in fields.items() if value not in ("", False)}})
    return {"role": message.role, "parts": parts}


def messages_from_json(text: str | bytes) -> list[Message]:
    """A transcript from the JSON text that `messages_to_json` made. Raises ValueError, naming the message."""
    messages = []
    for index, message in enumerate(json.loads(text)):
        try:
            messages.append(Message(message["role"], [_part(part) for part in message["parts"]]))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"message {index} is none: {error!r}") from None
    return messages


_EMPTY = {SaidPart: {"text": ""}, ReasoningPart: {"text": ""}, ToolCallPart: {"args": ""}, ToolResultPart: {"content": ""}}


def _part(fields: dict[str, Any]) -> MessagePart:
    kind = _KINDS[fields["type"]]
    values = {**_EMPTY[kind], **{name: value for name, value in fields.items() if name != "type"}}
    if kind is ToolCallPart:
        values["args"] = values["args"].encode("utf-8", "surrogateescape")
    part: MessagePart = kind(**values)
    return part


def without_marks(message: Message) -> Message:
    """The message without the marks of parked calls, as a model sees it."""
    return message.with_parts(
        replace(part, parked="") if isinstance(part, ToolCallPart) and part.parked else part for part in message.parts
    )
