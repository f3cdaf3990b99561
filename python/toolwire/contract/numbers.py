"""Numbers of arguments that Python's floats cannot hold, found in the text before it is lost.

pydantic reads a JSON number as a float first: a `Decimal` parameter would get 19.99 for 19.990000000000000001, and
`1E400` would be infinity. Only signatures that can meet such a number come here.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from toolwire.contract.advertised import DECIMAL, choices_of, first_fault, leaves, says_nothing, steps

__all__ = ["Spelled", "beyond_floats", "decoded", "maybe_beyond_floats", "quoted_decimals", "spelled"]

# The digit stands before the choice: so the engine runs over everything else at once, five times as fast.
_MAYBE_BEYOND = re.compile(rb"[0-9](?:[eE]\+?[0-9]{3}|[0-9]{308})")


class Spelled(str):
    """A JSON number as it is written."""

    __slots__ = ()


def spelled(arguments: bytes) -> Any:
    """The arguments decoded, each number as it is written."""
    return json.loads(arguments, parse_float=Spelled, parse_int=Spelled)


def decoded(arguments: bytes) -> Any:
    """The arguments decoded."""
    try:
        return json.loads(arguments)
    except ValueError:
        # A decimal of more digits than Python makes an integer of.
        return json.loads(arguments, parse_int=Spelled)


def maybe_beyond_floats(arguments: bytes) -> bool:
    """A number, or a string, that looks like a number beyond Python's floats stands in the arguments."""
    return _MAYBE_BEYOND.search(arguments) is not None


def beyond_floats(root: Any, arguments: bytes) -> tuple[list[str | int], str] | None:
    """The place and the spelling of the first number that a float would make infinite; none at a decimal's place."""

    def lost(value: Any, nodes: list[Any]) -> str | None:
        # An integer is exact however long it is.
        if type(value) is not Spelled or _is_whole(value) or not math.isinf(float(value)):
            return None
        return None if _is_decimal(root, nodes, value) else value

    return first_fault(root, spelled(arguments), lost)


def quoted_decimals(root: Any, arguments: bytes) -> bytes:
    """The arguments with each number at a decimal's place as a string, which pydantic reads exactly."""

    def write(value: Any, nodes: list[Any]) -> str:
        if type(value) is Spelled:
            return f'"{value}"' if _is_decimal(root, nodes, value) else value
        if isinstance(value, dict):
            members = (
                f"{json.dumps(name)}:{write(inner, steps(root, nodes, value, name))}" for name, inner in value.items()
            )
            return "{" + ",".join(members) + "}"
        if isinstance(value, list):
            inner = (write(inner, steps(root, nodes, value, index)) for index, inner in enumerate(value))
            return "[" + ",".join(inner) + "]"
        return json.dumps(value)

    return write(spelled(arguments), [root]).encode()


_LONGEST_CHOICE = 32
"""Characters of a number that may be one of the choices of an enumeration: a person writes shorter ones."""


def _is_whole(number: str) -> bool:
    return number.removeprefix("-").isdigit()


def _is_decimal(root: Any, nodes: list[Any], number: str) -> bool:
    """A decimal is what a number is read as there, whichever alternative it stands in."""
    return bool(nodes) and all(_reads_decimal(leaves(root, node), number) for node in nodes)


def _reads_decimal(found: list[dict[str, Any]], number: str) -> bool:
    return any(DECIMAL in leaf for leaf in found) and not any(_is_rival(leaf, number) for leaf in found)


def _is_rival(leaf: dict[str, Any], number: str) -> bool:
    """It would take the quoted number for a text, or has a better claim to the number itself."""
    if DECIMAL in leaf:
        return False
    allowed = choices_of(leaf)
    if allowed is not None:
        return len(number) <= _LONGEST_CHOICE and json.loads(number) in allowed
    kind = leaf.get("type")
    return kind == "string" or says_nothing(leaf) or (kind == "integer" and _is_whole(number))
