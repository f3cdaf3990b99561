"""A tool that asks something in the middle of a call, and the call's way on (spec many-sources 2.9, 4).

An InputRequest is raised, answered, and becomes a Continuation. Both can be saved; neither can be moved: a continuation
runs only on the binding, in the process, that asked.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any

from toolwire import _core
from toolwire.contract.invocation import Invocation, mismatch
from toolwire.errors import ToolwireError

__all__ = ["Continuation", "ContinuationBindingError", "InputAnswerError", "InputRequest", "sealed", "unsealed"]

MAX_BYTES = 1024 * 1024
"""Bytes of a prompt, a schema, a state or an answer, each."""


class ContinuationBindingError(ToolwireError):
    """A continuation that is not of this binding and this call; nothing was sent."""

    def __init__(self, name: str = "") -> None:
        text = "mcp: continuation does not match this admitted remote call"
        super().__init__(f'mcp: call tool "{name}": {text}' if name else text)


class InputAnswerError(ToolwireError):
    """An answer that the request's schema does not admit; the request can still be answered."""


class InputRequest(Exception):
    """The tool asks something. `prompt` and `response_schema` are JSON bytes for whoever answers, `state` is opaque."""

    def __init__(self, prompt: bytes, response_schema: bytes, state: bytes, invocation: Invocation) -> None:
        for what, text in (("prompt", prompt), ("response schema", response_schema), ("state", state)):
            if len(text) > MAX_BYTES:
                raise ToolwireError(f"toolwire: invalid input request: {what} of {len(text)} bytes is over 1 MiB")
        super().__init__("the tool asks for input")
        self.prompt = prompt
        self.response_schema = response_schema
        self.state = state
        self.invocation = invocation

    def answer(self, response: bytes | str) -> Continuation:
        """The call's way on, with an answer that the schema admits. Raises InputAnswerError, and may be tried again."""
        raw = response.encode("utf-8", "surrogatepass") if isinstance(response, str) else response
        if len(raw) > MAX_BYTES:
            raise InputAnswerError(f"the answer of {len(raw)} bytes is over 1 MiB")
        detail = mismatch(_core.Validator(self.response_schema), raw)
        if detail is not None:
            raise InputAnswerError(f"the answer does not match what was asked: {detail}")
        return Continuation(self.invocation.call_id, self.invocation.name, self.invocation.arguments, self.state, raw)

    def __reduce__(self) -> tuple[Any, ...]:
        # What admitted the call stays here: a copy is the request as it is saved.
        return type(self).from_json, (self.to_json(),)

    def to_json(self) -> str:
        """The request as JSON. Texts are strings, so that their bytes survive."""
        return _saved(
            call_id=self.invocation.call_id,
            name=self.invocation.name,
            arguments=self.invocation.arguments,
            prompt=self.prompt,
            response_schema=self.response_schema,
            state=self.state,
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> InputRequest:
        """The request from the JSON that `to_json` made: to be answered, and resumed while its binding lives."""
        fields = _loaded(text, "call_id", "name", "arguments", "prompt", "response_schema", "state")
        saved = Invocation(fields["call_id"].decode(), fields["name"].decode(), fields["arguments"], None)  # type: ignore[arg-type]  # a saved call has no contract: only a living binding can admit it again
        return cls(fields["prompt"], fields["response_schema"], fields["state"], saved)


@dataclass(frozen=True, slots=True)
class Continuation:
    """The same admitted call, with the state that its tool gave and a validated answer."""

    call_id: str
    name: str
    arguments: bytes
    state: bytes = field(repr=False)
    answer: bytes = field(repr=False)

    def to_json(self) -> str:
        """The continuation as JSON."""
        return _saved(
            call_id=self.call_id, name=self.name, arguments=self.arguments, state=self.state, answer=self.answer
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Continuation:
        """The continuation from the JSON that `to_json` made."""
        fields = _loaded(text, "call_id", "name", "arguments", "state", "answer")
        texts = {name: fields[name].decode() for name in ("call_id", "name")}
        return cls(**texts, arguments=fields["arguments"], state=fields["state"], answer=fields["answer"])


def _saved(**fields: bytes | str) -> str:
    texts = {
        name: value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")
        for name, value in fields.items()
    }
    return json.dumps(texts, ensure_ascii=False)


def _loaded(text: str | bytes, *names: str) -> dict[str, bytes]:
    try:
        saved = json.loads(text)
        return {name: saved[name].encode("utf-8", "surrogateescape") for name in names}
    except KeyError as error:
        raise ToolwireError(f"this is no saved input request or continuation: it has no {error}") from None
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise ToolwireError(f"this is no saved input request or continuation: {error}") from None


def sealed(key: bytes, facts: dict[str, Any]) -> bytes:
    """A state that only the holder of `key` can have made."""
    body = json.dumps(facts, ensure_ascii=True, separators=(",", ":"))
    seal = hmac.new(key, body.encode(), hashlib.sha256).hexdigest()
    return json.dumps({"body": body, "seal": seal}).encode()


def unsealed(key: bytes, state: bytes) -> dict[str, Any] | None:
    """The facts of a state that was made with `key` and not changed since; `None` for any other."""
    try:
        outer = json.loads(state)
        body, seal = outer["body"], outer["seal"]
        expected = hmac.new(key, body.encode(), hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, seal):
            return None
        facts: dict[str, Any] = json.loads(body)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return facts
