"""What a model is to a run: a request with messages and tools goes in, a stream of events comes back.

A model for any provider is a class with `provider`, `name` and `stream(request)`, an async generator:

    class MyModel:
        provider, name = "acme", "large-1"

        async def stream(self, request):
            body = {"model": self.name, "system": request.system, "messages": …,
                    "tools": [{"name": tool.name, "description": tool.description,
                               "input_schema": orjson.Fragment(tool.schema)} for tool in request.tools]}
            async for chunk in my_client.post(orjson.dumps(body)):
                yield TextDelta(chunk.text)
            yield CallEvent("call_1", "search", b'{"q": 1.50}')      # the model's own argument bytes
            yield Finish("tool_calls", Usage(10, 5))

The stream contract, which the run enforces: any number of deltas and calls, then exactly one Finish, then nothing;
every call has an id and a name, and no id twice in one step. What `stream` raises ends the run as `model stream: …`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from toolwire.contract.message import Message

__all__ = [
    "CallEvent",
    "Finish",
    "FinishReason",
    "Model",
    "ModelEvent",
    "ModelRequest",
    "ModelTool",
    "ReasoningDelta",
    "TextDelta",
    "Usage",
    "model_requests_denied",
]

FinishReason = Literal["stop", "tool_calls", "max_tokens"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens in and out."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)


@dataclass(frozen=True, slots=True)
class ModelTool:
    """A tool as a provider needs it; `schema` is raw JSON, to be pasted into the body as it is."""

    name: str
    description: str
    schema: bytes


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request. `sequential_tools` hints that one call at a time is wanted; `options` are the provider's own."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[ModelTool]
    sequential_tools: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class CallEvent:
    """A whole call; `args` are the model's bytes."""

    id: str
    name: str
    args: bytes


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of the stream."""

    reason: FinishReason
    usage: Usage = Usage()


ModelEvent = TextDelta | ReasoningDelta | CallEvent | Finish


class Model(Protocol):
    """A model of any provider. A model that reaches no network says so with `scripted = True`."""

    @property
    def provider(self) -> str:
        """Who runs the model."""
        ...

    @property
    def name(self) -> str:
        """The model's own name."""
        ...

    def stream(self, request: ModelRequest, /) -> AsyncIterator[ModelEvent]:
        """One answer, as it comes."""
        ...


def model_requests_denied(model: Model) -> bool:
    """`TOOLWIRE_MODEL_REQUESTS=deny` refuses every model that is not scripted; tool calls are no model requests."""
    return os.environ.get("TOOLWIRE_MODEL_REQUESTS") == "deny" and not getattr(model, "scripted", False)
