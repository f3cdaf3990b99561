"""The way through an advertised schema: what it shows at the place of an argument.

Only what pydantic writes has to be understood here: `$ref` into the document, unions, `properties`, `items`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["DECIMAL", "admits_anything", "branches", "choices", "resolved", "step", "words"]

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
        if isinstance(name, int):
            first = branch.get("prefixItems", ())
            if name < len(first):
                return first[name]
            if "items" in branch:
                return branch["items"]
        elif name in branch.get("properties", {}):
            return branch["properties"][name]
        elif isinstance(branch.get("additionalProperties"), dict):
            return branch["additionalProperties"]
    return {}


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
    found: list[Any] = []
    for branch in branches(root, node):
        found += branch.get("enum", [branch["const"]] if "const" in branch else [])
    return found


def _kinds_of_choices(branch: dict[str, Any]) -> list[str]:
    values = branch.get("enum", [branch["const"]] if "const" in branch else [])
    return [_KINDS[type(value)] for value in values if type(value) in _KINDS]


_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def admits_anything(node: Any) -> bool:
    """Whether any value may stand somewhere in what a schema describes."""
    if not isinstance(node, dict):
        return node is True
    if not node.keys() & _SAYING:
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
