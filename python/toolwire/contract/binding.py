"""Binding: a tool's definition read once and frozen, with the one who runs its admitted calls (spec many-sources 2.3).

A tool is a `Tool`, or any object with `definition()` and `call(invocation)`, and `unwrap()` where it wraps another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, Protocol

from toolwire.contract.input_round import Continuation
from toolwire.contract.invocation import Contract, InvalidInvocation, InvalidTool, Invocation, checked_definition
from toolwire.contract.output import ToolOutput
from toolwire.errors import ToolwireError, quoted

__all__ = ["Bindable", "Binding", "Registry", "bind", "capability", "mcp_identity"]

MAX_WRAPPERS = 64
"""Wrappers around one tool: more is a cycle or a mistake."""


class Bindable(Protocol):
    """A tool of anybody's. `definition()` gives name, description and input schema (JSON bytes, text or a mapping)."""

    def definition(self) -> Any:
        """Name, description and input schema."""

    async def call(self, invocation: Any, /) -> ToolOutput:
        """Run an admitted call."""


class Binding:
    """A bound tool: `.contract`, and `.call` for its invocations and continuations alone."""

    __slots__ = ("_call", "contract", "tool")

    def __init__(self, tool: Any, contract: Contract, call: Callable[[Any], Any]) -> None:
        self.tool = tool
        self.contract = contract
        self._call = call

    async def call(self, admitted: Invocation | Continuation) -> ToolOutput:
        """Runs an admitted call. Raises InvalidInvocation for one that another binding admitted."""
        if isinstance(admitted, Invocation) and admitted.contract is not self.contract:
            raise InvalidInvocation("toolwire: invalid invocation: invocation does not belong to binding")
        output: ToolOutput = await self._call(admitted)
        return output

    def __repr__(self) -> str:
        return f"Binding({self.contract.name!r})"


def bind(tool: Any) -> Binding:
    """Admits a tool: its definition is read once, its schema compiled. Raises InvalidTool."""
    if tool is None:
        raise InvalidTool("toolwire: invalid tool: tool is nil")
    if isinstance(tool, Binding):
        return tool
    owned = getattr(tool, "binding", None)
    if isinstance(owned, Binding):
        owned.contract.compile()
        return owned
    try:
        name, description, schema = _facts(tool.definition())
        checked_definition(name, schema)
    except Exception as error:
        raise InvalidTool(f"toolwire: invalid tool: definition: {error}") from error
    try:
        validator = capability(tool, "validate_input")
    except ToolwireError:
        raise
    except Exception as error:
        raise InvalidTool(f"toolwire: invalid tool: input validation: {error}") from error
    contract = Contract(name, description, schema, validator)
    contract.compile()
    return Binding(tool, contract, tool.call)


def _facts(definition: Any) -> tuple[str, str, bytes]:
    def part(name: str) -> Any:
        return definition.get(name) if isinstance(definition, dict) else getattr(definition, name, None)

    schema = part("input_schema")
    if isinstance(schema, str):
        schema = schema.encode()
    elif schema is not None and not isinstance(schema, bytes):
        raw = getattr(schema, "raw", None)
        schema = (
            raw if isinstance(raw, bytes) else json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode()
        )
    return str(part("name") or ""), str(part("description") or ""), schema


def wrappers(tool: Any) -> Iterator[Any]:
    """The tool and what it wraps, outermost first. Raises InvalidTool for a chain without an end."""
    seen = 0
    while tool is not None:
        yield tool
        unwrap = getattr(tool, "unwrap", None)
        tool = unwrap() if callable(unwrap) else None
        seen += 1
        if seen > MAX_WRAPPERS and tool is not None:
            raise InvalidTool(f"toolwire: invalid wrapping chain: more than {MAX_WRAPPERS} wrappers")


def capability(tool: Any, name: str) -> Any:
    """An optional method of a tool, or of what it wraps; the outermost wins, `None` where none has it."""
    for layer in wrappers(tool):
        found = getattr(layer, name, None)
        if found is not None:
            return found
    return None


def mcp_identity(tool: Any) -> tuple[str, str] | None:
    """The raw source and remote name of a discovered tool, through whatever wraps it; `None` for any other tool."""
    found = capability(tool.tool if isinstance(tool, Binding) else tool, "mcp_identity")
    pair: tuple[str, str] | None = found() if callable(found) else found
    return pair


class Registry:
    """Bindings by name, admitted in batches: a batch that is refused adds nothing. Any thread may use it."""

    def __init__(self) -> None:
        self._bindings: dict[str, Binding] = {}
        self._admitting = Lock()

    def register(self, *tools: Any) -> None:
        """Admits a batch. Raises ToolwireError for, in order: what cannot be bound, a name twice, a taken name."""
        bound: list[Binding] = []
        for index, tool in enumerate(tools):
            try:
                bound.append(bind(tool))
            except InvalidTool as error:
                raise InvalidTool(f"tools[{index}]: {error}") from error
        names = [binding.contract.name for binding in bound]
        for position, name in enumerate(names):
            if name in names[:position]:
                raise ToolwireError(f"toolwire: duplicate tool: {quoted(name)} appears more than once in batch")
        with self._admitting:
            for name in names:
                if name in self._bindings:
                    raise ToolwireError(f"toolwire: duplicate tool: {quoted(name)} is already registered")
            self._bindings = {**self._bindings, **dict(zip(names, bound, strict=True))}

    def get(self, name: str) -> Binding | None:
        """The binding of a name."""
        return self._bindings.get(name)

    def definitions(self) -> list[Contract]:
        """The contracts, sorted by the bytes of their names."""
        bindings = self._bindings
        return [bindings[name].contract for name in sorted(bindings, key=lambda name: name.encode())]

    def __iter__(self) -> Iterator[Binding]:
        return iter(self._bindings.values())

    def __len__(self) -> int:
        return len(self._bindings)
