"""Contracts and invocations: what was checked is what is sent (spec many-sources 2.3).

A contract is a tool's frozen definition without its executable. It turns a model's call into an invocation, which only
the binding of that contract will run.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from toolwire import _core
from toolwire.contract.arguments import encoded
from toolwire.errors import ToolFailure, ToolwireError, quoted

__all__ = [
    "Contract",
    "InputRejected",
    "InputValidationDefect",
    "InvalidInvocation",
    "InvalidTool",
    "Invocation",
    "checked_definition",
]

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HALF = re.compile("[\ud800-\udfff]")
_NO_JSON = "toolwire: value must be one valid RFC 7493 JSON document"
MAX_NAME = 1024
"""Bytes of a definition's name: public names are two escaped path segments, so a provider's 64 would be too few."""


class InvalidTool(ToolwireError):
    """A tool that cannot be bound; reads `toolwire: invalid tool: …`."""


class InvalidInvocation(ToolwireError):
    """A call that is not admitted; reads `toolwire: invalid invocation: …` and is for the model."""


class InputRejected(ToolwireError):
    """Raised by a tool's own input validator to refuse arguments. ValueError does the same."""


class InputValidationDefect(InvalidInvocation):
    """A validator failed in a way that is no refusal: a defect of the host, not of the input."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """One admitted call: exact argument bytes, validated. Only `Contract.prepare` makes one that a binding takes."""

    call_id: str
    name: str
    arguments: bytes
    contract: Contract = field(repr=False)


def mismatch(validator: _core.Validator, instance: bytes) -> str | None:
    """Why a value does not match, or is no JSON that anybody could match; `None` when it does."""
    try:
        detail = validator.check(instance)
    except ValueError as error:
        return f"{_NO_JSON}: {error.args[0]}"
    return None if detail is None else f"toolwire: validate value: {detail}"


def checked_name(name: str) -> None:
    """Raises ToolwireError for what can be no name of a definition."""
    base = "toolwire: invalid tool definition: "
    if not name:
        raise ToolwireError(base + "name must not be empty")
    if len(name) <= MAX_NAME and name.isascii() and name.isprintable():
        return
    if len(name.encode("utf-8", "surrogatepass")) > MAX_NAME or _CONTROL.search(name):
        raise ToolwireError(base + f"name must have no control characters and at most {MAX_NAME} bytes")
    if _HALF.search(name):
        raise ToolwireError(base + "name must be valid Unicode")


def checked_definition(name: str, schema: bytes | None) -> None:
    """Raises ToolwireError for what can be no definition of a tool (many-sources 1.6, 2.1)."""
    base = "toolwire: invalid tool definition: "
    checked_name(name)
    if schema is None or not schema.strip():
        raise ToolwireError(base + "missing input schema")
    try:
        _core.parse_schema(schema)
    except _core.JsonError as error:
        word = (
            'input schema type must be "object"'
            if "top-level type" in error.args[0]
            else "input schema must be a JSON object"
        )
        raise ToolwireError(base + word) from None


class Contract:
    """A tool's name, description and schema, compiled when first needed, and its own validator.

    `prepare` never runs the tool. Safe to share between tasks.
    """

    __slots__ = ("_compiled", "_validator", "description", "input_schema", "name")

    def __init__(
        self, name: str, description: str, input_schema: bytes, validator: Callable[[bytes], object] | None = None
    ) -> None:
        self.name = name
        self.description = description
        self.input_schema = input_schema
        self._validator = validator
        self._compiled: _core.Validator | None = None

    def compile(self) -> _core.Validator:
        """The compiled input schema. Raises InvalidTool, naming the tool."""
        if self._compiled is None:
            try:
                self._compiled = _core.Validator(self.input_schema)
            except ValueError as error:
                raise InvalidTool(
                    f"toolwire: invalid tool: input schema: tool {quoted(self.name)}: {error.args[0]}"
                ) from None
        return self._compiled

    def prepare(self, args: Any, *, call_id: str, name: str | None = None) -> Invocation:
        """An admitted invocation of a model's call. Raises InvalidInvocation; the bytes are kept as they are."""
        base = "toolwire: invalid invocation: "
        if not call_id:
            raise InvalidInvocation(base + "toolwire: invalid tool call: ID must not be empty")
        if name == "":
            raise InvalidInvocation(base + "toolwire: invalid tool call: name must not be empty")
        if name is not None and name != self.name:
            raise InvalidInvocation(base + f"call name {quoted(name)} does not match bound tool {quoted(self.name)}")
        try:
            given = encoded(self.name, args)
        except ToolFailure as failure:
            problem = str(failure).partition(": tool ")[2].partition(": ")[2]
            raise InvalidInvocation(f"{base}arguments: {problem}") from None
        raw = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else given
        try:
            checked = _core.check_arguments(raw)
        except _core.JsonError as error:
            what = "toolwire: validate value" if error.args[1] == "not_an_object" else _NO_JSON
            raise InvalidInvocation(f"{base}arguments: {what}: {error.args[0]}") from None
        # What a model pads is kept, for policies and for what is written; blank and null are `{}`.
        exact = raw if checked != b"{}" else checked
        detail = mismatch(self.compile(), exact)
        if detail is not None:
            raise InvalidInvocation(f"{base}arguments: {detail}")
        if self._validator is not None:
            _run(self._validator, exact)
        return Invocation(call_id, self.name, exact, self)


def judge(validator: Callable[[bytes], object], arguments: bytes) -> None:
    """Asks a validator. An error that it returns is raised, and so is what it raises."""
    verdict = validator(arguments)
    if isinstance(verdict, Exception):
        raise verdict
    if inspect.iscoroutine(verdict):
        verdict.close()
        raise TypeError("its verdict is a coroutine, which nobody would await")


def _run(validator: Callable[[bytes], object], arguments: bytes) -> None:
    try:
        judge(validator, arguments)
    except (InputRejected, ValueError) as error:
        raise InvalidInvocation(f"toolwire: invalid invocation: arguments: {error}") from None
    except Exception as error:
        text = f"toolwire: invalid invocation: toolwire: input validation panicked: {error}"
        raise InputValidationDefect(text) from error
