"""A conversation as data: messages of parts, round-tripping through JSON with exact bytes.

Arguments are kept as the text that the model wrote; in JSON they are one string, so that no reader can re-print a
number. The same holds for a result that is more than its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from toolwire import _core
from toolwire.contract.content_in import part_of
from toolwire.contract.content_out import block_of
from toolwire.contract.output import ToolOutput
from toolwire.contract.parts import MediaPart, Part, TextPart
from toolwire.contract.remote_output import RemoteOutput

__all__ = [
    "Message",
    "ReasoningPart",
    "Role",
    "SaidPart",
    "ToolCallPart",
    "ToolResultPart",
    "json_text",
    "messages_from_json",
    "messages_to_json",
]

Role = Literal["system", "user", "assistant", "tool"]
_ROLES = get_args(Role)


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
    """The text that answers a call, as the model reads it, and the output behind it.

    `output` is there for hosts and for models that take media: its parts and its structured value are never cut. It is
    `None` where nothing but the text came about, and two results with the same text are equal.
    """

    call_id: str
    name: str
    content: str
    is_error: bool = False
    output: ToolOutput | None = field(default=None, compare=False, repr=False)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The output's text and media in order; the text alone where there is no output."""
        if self.output is not None:
            return self.output.parts
        return (TextPart(self.content),) if self.content else ()


MessagePart = SaidPart | ReasoningPart | ToolCallPart | ToolResultPart | TextPart | MediaPart
"""Prompts of a server are made of TextParts and MediaParts, with all that the content codec keeps of them."""
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
        return "".join(part.text for part in self.parts if isinstance(part, SaidPart | TextPart))

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

    def with_marks(self, marks: Mapping[str, str]) -> Message:
        """The same turn with its calls marked as parked, or not, by `marks` alone."""
        return self.with_parts(
            replace(part, parked=marks.get(part.id, "")) if isinstance(part, ToolCallPart) else part
            for part in self.parts
        )


def messages_to_json(messages: Sequence[Message]) -> str:
    """A transcript as JSON text."""
    return json_text([_dumped(message) for message in messages])


def json_text(value: Any) -> str:
    """Compact JSON that UTF-8 can carry: half a surrogate pair stands as its escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        return json.dumps(value, separators=(",", ":"))
    return text


def _dumped(message: Message) -> dict[str, Any]:
    return {"role": message.role, "parts": [_dumped_part(part) for part in message.parts]}


def _dumped_part(part: MessagePart) -> dict[str, Any]:
    if isinstance(part, TextPart | MediaPart):
        return {"type": "content", "block": block_of(part).decode("utf-8", "surrogateescape")}
    fields: dict[str, Any] = {name: getattr(part, name) for name in type(part).__dataclass_fields__}
    if isinstance(part, ToolCallPart):
        fields["args"] = part.args.decode("utf-8", "surrogateescape")
    if isinstance(part, ToolResultPart):
        output = fields.pop("output")
        if output is not None and not _is_its_text(output, part.content):
            fields["output"] = output.raw.decode("utf-8", "surrogateescape")
    return {"type": _WORDS[type(part)], **{name: value for name, value in fields.items() if value not in ("", False)}}


def _is_its_text(output: ToolOutput, content: str) -> bool:
    """The text says everything: one text block without extras, and nothing beside it."""
    parts = output.parts
    if len(parts) != 1 or output.structured is not None or output.meta is not None:
        return False
    part = parts[0]
    plain = isinstance(part, TextPart) and part.block == "text" and part.uri is None and part.text == content
    return plain and (not part.raw or json.loads(part.raw).keys() == {"type", "text"})


def messages_from_json(text: str | bytes) -> list[Message]:
    """A transcript from the JSON text that `messages_to_json` made. Raises ValueError, naming the message."""
    messages = []
    listed = json.loads(text)
    if not isinstance(listed, list):
        raise ValueError("a transcript is a list of messages")  # noqa: TRY004 - one kind for whatever is none
    for index, message in enumerate(listed):
        try:
            if message["role"] not in _ROLES:
                raise ValueError(f"no role {message['role']!r}")
            messages.append(Message(message["role"], [_part(part) for part in message["parts"]]))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"message {index} is none: {error!r}") from None
    return messages


_EMPTY = {
    SaidPart: {"text": ""},
    ReasoningPart: {"text": ""},
    ToolCallPart: {"args": ""},
    ToolResultPart: {"content": ""},
}


def _part(fields: dict[str, Any]) -> MessagePart:
    if fields["type"] == "content":
        block = fields["block"].encode("utf-8", "surrogateescape")
        found = part_of(_core.read_result(b'{"content":[' + block + b"]}").blocks()[0])
        return TextPart("") if found is None else found
    kind = _KINDS[fields["type"]]
    values = {**_EMPTY[kind], **{name: value for name, value in fields.items() if name != "type"}}
    if kind is ToolCallPart:
        values["args"] = values["args"].encode("utf-8", "surrogateescape")
    if "output" in values:
        values["output"] = RemoteOutput(_core.read_result(values["output"].encode("utf-8", "surrogateescape")))
    part: MessagePart = kind(**values)
    return part


def without_marks(message: Message) -> Message:
    """The message without the marks of parked calls, as a model sees it."""
    return message.with_marks({}) if any(call.parked for call in message.calls) else message
