"""Tools that run here: a Python function, or a handler of raw bytes, as a Tool. How their calls go: `local_calls`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Never, NoReturn, get_args, get_origin

from pydantic import PydanticUserError, TypeAdapter

from toolwire import _core
from toolwire.contract.callables import docstring_of, hints_of, innermost
from toolwire.contract.docstrings import summary
from toolwire.contract.local_calls import FunctionCaller, RawCaller
from toolwire.contract.output import ToolOutput
from toolwire.contract.parts import MediaPart, TextPart
from toolwire.contract.policies import Policy, Settings, applied
from toolwire.contract.schema import EMPTY, Schema
from toolwire.contract.signature import Signature, UntitledSchema, schema_text, unusable
from toolwire.contract.tool_object import Tool
from toolwire.errors import SchemaError, quoted

__all__ = ["LocalDefinition", "from_function", "raw_tool"]


@dataclass(frozen=True, slots=True)
class LocalDefinition:
    """The facts of a local tool, as a listing has them."""

    name: str
    description: str
    input_schema: bytes
    output_schema: bytes | None = None
    title: str | None = None
    annotations: bytes | None = None
    meta: bytes | None = None

    @property
    def text(self) -> bytes:
        """The listing entry: only what there is."""
        quote = _core.quote
        members = [b'"name":' + quote(self.name)]
        if self.title is not None:
            members.append(b'"title":' + quote(self.title))
        members.append(b'"description":' + quote(self.description))
        members.append(b'"inputSchema":' + self.input_schema)
        for name, value in (
            (b"outputSchema", self.output_schema),
            (b"annotations", self.annotations),
            (b"_meta", self.meta),
        ):
            if value is not None:
                members.append(b'"' + name + b'":' + value)
        return b"{" + b",".join(members) + b"}"

    def warnings(self) -> list[str]:
        """A definition of our own has none."""
        return []

    def fingerprint(self) -> str:
        """SHA-256 over the exact bytes of name, description and schema."""
        return _core.fingerprint([_core.quote(self.name), _core.quote(self.description), self.input_schema])


def raw_tool(
    name: str,
    description: str,
    schema: bytes | str | Schema | None,
    function: Callable[[bytes], str | ToolOutput | Awaitable[Any]],
    *policies: Policy,
    output_schema: bytes | str | Schema | None = None,
) -> Tool:
    """A tool over raw argument bytes. Without a schema it is `{"type":"object"}`. Raises SchemaError."""
    _check(name, function)
    parsed = EMPTY if schema is None else schema if isinstance(schema, Schema) else Schema.parse(schema)
    promised = None
    if output_schema is not None:
        promised = _promise(name, output_schema.raw if isinstance(output_schema, Schema) else output_schema)
    description = description or ""
    _check_texts(name, description)
    settings = applied(policies, Settings())
    definition = LocalDefinition(name, description, parsed.raw, promised, annotations=settings.annotations)
    return Tool(name, definition, settings, RawCaller(function))


def _check(name: str, function: Any) -> None:
    if not name:
        raise SchemaError("toolwire: Tool called with an empty name")
    if not callable(function):
        raise SchemaError(f"toolwire: Tool {quoted(name)} called with a nil handler")


def _check_texts(name: str, *texts: str | None) -> None:
    """Half of a surrogate pair in one entry would make the whole listing unsendable."""
    try:
        "".join(filter(None, (name, *texts))).encode()
    except UnicodeEncodeError:
        raise SchemaError(f"toolwire: tool {quoted(name)}: half of a surrogate pair in its texts") from None


def _promise(name: str, output_schema: bytes | str) -> bytes:
    """An output schema as it was given, once it is known to be JSON."""
    text = output_schema.encode() if isinstance(output_schema, str) else output_schema
    try:
        _core.check_output(text)
    except _core.JsonError as error:
        raise SchemaError(f"toolwire: tool {quoted(name)}: its output schema is no JSON: {error.args[0]}") from None
    return text.strip()


def from_function(
    function: Callable[..., Any],
    policies: Sequence[Policy],
    *,
    name: str | None = None,
    description: str | None = None,
    title: str | None = None,
) -> Tool:
    """A tool over a function: its name, docstring and signature, unless they are given. Raises SchemaError."""
    if not callable(function):
        raise SchemaError(f"toolwire: Tool {quoted(name or '')} called with a nil handler")
    if name is None:
        own = innermost(function)
        name = getattr(own, "__name__", "") or type(own).__name__
        if name == "<lambda>":
            raise SchemaError("toolwire: a lambda has no name: pass name=")
    _check(name, function)
    settings = applied(policies, Settings())
    signature = Signature(name, function, strict_input=settings.strict_input)
    if description is None:
        description = summary(docstring_of(function))
    _check_texts(name, description, title)
    output_schema = _output_schema(name, function)
    definition = LocalDefinition(
        name, description, signature.schema, output_schema, title=title, annotations=settings.annotations
    )
    return Tool(name, definition, settings, FunctionCaller(function, signature, output_schema is not None))


def _output_schema(name: str, function: Callable[..., Any]) -> bytes | None:
    """The schema of what a function promises to return: none for `str`, parts, `None` and no annotation."""
    own = innermost(function)
    returned = own if inspect.isclass(own) else hints_of(name, function).get("return", str)
    if get_origin(returned) in (Awaitable, Coroutine):
        returned = get_args(returned)[-1]
    plain = get_args(returned)[0] if get_origin(returned) is Annotated else returned
    if plain in (str, None, type(None), NoReturn, Never) or _is_output(plain):
        return None
    try:
        return schema_text(UntitledSchema().generate(TypeAdapter(returned).core_schema, "serialization"))
    except (PydanticUserError, TypeError, ValueError, RecursionError) as error:
        text = f"toolwire: tool {quoted(name)}: its return type: {unusable(error, returned)}"
        raise SchemaError(text) from error


def _is_output(annotation: Any) -> bool:
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return issubclass(annotation, ToolOutput | TextPart | MediaPart)
    arguments = [part for part in get_args(annotation) if part is not Ellipsis]
    return bool(arguments) and all(_is_output(part) or part is type(None) for part in arguments)
