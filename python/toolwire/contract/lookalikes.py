"""`true` where 1 is one of the choices, and 1 where `true` is: equal to Python, and so to pydantic, never to JSON.

Only signatures with such choices come here.
"""

from __future__ import annotations

from typing import Any

from toolwire.contract.advertised import choices_of, first_fault, leaves, says_nothing
from toolwire.contract.numbers import decoded

__all__ = ["has_lookalikes", "lookalike"]


def has_lookalikes(document: Any) -> bool:
    """A choice of an advertised document has a look-alike among JSON's values."""
    if isinstance(document, dict):
        if any(choice in (0, 1) for choice in choices_of(document) or () if isinstance(choice, bool | int | float)):
            return True
        return any(map(has_lookalikes, document.values()))
    return isinstance(document, list) and any(map(has_lookalikes, document))


def lookalike(root: Any, arguments: bytes) -> tuple[list[str | int], tuple[list[Any], Any]] | None:
    """The place of the first value that was taken for another; the choices there, and the value."""

    def taken(value: Any, nodes: list[Any]) -> tuple[list[Any], Any] | None:
        if not isinstance(value, bool | int | float):
            return None
        found = [leaf for node in nodes for leaf in leaves(root, node)]
        allowed = [choice for leaf in found for choice in choices_of(leaf) or ()]
        wrong = value in allowed and not any(_admits(leaf, value) for leaf in found)
        return (allowed, value) if wrong else None

    return first_fault(root, decoded(arguments), taken)


def _admits(leaf: dict[str, Any], value: Any) -> bool:
    allowed = choices_of(leaf)
    if allowed is not None:
        return any(choice == value and isinstance(choice, bool) == isinstance(value, bool) for choice in allowed)
    kinds = ("boolean",) if isinstance(value, bool) else ("integer", "number")
    return says_nothing(leaf) or leaf.get("type") in kinds
