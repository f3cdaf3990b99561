"""Input rounds: a remote tool that asks a person something in the middle of a call (spec many-sources 4, SEP-2322).

One negotiated form becomes an InputRequest; everything else is the "requires further input" error, and unfinished
content is never shown. The state that goes out with a request is sealed: only the process that made it takes it back.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolwire import _core
from toolwire.contract.input_round import (
    MAX_BYTES,
    Continuation,
    ContinuationBindingError,
    InputAnswerError,
    InputRequest,
    sealed,
    unsealed,
)
from toolwire.contract.invocation import Invocation, mismatch
from toolwire.errors import IncompleteResultError, RemoteCallError, ToolwireError, quoted

__all__ = ["MAX_ROUNDS", "Round", "incomplete", "input_request", "resumed"]

MAX_ROUNDS = 10
"""Rounds of one call, as the SDK's own driver has it: a server that asks on and on is broken."""

_KEY = secrets.token_bytes(32)
"""Of this process: a state from another one never fits."""


@dataclass(frozen=True, slots=True)
class Round:
    """What a continued call sends beside its arguments, and which round it is."""

    params: bytes = b""
    number: int = 0


def incomplete(remote: str, raw: bytes) -> RemoteCallError:
    """The error of a result that asks for what cannot be given."""
    cause = IncompleteResultError()
    return RemoteCallError(f"call tool {quoted(remote)}: {cause}", raw=raw, error=cause)


def input_request(
    result: bytes,
    invocation: Invocation,
    *,
    source: str,
    remote: str,
    binding: str,
    negotiated: bool,
    round_number: int,
) -> InputRequest:
    """The request in an `input_required` result. Raises RemoteCallError where it can't be one (4.3)."""
    try:
        members = _core.members(result)
        requests = _core.members(members.get("inputRequests", b"{}"))
        if len(requests) != 1 or not negotiated:
            raise ValueError
        ((key, raw),) = requests.items()
        asked = _core.members(raw)
        params = _core.members(asked.get("params", b"{}"))
        if json.loads(asked["method"]) != "elicitation/create" or not _is_form(params):
            raise ValueError
        form = params.get("requestedSchema")
        if form is not None:
            _core.Validator(form)
            _core.parse_schema(form)
    except (ValueError, KeyError, TypeError):
        failure = incomplete(remote, result)
        raise failure from failure.cause
    if round_number >= MAX_ROUNDS:
        raise RemoteCallError(
            f"call tool {quoted(remote)}: the server asked for input more than {MAX_ROUNDS} times", raw=result
        )
    state = members.get("requestState")
    if state == b"null":
        state = None
    facts = {
        "binding": binding,
        "remote": remote,
        "arguments": hashlib.sha256(invocation.arguments).hexdigest(),
        "key": key,
        "state": None if state is None else state.decode("utf-8", "surrogateescape"),
        "round": round_number + 1,
        "form": None if form is None else form.decode("utf-8", "surrogateescape"),
    }
    seal = sealed(_KEY, facts)
    if len(seal) > MAX_BYTES:
        raise RemoteCallError(
            f"call tool {quoted(remote)}: the server's state of {len(seal)} bytes is over 1 MiB", raw=result
        )
    try:
        return InputRequest(_prompt(params, source, remote), _response_schema(form), seal, invocation)
    except ToolwireError:
        # A prompt or a form that is too large: one more result that cannot become a request.
        failure = incomplete(remote, result)
        raise failure from failure.cause


def _is_form(params: Mapping[str, bytes]) -> bool:
    mode = params.get("mode")
    if mode is not None and mode != b"null":
        return bool(json.loads(mode) == "form")
    return "url" not in params and "elicitationId" not in params


def _prompt(params: Mapping[str, bytes], source: str, remote: str) -> bytes:
    members = {
        "message": params.get("message", b'""'),
        **{name: params[name] for name in ("requestedSchema", "_meta") if name in params},
        "source": _core.quote(source),
        "tool": _core.quote(remote),
    }
    return b"{" + b",".join(_core.quote(name) + b":" + value for name, value in members.items()) + b"}"


def _response_schema(form: bytes | None) -> bytes:
    """The answer to a form, closed: accepted with valid content, or declined or cancelled without any."""
    content = _self_contained(form or b'{"type":"object"}')
    return (
        b'{"oneOf":[{"type":"object","properties":{"action":{"const":"accept"},"content":' + content + b"},"
        b'"required":["action","content"],"additionalProperties":false},'
        b'{"type":"object","properties":{"action":{"enum":["decline","cancel"]}},'
        b'"required":["action"],"additionalProperties":false}]}'
    )


def _self_contained(form: bytes) -> bytes:
    """A form whose references mean its own root, though it stands inside another schema."""
    root = _core.members(form)
    if "$id" in root or (b"$ref" not in form and "$schema" not in root):
        return form
    return b'{"$id":"urn:toolwire:form",' + form.lstrip()[1:]


def resumed(continuation: Continuation, *, remote: str, binding: str) -> Round:
    """What a continuation sends. Raises ContinuationBindingError for one that is not of this binding and this call."""
    facts: dict[str, Any] | None = unsealed(_KEY, continuation.state)
    digest = hashlib.sha256(continuation.arguments).hexdigest()
    if facts is None or (facts["binding"], facts["remote"], facts["arguments"]) != (binding, remote, digest):
        raise ContinuationBindingError(remote)
    form = facts["form"]
    schema = _response_schema(None if form is None else form.encode("utf-8", "surrogateescape"))
    # It was checked when it was given; since then it may have been in anybody's file.
    detail = mismatch(_core.Validator(schema), continuation.answer)
    if detail is not None:
        raise InputAnswerError(f"the answer does not match what was asked: {detail}")
    params = b',"inputResponses":{' + _core.quote(facts["key"]) + b":" + continuation.answer + b"}"
    if facts["state"] is not None:
        params += b',"requestState":' + facts["state"].encode("utf-8", "surrogateescape")
    return Round(params, facts["round"])
