"""`@tool`: a function becomes a Tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from toolwire.contract.local_tool import from_function
from toolwire.contract.policies import Policy
from toolwire.contract.tool_object import Tool

__all__ = ["tool"]


@overload
def tool(
    function: Callable[..., Any],
    /,
    *policies: Policy,
    name: str | None = ...,
    description: str | None = ...,
    title: str | None = ...,
) -> Tool: ...
@overload
def tool(
    *policies: Policy, name: str | None = ..., description: str | None = ..., title: str | None = ...
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    *arguments: Any, name: str | None = None, description: str | None = None, title: str | None = None
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Makes a tool of a function: `@tool`, `@tool(timeout(5), name="…")`, or `tool(function)`.

    The input schema and the decoder come from the signature, the description from the docstring, the descriptions of
    parameters from `Annotated[…, Field(description=…)]` or from the docstring's sections. A function that is annotated
    to return `str` gives text; any other return type gives JSON, with an output schema. A sync function runs in a
    worker thread. Raises SchemaError, naming the tool and the parameter.
    """
    if arguments and not isinstance(arguments[0], Policy):
        return from_function(arguments[0], arguments[1:], name=name, description=description, title=title)

    def decorate(function: Callable[..., Any]) -> Tool:
        return from_function(function, arguments, name=name, description=description, title=title)

    return decorate
