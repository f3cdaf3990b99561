"""Arguments against their tool's input schema, from text to verdict, beside `jsonschema` and `jsonschema-rs`.

Each side gets the text that a model wrote; what it needs decoded it decodes by `json.loads`. Both others stop at the
first problem, which favours them: ours tells all of them, with their places.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator as Judge
from jsonschema.validators import validator_for

from benches.arguments import fitting, misfitting
from benches.listings import corpus
from benches.table import Row, figure
from toolwire._core import Validator

TOOLS = 895
BAR = 30.0
LIMIT = 5.0
"""Microseconds that checking may cost a call of an average tool."""


@dataclass(frozen=True)
class Call:
    """One tool's arguments, and what each side compiled of its schema."""

    text: bytes
    ours: Validator
    judge: Judge | None = None
    rust: jsonschema_rs.Validator | None = None


def _own(schemas: list[dict[str, Any]]) -> list[Call]:
    """One call that fits of each tool, its validator made as a host makes them: nothing of other libraries between.

    Called in turn they show what memory costs. Among three libraries' objects for each tool it costs twice as much.
    """
    calls = []
    for schema in schemas:
        ours = Validator(json.dumps(schema))
        text = json.dumps(fitting(schema, 1), ensure_ascii=False).encode()
        if ours.check(text) is None:
            calls.append(Call(text, ours))
    return calls


def _calls(schemas: list[dict[str, Any]]) -> tuple[list[Call], list[Call]]:
    """Make calls that fit and calls that do not; all three sides agree about each."""
    fit: list[Call] = []
    misfit: list[Call] = []
    for schema in schemas:
        kind = validator_for(schema, default=Draft202012Validator)
        judge = kind(schema, format_checker=kind.FORMAT_CHECKER)
        ours, rust = Validator(json.dumps(schema)), jsonschema_rs.validator_for(schema, validate_formats=True)
        good = fitting(schema, 1)
        for arguments in (good, *misfitting(schema, good)):
            call = Call(json.dumps(arguments, ensure_ascii=False).encode(), ours, judge, rust)
            verdict = ours.check(call.text) is None
            # Python has no checker of some formats, so what the two others refuse together is not compared.
            if judge.is_valid(arguments) is verdict:
                assert rust.is_valid(arguments) is verdict
                (fit if verdict else misfit).append(call)
    return fit, misfit


def _toolwire(call: Call) -> object:
    return call.ours.check(call.text)


def _python(call: Call) -> object:
    assert call.judge is not None
    return next((error.message for error in call.judge.iter_errors(json.loads(call.text))), None)


def _rust(call: Call) -> object:
    assert call.rust is not None
    return next((error.message for error in call.rust.iter_errors(json.loads(call.text))), None)


def _each(calls: list[Call], check: Callable[[Call], object], repeats: int) -> float:
    """Mean over the calls of the best time of each, in microseconds: a shared machine disturbs a mean of means."""
    clock = time.perf_counter_ns
    total = 0
    for call in calls:
        best = 1 << 60
        for _ in range(repeats):
            began = clock()
            check(call)
            best = min(best, clock() - began)
        total += best
    return total / len(calls) / 1e3


def _round(calls: list[Call], check: Callable[[Call], object], repeats: int) -> float:
    """Microseconds a call when every tool is called in turn, so that nothing of it is in the cache."""
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        for call in calls:
            check(call)
        best = min(best, time.perf_counter() - began)
    return best / len(calls) * 1e6


def rows(*, quick: bool) -> Iterator[Row]:
    """Compare the three sides, then tell what compiling costs."""
    listing, kind = corpus(TOOLS)
    schemas = [tool["inputSchema"] for tool in json.loads(listing)["tools"]]
    alone = _own(schemas)
    fit, misfit = _calls(schemas)
    repeats = 2 if quick else 7
    # As many of one kind as of the other, over all tools.
    some = [*fit[:700], *misfit[:: max(1, len(misfit) // 700)][:700]]
    ours, python, rust = (_each(some, check, repeats) for check in (_toolwire, _python, _rust))
    ratio = python / ours
    yield Row(
        what=f"arguments checked, {kind}, half of them wrong",
        toolwire=f"{ours:.2f} µs",
        peer=f"{python:.1f} µs jsonschema",
        ratio=f"{ratio:.0f} x",
        bar=f"at least {BAR:g} x",
        met=ratio >= BAR,
    )
    yield Row(
        what="the same, jsonschema-rs", toolwire=f"{ours:.2f} µs", peer=f"{rust:.2f} µs", ratio=f"{rust / ours:.1f} x"
    )
    for what, calls in (("that fit", fit), ("that do not fit", misfit)):
        own, other = _each(calls[:700], _toolwire, repeats), _each(calls[:700], _python, repeats)
        yield Row(
            what=f"arguments {what}",
            toolwire=f"{own:.2f} µs",
            peer=f"{other:.1f} µs jsonschema",
            ratio=f"{other / own:.0f} x",
        )
    cold = _round(alone, _toolwire, 3 * repeats)
    yield Row(
        what=f"arguments that fit, {len(alone)} tools in turn",
        toolwire=f"{cold:.2f} µs a call",
        bar=f"under {LIMIT:g} µs",
        met=cold < LIMIT,
    )
    texts = [json.dumps(schema) for schema in schemas]
    compiling = min(_compiling(texts) for _ in range(repeats))
    yield Row(what="an input schema compiled", toolwire=f"{figure(compiling * 1e6)} µs a tool")


def _compiling(texts: list[str]) -> float:
    began = time.perf_counter()
    for text in texts:
        Validator(text)
    return (time.perf_counter() - began) / len(texts)
