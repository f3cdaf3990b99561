"""What a callable is: the function that runs in the end, its annotations, its docstring, what is bound already."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from toolwire.errors import SchemaError, quoted

__all__ = ["bound_names", "docstring_of", "eager", "hints_of", "innermost", "own_names", "sdk_context"]


def innermost(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a partial calls in the end; any other callable is its own."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def docstring_of(function: Callable[..., Any]) -> str:
    """The docstring of a callable: of an object that is called, its `__call__`'s before its class's.

    What Python makes up for a class, or what it has from a base, is nobody's word on this one.
    """
    own = innermost(function)
    if inspect.isroutine(own):
        return inspect.getdoc(own) or ""
    kind = own if inspect.isclass(own) else type(own)
    called = None if inspect.isclass(own) else kind.__call__.__doc__
    text = called or own.__doc__ or ""
    made_up = text.startswith(f"{kind.__name__}(") and (dataclasses.is_dataclass(kind) or issubclass(kind, tuple))
    return "" if made_up else inspect.cleandoc(text)


def bound_names(function: Callable[..., Any]) -> set[str]:
    """What a partial has bound by name is not the model's to give, nor to see."""
    names: set[str] = set()
    while isinstance(function, functools.partial):
        names |= function.keywords.keys()
        function = function.func
    return names


def _called(function: Callable[..., Any]) -> Any:
    """The function that runs in the end: behind partials, of a class its construction, of an object its `__call__`."""
    target: Any = innermost(function)
    if inspect.isclass(target):
        target = target.__new__ if target.__init__ is object.__init__ else target.__init__
    elif not inspect.isroutine(target):
        target = type(target).__call__
    return inspect.unwrap(target)


def own_names(function: Callable[..., Any]) -> set[str]:
    """The names of all parameters that a keyword reaches, those that are bound already among them, `self` too."""
    called = _called(function)
    try:
        parameters = inspect.signature(getattr(called, "__func__", called)).parameters
    except (TypeError, ValueError):
        return set()
    return {
        name for name, found in parameters.items() if found.kind in (found.POSITIONAL_OR_KEYWORD, found.KEYWORD_ONLY)
    }


def hints_of(tool: str, function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a callable, evaluated; of a class those of its construction. Raises SchemaError."""
    own = innermost(function)
    if inspect.isclass(own) and issubclass(own, BaseModel):
        return _fields_of(own)
    target = _called(function)
    try:
        return get_type_hints(target, include_extras=True)
    except Exception as error:
        place, cause = _unresolved(target, error)
        raise SchemaError(f"toolwire: tool {quoted(tool)}: {place} cannot be resolved: {cause}") from error


def _fields_of(model: type[BaseModel]) -> dict[str, Any]:
    """The annotations of a model's construction, under the names that it takes; a field says all of itself."""
    hints: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        taken = field.validation_alias if isinstance(field.validation_alias, str) else field.alias
        hints[name] = hints[taken or name] = Annotated[field.annotation, field]
    return hints


def eager(annotation: Any) -> Any:
    """The annotation with a list for what is only iterable: pydantic would check that as late as it is iterated."""
    origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if origin in (Iterable, Iterator, Generator):
        return types.GenericAlias(list, arguments[:1]) if arguments else list
    if origin is Annotated:
        return Annotated[(eager(arguments[0]), *arguments[1:])]
    if origin in (Union, types.UnionType):
        return Union[tuple(map(eager, arguments))]  # noqa: UP007 - made of a list, which `|` cannot take
    return annotation


def _unresolved(target: Any, error: Exception) -> tuple[str, Exception]:
    for name, annotation in getattr(target, "__annotations__", {}).items():
        alone = types.SimpleNamespace(__annotations__={name: annotation})
        try:
            get_type_hints(alone, globalns=getattr(target, "__globals__", {}))
        except Exception as own:  # noqa: BLE001 - an annotation is code of the user's, and may raise anything
            shown = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
            place = "the return type" if name == "return" else f"parameter {quoted(name)}: its type"
            return f"{place} {shown}", own
    return "its signature", error


def sdk_context(annotation: Any) -> str:
    """The SDK's own context that a parameter asks for, by its class's name. The SDK is not imported to find out."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        return next(filter(None, map(sdk_context, get_args(annotation))), "")
    kind = get_origin(annotation) or annotation
    for base in kind.__mro__ if isinstance(kind, type) else ():
        found = (base.__module__, base.__name__)
        if found in (("mcp.server.mcpserver.context", "Context"), ("mcp.server.context", "ServerRequestContext")):
            return base.__name__
    return ""
