"""Arguments that do not decode, in words that a model can act on (spec one-session 2.5).

The place, what the advertised schema expects there, what came. Prose is made late: pydantic has already refused. Which
of its steps are places of the document and which are its own names for alternatives, the arguments themselves tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from toolwire import _core
from toolwire.contract.advertised import step, words
from toolwire.contract.complaints import complaint, kind_of, literal, named, one_of, place_of
from toolwire.contract.lookalikes import lookalike
from toolwire.contract.numbers import beyond_floats, decoded
from toolwire.contract.signature import Signature, StrayMember

__all__ = ["decode"]


def decode(signature: Signature, arguments: bytes) -> dict[str, Any] | str:
    """Keyword arguments from argument bytes, or the detail of an `INVALID_INPUT` text.

    A null for a parameter that has a default and does not admit null is the default (design 4.4).
    """
    try:
        values = signature.decode(arguments)
    except ValidationError as error:
        faults = error.errors(include_url=False)
    except StrayMember as stray:
        return f"unknown {place_of((str(stray),))}not in the schema"
    else:
        lost = beyond_floats(signature.marked, arguments) if signature.may_hold_infinity(arguments) else None
        if lost is not None:
            return f"{place_of(lost[0])}expected a finite number, got number {lost[1]}"
        other = lookalike(signature.marked, arguments) if signature.has_lookalikes else None
        if other is None:
            return values
        path, (allowed, value) = other
        return f"{place_of(path)}expected {one_of(allowed)}, got {literal(value)}"
    if faults[0]["type"] == "json_invalid":
        return _unreadable(arguments, faults[0]["ctx"]["error"])
    members = decoded(arguments)
    nulls = {name for name, value in members.items() if value is None and signature.has_default(name)}
    nulls &= {str(fault["loc"][0]) for fault in faults if fault["loc"]}
    if nulls:
        kept = {name: value for name, value in _core.members(arguments).items() if name not in nulls}
        rest = b",".join(_core.quote(name) + b":" + value for name, value in kept.items())
        return decode(signature, b"{" + rest + b"}")
    order = _Order(members)
    found = sorted((_placed(fault, members) for fault in faults), key=lambda fault: order.of(fault.path))
    return _Explained(signature.marked, members, arguments).text(found, 0)


def _unreadable(arguments: bytes, problem: str) -> str:
    try:
        _core.check_arguments(arguments)
    except _core.JsonError as error:
        return str(error.args[0])
    # It is JSON, and more of it than pydantic reads: 4,300 digits, or about 200 levels.
    problem = problem.split(" at line ", 1)[0]
    return {
        "number out of range": "a number has too many digits",
        "recursion limit exceeded": "the arguments nest too deep",
    }.get(problem, problem)


@dataclass(frozen=True, slots=True)
class _Fault:
    """One of pydantic's faults: its steps, which of them are places (`path`), and which are names of alternatives."""

    raw: Any
    path: tuple[str | int, ...]
    labels: tuple[int, ...]

    @property
    def steps(self) -> tuple[str | int, ...]:
        found: tuple[str | int, ...] = self.raw["loc"]
        return found


_ABSENT = ("missing", "missing_argument", "missing_keyword_only_argument")


def _placed(raw: Any, members: Any) -> _Fault:
    """Tells places from labels: the reading of the steps that leads to the value which was refused."""
    steps: tuple[str | int, ...] = raw["loc"]
    if steps and steps[-1] == "[key]":
        return _Fault(raw, steps, ())
    places = steps[:-1] if raw["type"] in _ABSENT else steps
    taken = _way(places, members, raw["input"])
    labels = tuple(index for index in range(len(places)) if index not in taken)
    path = tuple(step for index, step in enumerate(steps) if index not in labels)
    return _Fault(raw, path, labels)


def _way(steps: tuple[str | int, ...], members: Any, refused: Any) -> set[int]:
    """The steps that go into the document, so that they end at the refused value; else as many as lead anywhere.

    Each step is tried from each value once: a document may nest, so the ways through it can be without number.
    """
    first: set[int] | None = None
    tried: set[tuple[int, int]] = set()
    waiting: list[tuple[int, Any, Any]] = [(0, members, None)]
    while waiting:
        index, value, taken = waiting.pop()
        # To go in is tried before to pass over: what is followed by labels alone comes last.
        while index < len(steps) and (index, id(value)) not in tried:
            tried.add((index, id(value)))
            name, index = steps[index], index + 1
            if name in value if isinstance(value, dict) else isinstance(value, list) and name in range(len(value)):
                waiting.append((index, value, taken))
                value, taken = value[name], (index - 1, taken)
        if index == len(steps):
            way = set(_linked(taken))
            if _same(value, refused):
                return way
            first = way if first is None else first
    return first or set()


