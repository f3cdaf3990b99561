"""`true` where 1 is one of the choices, and 1 where `true` is: equal to Python, and so to pydantic, never to JSON.

Only signatures with such choices come here.
"""

from __future__ import annotations

from typing import Any

from toolwire.contract.advertised import choices_of, leaves, says_nothing, steps
from toolwire.contract.numbers import decoded

__all__ = ["has_lookalikes", "lookalike"]


def has_lookalikes(document: Any) -> bool:
    """A choice of an advertised document has a look-alike among JSON's values."""
    if isinstance(document, dict):
        if any(choice in (0, 1) for choice in choices_of(document) or () if isinstance(choice, bool | int | float)):
            return True
        return any(map(has_lookalikes, document.values()))
    return isinstance(document, list) and any(map(has_lookalikes, document))


def lookalike(root: Any, arguments: bytes) -> tuple[list[str | int], list[Any], Any] | None:
    """The place, the choices and the value of the first one that was taken for another."""

    def look(value: Any, nodes: list[Any], path: list[str | int]) -> tuple[list[str | int], list[Any], Any] | None:
        if isinstance(value, bool | int | float):
            found = [leaf for node in nodes for leaf in leaves(root, node)]
            allowed = [choice for leaf in found for choice in choices_of(leaf) or ()]
            wrong = value in allowed and not any(_admits(leaf, value) for leaf in found)
            return (path, allowed, value) if wrong else None
        below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for name, inner in below:
            found_below = look(inner, steps(root, nodes, value, name), [*path, name])
            if found_below is not None:
                return found_below
        return None

    return look(decoded(arguments), [root], [])


def _admits(leaf: dict[str, Any], value: Any) -> bool:
    allowed = choices_of(leaf)
    if allowed is not None:
        return any(choice == value and isinstance(choice, bool) == isinstance(value, bool) for choice in allowed)
    kinds = ("boolean",) if isinstance(value, bool) else ("integer", "number")
    return says_nothing(leaf) or leaf.get("type") in kinds
