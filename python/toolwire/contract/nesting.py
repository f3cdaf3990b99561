"""Sequential tools called from inside their own call: refused, since to wait for oneself would never end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from toolwire.errors import ToolFailure, quoted

__all__ = ["inside"]

_inside: ContextVar[tuple[Any, ...]] = ContextVar("toolwire.inside", default=())
"""The sequential tools whose handlers this code runs in, the outermost first."""


@contextmanager
def inside(tool: Any) -> Iterator[None]:
    """The handler of a sequential tool runs. Raises ToolFailure when it does so already, here or further out."""
    running = _inside.get()
    if any(found is tool for found in running):
        raise ToolFailure(f"tool {quoted(tool.name)} is sequential and was called from inside its own call")
    token = _inside.set((*running, tool))
    try:
        yield
    finally:
        _inside.reset(token)
