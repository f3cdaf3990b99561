"""`json` and `orjson` judge the same texts. Where they differ, the difference has a name here, or it is a fault."""

import json
import math
import re
from collections.abc import Callable
from typing import Final

import orjson
import pytest
from hypothesis import example, given

from tests.core.texts import broken, documents, examples, refusal

Verdict = tuple[str, int] | None
NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")


def whole_numbers(text: str) -> list[str]:
    return [number for number in NUMBER.findall(text) if number.lstrip("-").isdigit()]


# Judge, what it does otherwise, and how to see that this is what happened. The core's verdict is None when it accepts.
DIFFERENCES: Final[dict[str, list[tuple[str, Callable[[str, Verdict], bool]]]]] = {
    "json": [
        ("it takes NaN and Infinity", lambda _, verdict: verdict is not None and verdict[0] == "not_finite"),
        ("its depth is the interpreter's stack", lambda _, verdict: verdict is not None and verdict[0] == "too_deep"),
        (
            "it refuses integers of more than 4,300 digits",
            lambda text, verdict: verdict is None and any(len(number) > 4300 for number in whole_numbers(text)),
        ),
    ],
    "orjson": [
        ("its depth is 1,024", lambda _, verdict: verdict is not None and verdict[0] == "too_deep"),
        ("it refuses half a surrogate pair", lambda text, verdict: verdict is None and HALF.search(text) is not None),
        (
            "it refuses a number that no double can hold",
            lambda text, verdict: verdict is None and any(math.isinf(float(number)) for number in NUMBER.findall(text)),
        ),
    ],
}
JUDGES: Final[dict[str, Callable[[str], object]]] = {"json": json.loads, "orjson": orjson.loads}


def accepts(judge: str, text: str) -> bool:
    try:
        JUDGES[judge](text)
    except (ValueError, RecursionError):
        return False
    return True


def disagreements(text: str) -> list[str]:
    """Return the judges that differ from the core for no named reason."""
    verdict = refusal(text)
    assert refusal(text.encode()) == verdict
    return [
        judge
        for judge in JUDGES
        if accepts(judge, text) != (verdict is None)
        and not any(explains(text, verdict) for _, explains in DIFFERENCES[judge])
    ]


@examples(120)
@given(documents)
def test_a_valid_text_in_any_spelling_is_accepted_by_all(text: str) -> None:
    assert refusal(text) is None
    assert disagreements(text) == []


@examples(250)
@given(broken())
@example("[NaN,]")
@example('"\\ud800')
@example("1e999 x")
def test_a_broken_text_is_broken_for_all(text: str) -> None:
    assert disagreements(text) == []


@pytest.mark.parametrize(
    ("text", "core", "by_json", "by_orjson"),
    [
        ("NaN", "not_finite", True, False),
        ("[-Infinity]", "not_finite", True, False),
        ("[" * 300 + "]" * 300, "too_deep", True, True),
        ("1" * 5000, None, False, False),
        (r'"\ud800"', None, True, False),
        ("1E400", None, True, False),
        ('{"a":1,"a":2}', None, True, True),
        ("\ufeff1", "unexpected_byte", False, False),
    ],
    ids=["NaN", "Infinity", "depth", "digits", "half a pair", "no double", "a name twice", "byte order mark"],
)
def test_each_named_difference_is_still_one(text: str, core: str | None, *, by_json: bool, by_orjson: bool) -> None:
    """A name that stops to apply goes away; a repeated name and the mark are listed as what nobody differs about."""
    verdict = refusal(text)
    assert (verdict and verdict[0]) == core
    assert (accepts("json", text), accepts("orjson", text)) == (by_json, by_orjson)
    assert disagreements(text) == []
