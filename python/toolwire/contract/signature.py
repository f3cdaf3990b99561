"""A function's signature as a tool's input: one pydantic model, its schema, and the decoder of argument bytes.

Every parameter stands in the model under a name of ours with its own as the alias, so that no name is special
(`schema`, `copy` and `self` reach the handler like any other). Decoding is strict at every depth: strings stay strings.
"""

from __future__ import annotations

import inspect
import json
import math
import re
import types
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticUndefined

from toolwire.contract.advertised import DECIMAL, admits_anything, resolved
from toolwire.contract.callables import bound_names, docstring_of, eager, hints_of, own_names, sdk_context
from toolwire.contract.docstrings import parameter_descriptions
from toolwire.contract.lookalikes import has_lookalikes
from toolwire.contract.numbers import maybe_beyond_floats, quoted_decimals
from toolwire.errors import SchemaError, quoted

__all__ = ["Signature", "StrayMember", "UntitledSchema", "schema_text", "unusable"]


_EXTRA = "__pydantic_extra__"
"""The name under which pydantic takes the type of members that no field has."""


class UntitledSchema(GenerateJsonSchema):
    """JSON Schema without the titles that pydantic makes up from names: they cost tokens and say nothing."""

    # A default that is no JSON is the handler's own affair.
    ignored_warning_kinds = GenerateJsonSchema.ignored_warning_kinds | {"non-serializable-default"}
    has_decimals = False

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's own signature
        """Never: only a title that somebody wrote is kept."""
        return False

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        """A decimal's schema, marked: its numbers must not become floats on the way."""
        self.has_decimals = True
        return {**super().decimal_schema(schema), DECIMAL: True}

    def generate(self, schema: Any, mode: Any = "validation") -> dict[str, Any]:
        """The document without the names of classes as titles."""
        document = super().generate(schema, mode)
        if document.keys() == {"$ref", "$defs"}:
            # A recursive type: what its root is has to stand at the root, or no era before 2026-07-28 can carry it.
            document = {**resolved(document, document), "$defs": document["$defs"]}
        document.pop("title", None)
        for name, definition in document.get("$defs", {}).items():
            if re.sub(r"\W", "_", str(definition.get("title", ""))) == name:
                del definition["title"]
        return document


class StrayMember(Exception):
    """A member that no field takes and that would come to a parameter of its name unchecked."""


