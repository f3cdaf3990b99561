"""A function's signature as a tool's input: one pydantic model, its schema, and the decoder of argument bytes.

Every parameter stands in the model under a name of ours with its own as the alias, so that no name is special
(`schema`, `copy` and `self` reach the handler like any other). Decoding is strict: a string stays a string.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticUndefined

from toolwire.contract.docstrings import parameter_descriptions
from toolwire.errors import SchemaError, quoted

__all__ = ["Signature", "UntitledSchema"]


class UntitledSchema(GenerateJsonSchema):
    """JSON Schema without the titles that pydantic makes up from names: they cost tokens and say nothing."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never: only a title that somebody wrote is kept."""
        return False


class Signature:
    """The parameters of one handler: `schema` is the input schema's bytes, `decode` makes keyword arguments of bytes.

    Raises SchemaError at construction, naming the tool and the parameter.
    """

    def __init__(self, tool: str, function: Callable[..., Any], *, strict_input: bool = False) -> None:
        self.names: list[str] = []
        self.context_parameter: str | None = None
        self.extra_parameter: str | None = None
        self._optional: dict[str, bool] = {}
        fields = self._fields(tool, function)
        if strict_input:
            extra = "forbid"
        else:
            extra = "ignore" if self.extra_parameter is None else "allow"
        config = ConfigDict(strict=True, extra=extra, allow_inf_nan=False, arbitrary_types_allowed=False)  # type: ignore[typeddict-item]  # the words above are the Literal's
        try:
            self.model: type[BaseModel] = create_model("Arguments", __config__=config, **fields)
            document = self.model.model_json_schema(by_alias=True, schema_generator=UntitledSchema)
        except (PydanticUserError, TypeError, ValueError) as error:
            raise SchemaError(f"toolwire: tool {quoted(tool)}: {self._culprit(fields)}{error}") from error
        document.pop("title", None)
        document.pop("description", None)
        document.pop("additionalProperties", None)
        if not document.get("properties"):
            document.pop("properties", None)
        self.document = {"type": "object", **document}
        self.schema = json.dumps(self.document, ensure_ascii=False, separators=(",", ":")).encode()
        self._validate = self.model.__pydantic_validator__.validate_json

    def decode(self, arguments: bytes) -> dict[str, Any]:
        """Keyword arguments of a handler from the arguments' JSON object. Raises pydantic's ValidationError."""
        instance = self._validate(arguments)
        values = dict(zip(self.names, instance.__dict__.values(), strict=True))
        if self.extra_parameter is not None and instance.__pydantic_extra__:
            values.update(instance.__pydantic_extra__)
        return values

    def admits_null(self, name: str) -> bool:
        """A parameter takes null as a value of its own."""
        return self._optional.get(name, True)

    def has_default(self, name: str) -> bool:
        """A parameter may be left out."""
        return name in self._optional

    def _fields(self, tool: str, function: Callable[..., Any]) -> dict[str, Any]:
        try:
            signature = inspect.signature(function)
            target = function if inspect.isroutine(function) else type(function).__call__
            hints = get_type_hints(inspect.unwrap(target), include_extras=True)
        except (NameError, TypeError, ValueError) as error:
            raise SchemaError(f"toolwire: tool {quoted(tool)}: its signature cannot be read: {error}") from error
        described = parameter_descriptions(inspect.getdoc(function) or "")
        fields: dict[str, Any] = {}
        for name, parameter in signature.parameters.items():
            annotation = hints.get(name, Any)
            if parameter.kind is parameter.POSITIONAL_ONLY or parameter.kind is parameter.VAR_POSITIONAL:
                raise SchemaError(
                    f"toolwire: tool {quoted(tool)}: parameter {quoted(name)} is positional, and arguments come by name"
                )
            if parameter.kind is parameter.VAR_KEYWORD:
                self.extra_parameter = name
                continue
            if is_sdk_context(annotation):
                self.context_parameter = name
                continue
            fields[f"p{len(fields)}"] = (annotation, self._field(name, annotation, parameter.default, described))
            self.names.append(name)
        return fields

    def _field(self, name: str, annotation: Any, default: Any, described: dict[str, str]) -> FieldInfo:
        own = next((part for part in getattr(annotation, "__metadata__", ()) if isinstance(part, FieldInfo)), None)
        if isinstance(default, FieldInfo):
            own, field = default, default
            default = field.default if field.default is not PydanticUndefined else inspect.Parameter.empty
        description = own.description if own is not None else None
        options: dict[str, Any] = {"alias": name}
        if description is None and name in described:
            options["description"] = described[name]
        if own is not None and own.default_factory is not None:
            self._optional[name] = _admits_null(annotation)
            return FieldInfo.merge_field_infos(own, **options)
        if default is inspect.Parameter.empty:
            default = own.default if own is not None and own.default is not PydanticUndefined else default
        if default is not inspect.Parameter.empty:
            options["default"] = default
            self._optional[name] = _admits_null(annotation)
        merged = Field(**options)
        return merged if own is None else FieldInfo.merge_field_infos(own, merged)

    def _culprit(self, fields: dict[str, Any]) -> str:
        """The first parameter that pydantic cannot make a schema for, as the start of an error text."""
        for name, (annotation, field) in zip(self.names, fields.values(), strict=True):
            try:
                create_model("One", p=(annotation, field)).model_json_schema()
            except (PydanticUserError, TypeError, ValueError):
                return f"parameter {quoted(name)}: "
        return ""


def is_sdk_context(annotation: Any) -> bool:
    """A parameter asks for the SDK's own request context. The SDK itself is not imported to find out."""
    target = get_origin(annotation) or annotation
    if target is Annotated:
        target = get_args(annotation)[0]
    return (
        isinstance(target, type)
        and target.__module__.startswith("mcp.server")
        and target.__name__ in ("Context", "ServerRequestContext")
    )


def _admits_null(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation is Any or annotation is None or type(None) in get_args(annotation)
