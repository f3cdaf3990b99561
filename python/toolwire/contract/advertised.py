"""The way through an advertised schema: what it shows at the place of an argument.

Only what pydantic writes has to be understood here: `$ref` into the document, unions, `properties`, `items`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "DECIMAL",
    "admits_anything",
    "branches",
    "choices",
    "choices_of",
    "first_fault",
    "leaves",
    "resolved",
    "says_nothing",
    "step",
    "steps",
    "words",
]

DECIMAL = "x-decimal"
"""Marks the nodes of decimal parameters in a document that is kept beside the advertised one."""

_FOLLOWED = 32
"""References and unions followed on one way: a schema that a person wrote has a handful."""


def resolved(root: Any, node: Any) -> Any:
    """The node that a reference means, as far as it stands in the document."""
    for _ in range(_FOLLOWED):
        reference = node.get("$ref") if isinstance(node, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        node = root
        for name in reference[2:].split("/"):
            node = node.get(name.replace("~1", "/").replace("~0", "~"), {})
    return node


def branches(root: Any, node: Any, depth: int = 0) -> list[dict[str, Any]]:
    """The node itself and every alternative in it."""
    node = resolved(root, node)
    if not isinstance(node, dict) or depth > _FOLLOWED:
        return []
    found = [node]
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in node.get(keyword, ()):
            found += branches(root, branch, depth + 1)
    return found


def step(root: Any, node: Any, name: str | int) -> Any:
    """What the schema says of a member or an element; `{}` where it says nothing."""
    for branch in branches(root, node):
        found = _inside(branch, name)
        if found is not None:
            return found
    return {}


def steps(root: Any, nodes: list[Any], value: Any, name: str | int) -> list[Any]:
    """What every alternative that `value` may be says of a member or an element of it."""
    found: list[Any] = []
    for node in nodes:
        alternatives = branches(root, node)
        meant = [branch for branch in alternatives if not _is_other(root, branch, value)]
        for branch in meant or alternatives:
            inner = _inside(branch, name)
            if inner is not None and inner not in found:
                found.append(inner)
    return found


_Fault = TypeVar("_Fault")


def first_fault(
    root: Any, value: Any, judge: Callable[[Any, list[Any]], _Fault | None]
) -> tuple[list[str | int], _Fault] | None:
    """The place of the first value that `judge` finds fault with, and the fault. It hears the schema there."""

    def look(value: Any, nodes: list[Any], path: list[str | int]) -> tuple[list[str | int], _Fault] | None:
        fault = judge(value, nodes)
        if fault is not None:
            return path, fault
        below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for name, inner in below:
            found = look(inner, steps(root, nodes, value, name), [*path, name])
            if found is not None:
                return found
        return None

    return look(value, [root], [])


def _inside(branch: dict[str, Any], name: str | int) -> Any:
    if isinstance(name, int):
        first = branch.get("prefixItems", ())
        return first[name] if name < len(first) else branch.get("items")
    if name in branch.get("properties", {}):
        return branch["properties"][name]
    more = branch.get("additionalProperties")
    return more if isinstance(more, dict) else None


def _is_other(root: Any, branch: dict[str, Any], value: Any) -> bool:
    """A member that names the alternative names another one."""
    if not isinstance(value, dict):
        return False
    texts = {name: given for name, given in value.items() if type(given) is str}
    for name, node in branch.get("properties", {}).items():
        allowed = choices_of(resolved(root, node)) if name in texts else None
        if allowed is not None and texts[name] not in allowed:
            return True
    return False


def leaves(root: Any, node: Any, depth: int = 0) -> list[dict[str, Any]]:
    """The alternatives of a node that are none of others; a decimal is one."""
    node = resolved(root, node)
    if not isinstance(node, dict) or depth > _FOLLOWED:
        return []
    inner = [branch for keyword in ("anyOf", "oneOf", "allOf") for branch in node.get(keyword, ())]
    if DECIMAL in node or not inner:
        return [node]
    return [leaf for branch in inner for leaf in leaves(root, branch, depth + 1)]


def says_nothing(leaf: dict[str, Any]) -> bool:
    """Anything may stand at the place of such a node."""
    return not leaf.keys() & _SAYING


def words(root: Any, node: Any) -> list[str]:
    """The type words that the schema shows, `null` aside, in their order."""
    found: dict[str, None] = {}
    for branch in branches(root, node):
        kinds = branch.get("type", _kinds_of_choices(branch))
        found.update(dict.fromkeys([kinds] if isinstance(kinds, str) else kinds))
    found.pop("null", None)
    return list(found)


def choices(root: Any, node: Any) -> list[Any]:
    """The values that `enum` and `const` allow, of all alternatives."""
    return [choice for branch in branches(root, node) for choice in choices_of(branch) or ()]


def choices_of(node: dict[str, Any]) -> list[Any] | None:
    """The values that a node itself allows; `None` where it does not say."""
    found: list[Any] | None = node.get("enum", [node["const"]] if "const" in node else None)
    return found


def _kinds_of_choices(branch: dict[str, Any]) -> list[str]:
    return [_KINDS[type(value)] for value in choices_of(branch) or () if type(value) in _KINDS]


_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def admits_anything(node: Any) -> bool:
    """Whether any value may stand somewhere in what a schema describes."""
    if not isinstance(node, dict):
        return node is True
    if says_nothing(node):
        return True
    if node.get("type") == "array" and "items" not in node and "prefixItems" not in node:
        return True
    below = [node[name] for name in ("items", "additionalProperties") if name in node]
    for name in ("anyOf", "oneOf", "allOf", "prefixItems"):
        below += node.get(name, ())
    for name in ("properties", "$defs"):
        below += node.get(name, {}).values()
    return any(map(admits_anything, below))


_SAYING = {"type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"}
"""Keywords that say what a value is."""
