"""Arguments that do not decode, in words that a model can act on (spec one-session 2.5).

The path, what the advertised schema expects there, what came. Prose is made late: pydantic has already refused.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from toolwire import _core
from toolwire.contract.signature import Signature
from toolwire.errors import quoted

__all__ = ["decode"]


def decode(signature: Signature, arguments: bytes) -> dict[str, Any] | str:
    """Keyword arguments from checked argument bytes, or the detail of an `INVALID_INPUT` text.

    A null for a parameter that has a default and does not admit null is the default (design 4.4).
    """
    try:
        return signature.decode(arguments)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False)
    members = json.loads(arguments)
    nulls = {
        name
        for name, value in members.items()
        if value is None and signature.has_default(name) and not signature.admits_null(name)
    }
    if nulls:
        kept = {name: value for name, value in members.items() if name not in nulls}
        return decode(signature, json.dumps(kept).encode())
    order = {name: position for position, name in enumerate(members)}
    fault = min(faults, key=lambda found: order.get(str(found["loc"][0]) if found["loc"] else "", len(order)))
    return _detail(signature, fault, arguments)


def _detail(signature: Signature, fault: Any, arguments: bytes) -> str:
    path = [step for step in fault["loc"] if not (isinstance(step, str) and step.startswith("function-"))]
    document: Any = signature.document
    words, shown = _walk(document, path)
    field = f"field {quoted('.'.join(shown))}: "
    if fault["type"] == "missing":
        return field + "required"
    if fault["type"] == "extra_forbidden":
        return f"unknown {field}not in the schema"
    value = fault["input"]
    got = _word(value)
    expected = " or ".join(words) or "value"
    if got in words or (got == "number" and _whole(value) and "integer" in words):
        # The kind is right: what is wrong is a bound, a format or a choice, and pydantic names it.
        message = fault["msg"][:1].lower() + fault["msg"][1:]
        return f"{field}{message}, got {got} {_literal(value)}"
    if got == "number" and "integer" in words:
        got = f"number {_spelled(arguments, path, value)}"
    return f"{field}expected {expected}, got {got}"


_NAMES = {"null": "null", "string": "string", "integer": "integer", "number": "number", "boolean": "boolean"}


def _walk(node: Any, path: list[Any]) -> tuple[list[str], list[str]]:
    """The type words that the advertised schema shows at a path, and the steps of it that are members or elements."""
    root, shown = node, []
    for step in path:
        below = _step(root, node, step)
        if below is None and isinstance(step, str) and not _has_members(root, node):
            # Not a step of the document but a branch of a union, which pydantic names in its place.
            continue
        node = below if below is not None else {}
        shown.append(str(step))
    return _types(root, node), shown


def _resolved(root: Any, node: Any) -> Any:
    for _ in range(32):
        reference = node.get("$ref") if isinstance(node, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        node = root
        for name in reference[2:].split("/"):
            node = node.get(name.replace("~1", "/").replace("~0", "~"), {})
    return node


def _branches(root: Any, node: Any) -> list[Any]:
    node = _resolved(root, node)
    if not isinstance(node, dict):
        return []
    found = [node]
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in node.get(keyword, ()):
            found += _branches(root, branch)
    return found


def _has_members(root: Any, node: Any) -> bool:
    return any("properties" in branch or "additionalProperties" in branch for branch in _branches(root, node))


def _step(root: Any, node: Any, step: Any) -> Any:
    for branch in _branches(root, node):
        if isinstance(step, int):
            prefix = branch.get("prefixItems", ())
            if step < len(prefix):
                return prefix[step]
            if "items" in branch:
                return branch["items"]
        elif step in branch.get("properties", {}):
            return branch["properties"][step]
        elif isinstance(branch.get("additionalProperties"), dict):
            return branch["additionalProperties"]
    return None


def _types(root: Any, node: Any) -> list[str]:
    words: list[str] = []
    for branch in _branches(root, node):
        kinds = branch.get("type")
        for kind in [kinds] if isinstance(kinds, str) else kinds or ():
            if kind != "null" and kind not in words:
                words.append(kind)
    return words


def _word(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case str() | bytes():
            return "string"
        case int() | float():
            return "number"
        case list() | tuple() | set():
            return "array"
        case dict():
            return "object"
        case _:
            return type(value).__name__


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_CLIP = 100
"""Characters of a refused value that a text quotes."""


def _literal(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _CLIP else text[:_CLIP] + "…"


def _spelled(arguments: bytes, path: list[Any], value: Any) -> str:
    """A number as the model spelled it; as Python spells it where the path is not a plain one."""
    try:
        found: Any = json.loads(arguments, parse_float=str, parse_int=str)
        for step in path:
            found = found[step]
    except (KeyError, IndexError, TypeError, ValueError):
        return _literal(value)
    return found if isinstance(found, str) and _core.equal(found, found) else _literal(value)