def _linked(taken: Any) -> Iterator[int]:
    while taken is not None:
        index, taken = taken
        yield index


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


class _Order:
    """Where places stand in the document; what is missing comes behind what is there."""

    def __init__(self, members: Any) -> None:
        self._members = members
        self._known: dict[int, dict[str | int, int]] = {}

    def of(self, path: tuple[str | int, ...]) -> tuple[int, ...]:
        """A key to sort places by: in the document's order, an outer one before what is in it."""
        order: list[int] = []
        value = self._members
        for name in path:
            if isinstance(value, dict) and name in value:
                order.append(self._names(value)[name])
                value = value[name]
            elif isinstance(value, list) and isinstance(name, int) and name < len(value):
                order.append(name)
                value = value[name]
            else:
                order.append(len(value) if isinstance(value, dict | list) else 0)
                break
        return tuple(order)

    def _names(self, value: dict[str, Any]) -> dict[str | int, int]:
        found = self._known.get(id(value))
        if found is None:
            found = self._known[id(value)] = {name: place for place, name in enumerate(value)}
        return found


_SHOWN_ALTERNATIVES = 4
"""Of a union that a value does not fit, the complaints that a text repeats."""


class _Explained:
    """The texts of one refusal."""

    def __init__(self, root: Any, members: Any, arguments: bytes) -> None:
        self._root = root
        self._members = members
        self._arguments = arguments

    def text(self, faults: list[_Fault], index: int) -> str:
        """The text for faults that share their first `index` steps: that of the first, or of its whole union."""
        first = faults[0]
        label = next((found for found in first.labels if found >= index), None)
        if label is None:
            return complaint(first.raw, first.path, self._root, self._arguments)
        before = first.steps[:label]
        alternatives: dict[str | int, list[_Fault]] = {}
        for fault in faults:
            if len(fault.steps) > label and fault.steps[:label] == before:
                alternatives.setdefault(fault.steps[label], []).append(fault)
        if len(alternatives) == 1:
            return self.text(faults, label + 1)
        place = tuple(name for found, name in enumerate(before) if found not in first.labels)
        return self._of_union(list(alternatives.values()), place, label + 1)

    def _of_union(self, alternatives: list[list[_Fault]], place: tuple[str | int, ...], index: int) -> str:
        fitting = [faults for faults in alternatives if not _wrong_kind(faults, place)]
        if not fitting:
            node = self._root
            for name in place:
                node = step(self._root, node, name)
            expected = " or ".join(words(self._root, node)) or "value"
            return f"{place_of(place)}expected {expected}, got {kind_of(alternatives[0][0].raw['input'])}"
        # An alternative that names itself by a constant member was not meant, if another one's name fits.
        meant = [faults for faults in fitting if _other_name(faults) is None]
        if not meant:
            names = [name for name in map(_other_name, fitting) if name is not None]
            if len({name.path for name in names}) == 1:
                allowed = " or ".join(named(str(name.raw["ctx"]["expected"])) for name in names)
                return f"{place_of(names[0].path)}expected {allowed}, got {literal(names[0].raw['input'])}"
            meant = fitting
        texts = list(dict.fromkeys(self.text(faults, index) for faults in meant))
        if len(texts) == 1:
            return texts[0]
        return f"{place_of(place)}fits no alternative: {'; or '.join(texts[:_SHOWN_ALTERNATIVES])}"


def _wrong_kind(faults: list[_Fault], place: tuple[str | int, ...]) -> bool:
    first = faults[0]
    return first.path == place and str(first.raw["type"]).endswith("_type")


def _other_name(faults: list[_Fault]) -> _Fault | None:
    """The fault of a constant member: the alternative has another name than the value."""
    return next((fault for fault in faults if _is_constant(fault.raw)), None)


def _is_constant(raw: Any) -> bool:
    return raw["type"] == "literal_error" and " or " not in raw["ctx"]["expected"]
