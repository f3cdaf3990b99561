"""A typed end of a run: the model has to call `submit_output` (spec one-session 2.10)."""

from __future__ import annotations

import inspect
import json
from typing import Any

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from toolwire.agent.result import RunResult
from toolwire.contract.arguments import refused_input
from toolwire.contract.decoding import decode
from toolwire.contract.local_tool import LocalDefinition
from toolwire.contract.output import ToolOutput
from toolwire.contract.policies import Settings
from toolwire.contract.signature import Signature
from toolwire.contract.tool_object import Tool
from toolwire.errors import SchemaError, ToolwireError

__all__ = ["OutputSubmitted", "output_of", "submit_output", "submitted"]

NAME = "submit_output"
DESCRIPTION = "Submit your final answer. Call this exactly once, when you are done: the run ends with it."


class _Submission:
    """Takes a submission when it is one of the type; the bytes stand in the transcript."""

    needs_sdk_context = False

    def __init__(self, signature: Signature, adapter: TypeAdapter[Any]) -> None:
        self._signature = signature
        self._adapter = adapter

    async def call(self, tool: Tool, arguments: bytes | str) -> ToolOutput:
        raw = arguments.encode() if isinstance(arguments, str) else arguments
        if raw.strip() and raw.strip() != b"null":
            named = decode(self._signature, raw)
            if isinstance(named, str):
                raise refused_input(tool.name, named)
            try:
                self._adapter.validate_json(raw)
            except ValidationError as error:
                raise refused_input(tool.name, str(error.errors()[0]["msg"])) from None
        return ToolOutput("recorded")


def submit_output(kind: type[Any]) -> Tool:
    """The tool by which a model submits a value of `kind`, a type with fields. Raises SchemaError."""
    try:
        adapter = TypeAdapter(kind)
        signature = Signature(NAME, _as_function(kind))
    except (PydanticUserError, TypeError, ValueError) as error:
        raise SchemaError(f"toolwire: the output type {kind!r} is no type with fields: {error}") from error
    definition = LocalDefinition(NAME, DESCRIPTION, signature.schema)
    return Tool(NAME, definition, Settings(), _Submission(signature, adapter))


def _as_function(kind: type[Any]) -> Any:
    """The fields of a type as the parameters of a function."""
    schema = TypeAdapter(kind).json_schema()
    if schema.get("type") != "object" and "$ref" not in schema:
        raise TypeError("its schema is no object")
    hints = inspect.get_annotations(kind, eval_str=True)
    for base in reversed(kind.__mro__[:-1]):
        hints = {**inspect.get_annotations(base, eval_str=True), **hints}
    fields = getattr(kind, "model_fields", None)
    names = list(fields) if fields is not None else [name for name in hints if not name.startswith("_")]
    parameters = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, annotation=hints[name], default=_default(kind, fields, name)
        )
        for name in names
    ]

    def submit(**_: Any) -> str:
        return "recorded"

    submit.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # how a function is given one
    submit.__annotations__ = {name: hints[name] for name in names}
    return submit


def _default(kind: type[Any], fields: Any, name: str) -> Any:
    if fields is not None:
        field = fields[name]
        return inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
    return getattr(kind, name, inspect.Parameter.empty)


class OutputSubmitted:
    """The stop condition of an agent with an output type."""

    name = "output_submitted"

    def __call__(self, result: RunResult) -> bool:
        """The last step took a submission."""
        return bool(result.steps) and _in(result.steps[-1].results) is not None


def _in(message: Any) -> str | None:
    if message is None:
        return None
    return next((part.call_id for part in message.results if part.name == NAME and not part.is_error), None)


def submitted(result: RunResult) -> bytes | None:
    """The newest valid submission's argument bytes; empty bytes are a submission; `None` when there is none."""
    for index in range(len(result.messages) - 1, 0, -1):
        call_id = _in(result.messages[index]) if result.messages[index].role == "tool" else None
        if call_id is not None:
            calls = result.messages[index - 1].calls
            return next((call.args for call in calls if call.id == call_id), None)
    return None


def output_of(result: RunResult, kind: type[Any]) -> Any:
    """The submission as a value of `kind`. Raises ToolwireError when nothing was submitted."""
    raw = submitted(result)
    if raw is None:
        raise ToolwireError("toolwire: run ended without a structured output")
    return TypeAdapter(kind).validate_json(raw or json.dumps({}))