class Signature:
    """The parameters of one handler: `schema` is the input schema's bytes, `decode` makes keyword arguments of bytes.

    Raises SchemaError at construction, naming the tool and the parameter.
    """

    def __init__(self, tool: str, function: Callable[..., Any], *, strict_input: bool = False) -> None:
        self.names: list[str] = []
        """The parameters, in the order of the model's fields."""
        self.context_parameter: str | None = None
        """The parameter that takes the SDK's own context, which no client can give."""
        self.context_kind = ""
        self.extra_parameter: str | None = None
        self._members: list[str] = []
        self._defaulted: set[str] = set()
        self._taken: set[str] = set()
        """Names of parameters: what comes under one of them as a further member is not what was checked."""
        fields = dict(self._fields(tool, function))
        generator = UntitledSchema()
        extra = "forbid" if strict_input else "allow" if self._takes_more() else "ignore"
        config = ConfigDict(strict=True, extra=extra, allow_inf_nan=False)  # type: ignore[typeddict-item]  # the words above are the Literal's
        try:
            self.model: type[BaseModel] = create_model("Arguments", __config__=config, **fields)
            document = generator.generate(self.model.__pydantic_core_schema__)
            document.pop("description", None)
            if not (isinstance(document.get("additionalProperties"), dict) and extra == "allow"):
                document.pop("additionalProperties", None)
            if not document.get("properties"):
                document.pop("properties", None)
            self.marked = {"type": "object", **document}
            """The advertised document, with the places of decimals marked."""
            self.schema = schema_text(self.marked)
        except (PydanticUserError, TypeError, ValueError, RecursionError) as error:
            raise SchemaError(f"toolwire: tool {quoted(tool)}: {self._culprit(fields, error)}") from error
        self.has_decimals = generator.has_decimals
        self.has_lookalikes = has_lookalikes(document)
        numbers = b'"number"' in schema_text({"$defs": document.get("$defs", {})})
        self.may_lose_numbers = numbers or self._takes_more() or admits_anything(document)
        """A float may stand where nothing refuses infinity: in a model of the user's, or where anything may stand."""
        self._validate = self.model.__pydantic_validator__.validate_json
        # At every depth; a model that says itself that it takes more is advertised so, and stays the judge.
        self._extra: Literal["forbid"] | None = "forbid" if strict_input and not _open_models(document) else None

    def decode(self, arguments: bytes) -> dict[str, Any]:
        """Keyword arguments of a handler from the arguments' JSON object.

        Raises pydantic's ValidationError, and StrayMember.
        """
        if self.has_decimals:
            arguments = quoted_decimals(self.marked, arguments)
        instance = self._validate(arguments, strict=True, extra=self._extra)
        values = dict(zip(self.names, instance.__dict__.values(), strict=True))
        if self.extra_parameter is not None and instance.__pydantic_extra__:
            for name in instance.__pydantic_extra__:
                if name in self._taken:
                    raise StrayMember(name)
            values.update(instance.__pydantic_extra__)
        return values

    def may_hold_infinity(self, arguments: bytes) -> bool:
        """A number beyond Python's floats may have been read as infinity."""
        return self.may_lose_numbers and maybe_beyond_floats(arguments)

    def has_default(self, member: str) -> bool:
        """A member of the arguments may be left out."""
        return member in self._defaulted

    def _takes_more(self) -> bool:
        return self.extra_parameter is not None

    def _fields(self, tool: str, function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError) as error:
            raise SchemaError(f"toolwire: tool {quoted(tool)}: its signature cannot be read: {error}") from error
        hints = hints_of(tool, function)
        described = parameter_descriptions(docstring_of(function))
        bound = bound_names(function)
        self._taken = own_names(function) | signature.parameters.keys()
        for name, parameter in signature.parameters.items():
            annotation = hints.get(name, Any)
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                raise SchemaError(
                    f"toolwire: tool {quoted(tool)}: parameter {quoted(name)} is positional, and arguments come by name"
                )
            if name in bound:
                continue
            if parameter.kind is parameter.VAR_KEYWORD:
                self._taken.discard(name)
                self.extra_parameter = name
                if annotation is not Any:
                    yield _EXTRA, types.GenericAlias(dict, (str, annotation))
            elif kind := sdk_context(annotation):
                self.context_parameter, self.context_kind = name, kind
            else:
                try:
                    field = self._field(name, eager(annotation), parameter.default, described)
                except SchemaError as error:
                    raise SchemaError(f"toolwire: tool {quoted(tool)}: {error}") from None
                member = self._members[-1]
                if member in self._members[:-1]:
                    raise SchemaError(f"toolwire: tool {quoted(tool)}: two fields with the JSON name {quoted(member)}")
                yield f"p{len(self.names)}", field
                self.names.append(name)

    def _field(self, name: str, annotation: Any, default: Any, described: dict[str, str]) -> tuple[Any, FieldInfo]:
        """A parameter's field. pydantic merges what `Annotated` says with what is said here."""
        if isinstance(default, FieldInfo):
            annotation, default = Annotated[annotation, default], inspect.Parameter.empty
        own = [part for part in getattr(annotation, "__metadata__", ()) if isinstance(part, FieldInfo)]
        options: dict[str, Any] = {}
        alias = next((part.validation_alias for part in reversed(own) if part.validation_alias is not None), None)
        if alias is None:
            options["alias"] = alias = name
        names = [alias] if isinstance(alias, str) else getattr(alias, "choices", ())
        spellings = [found for found in names if isinstance(found, str)]
        if not spellings:
            raise SchemaError(f"parameter {quoted(name)}: its alias is a path, which no schema can name")
        self._members.append(spellings[0])
        told = described.get(name) or described.get(self._members[-1])
        if told and not any(part.description for part in own):
            options["description"] = told
        of_model = any(part.annotation is not None and not part.is_required() for part in own)
        if default is not inspect.Parameter.empty and not of_model:
            options["default"] = default
        if "default" in options or any(
            part.default is not PydanticUndefined or part.default_factory is not None for part in own
        ):
            self._defaulted.update(spellings)
        return annotation, Field(**options)

    def _culprit(self, fields: dict[str, Any], error: Exception) -> str:
        """The first parameter that has no schema by itself, and why."""
        parameters = [self.extra_parameter if name == _EXTRA else self.names[int(name[1:])] for name in fields]
        for parameter, (name, field) in zip(parameters, fields.items(), strict=True):
            try:
                alone: Any = create_model("One", __config__=ConfigDict(extra="allow"), **{name: field})
                schema_text(UntitledSchema().generate(alone.__pydantic_core_schema__))
            except (PydanticUserError, TypeError, ValueError, RecursionError) as own:
                annotation = field[0] if isinstance(field, tuple) else get_args(field)[1]
                return f"parameter {quoted(str(parameter))}: {unusable(own, annotation)}"
        return unusable(error, None)


def schema_text(document: dict[str, Any]) -> bytes:
    """A schema as JSON. A default that JSON cannot say is left out. Raises ValueError for anything else of the kind."""

    def clean(node: Any) -> Any:
        if isinstance(node, dict):
            return {
                name: clean(value)
                for name, value in node.items()
                if name != DECIMAL and not (name == "default" and isinstance(value, float) and not math.isfinite(value))
            }
        return [clean(value) for value in node] if isinstance(node, list) else node

    return json.dumps(clean(document), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def unusable(error: Exception, annotation: Any) -> str:
    """Why a type has no schema, in one line."""
    if isinstance(error, PydanticSchemaGenerationError | PydanticInvalidForJsonSchema) and annotation is not None:
        return f"no JSON schema can be made of {inspect.formatannotation(annotation)}"
    text = error.message if isinstance(error, PydanticUserError) else str(error) or type(error).__name__
    return text.split("\n", 1)[0]


def _open_models(document: dict[str, Any]) -> bool:
    """A model of the user's takes members that it does not name."""
    models = document.get("$defs", {}).values()
    return any("properties" in model and model.get("additionalProperties", False) is not False for model in models)
