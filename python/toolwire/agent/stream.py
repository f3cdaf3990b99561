"""One model call: the request goes out, the stream comes back under its contract (spec one-session 2.12)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import anyio

from toolwire.agent.model import (
    CallEvent,
    Finish,
    FinishReason,
    Model,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    Usage,
    model_requests_denied,
)
from toolwire.contract.local_calls import text_of
from toolwire.contract.message import Message, MessagePart, ReasoningPart, SaidPart, ToolCallPart
from toolwire.errors import ToolwireError
from toolwire.loops import goes_on

__all__ = ["Answer", "ModelError", "ask"]


class ModelError(ToolwireError):
    """The model's stream failed or broke its contract."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered: one assistant message, how it ended, what it used."""

    message: Message
    reason: FinishReason
    usage: Usage


async def ask(model: Model, request: ModelRequest, tell: Callable[[str, str], None] | None) -> Answer:
    """One answer. `tell(kind, text)` hears each delta. Raises ModelError."""
    if model_requests_denied(model):
        raise ModelError("model stream: TOOLWIRE_MODEL_REQUESTS=deny refuses every model that is not scripted")
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCallPart] = []
    ids: set[str] = set()
    finish: Finish | None = None
    stream: object = None
    ended = False
    try:
        stream = model.stream(request)
        async for event in stream:
            if finish is not None:
                raise _breach("an event after finish" if not isinstance(event, Finish) else "two finishes")
            match event:
                case TextDelta(text):
                    texts.append(text)
                    if tell is not None:
                        tell("text_delta", text)
                case ReasoningDelta(text):
                    thoughts.append(text)
                    if tell is not None:
                        tell("reasoning_delta", text)
                case CallEvent(id=call_id, name=name, args=args):
                    _check_call(call_id, name, args)
                    if call_id in ids:
                        raise _breach(f"the call id {call_id!r} twice in one step")
                    ids.add(call_id)
                    calls.append(ToolCallPart(call_id, name, _raw(args)))
                case Finish():
                    finish = event
                case _:
                    raise _breach(f"an event of an unknown kind {type(event).__name__}")
        ended = True
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"model stream: {text_of(error)}") from error
    except BaseException as error:
        if goes_on(error):
            raise
        raise _breach(f"panic: {text_of(error)}") from error
    finally:
        # A generator that is left early still holds the provider's connection.
        close = None if ended else getattr(stream, "aclose", None)
        if close is not None:
            with anyio.CancelScope(shield=True):
                await close()
    if finish is None:
        raise _breach("no finish")
    parts: list[MessagePart] = []
    if thoughts:
        parts.append(ReasoningPart("".join(thoughts)))
    if any(texts):
        parts.append(SaidPart("".join(texts)))
    return Answer(Message("assistant", [*parts, *calls]), finish.reason, finish.usage)


def _breach(what: str) -> ModelError:
    return ModelError(f"toolwire: model violated the stream contract: {what}")


def _check_call(call_id: object, name: object, args: object) -> None:
    for word, value in (("id", call_id), ("name", name)):
        if not value:
            raise _breach(f"a call without {'an id' if word == 'id' else 'a name'}")
        if not isinstance(value, str):
            raise _breach(f"a call's {word} is {type(value).__name__}, not str")
    if not isinstance(args, bytes | str):
        raise _breach(f"a call's arguments are {type(args).__name__}, not bytes or str")


def _raw(args: bytes | str) -> bytes:
    """A model's arguments as bytes: providers' clients hand them out as text, too."""
    return args.encode("utf-8", "surrogatepass") if isinstance(args, str) else args
