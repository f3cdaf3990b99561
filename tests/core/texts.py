"""JSON texts for the tests of the core: strategies that choose the spelling, not only the value, and ways to break one.

`FUZZ=20 pytest tests/core` draws other examples, and twenty times as many; without it every run draws the same ones.
"""

import os
from collections.abc import Callable
from typing import Final, TypeVar

from hypothesis import settings
from hypothesis import strategies as st

from toolwire import _core

FUZZ: Final = os.environ.get("FUZZ")
SPACE: Final = " \t\n\r"

T = TypeVar("T")


def examples(count: int) -> settings:
    """Draws so many examples, times FUZZ."""
    return settings(max_examples=count * int(FUZZ or 1), deadline=None, derandomize=FUZZ is None, database=None)


# A text may come as any of these; the core must not care.
FORMS: Final[dict[str, Callable[[bytes], bytes | str | bytearray | memoryview]]] = {
    "bytes": bytes,
    "str": lambda text: text.decode(),
    "bytearray": bytearray,
    "memoryview": memoryview,
}


def refusal(text: bytes | str | bytearray | memoryview, *, depth: int = 256) -> tuple[str, int] | None:
    """Return the kind and the offset of the text's first fault."""
    try:
        _core.validate(text, depth=depth)
    except _core.JsonError as error:
        _, kind, offset = error.args
        return kind, offset
    return None


gaps = st.sampled_from(["", "", "", "", " ", "\n", "\r\n", "\t "])
digits = st.text("0123456789", min_size=1, max_size=25)
exponents = st.builds(
    "{}{}{}".format, st.sampled_from("eE"), st.sampled_from(["", "+", "-"]), digits.map(lambda d: d[:3])
)
numbers = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "-"]),
    st.one_of(st.just("0"), digits.map(lambda text: text.lstrip("0") or "7")),
    st.one_of(st.just(""), digits.map(lambda text: "." + text)),
    st.one_of(st.just(""), exponents),
)
pieces = st.sampled_from(
    ["a", " ", "é", "漢", "😀", "\x7f", "\u2028", "{", "]", ",", ": [", "words of more than sixteen bytes", "x" * 40]
)
letters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters='"\\', min_codepoint=0x20), max_size=3)
plain = st.one_of(pieces, pieces, letters)
escapes = st.sampled_from(
    [*(f"\\{letter}" for letter in '"\\/bfnrt'), "\\u0041", "\\u00e9", "\\uD83D\\ude00", "\\u0000"]
)
lone_halves = st.sampled_from(["\\ud800", "\\uDFFF", "\\udc00\\ud800", "\\ud83dx"])


def strings_of(*pieces: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Whole strings, with their quotes."""
    return st.lists(st.one_of(*pieces), max_size=4).map(lambda parts: '"' + "".join(parts) + '"')


clean_strings = strings_of(plain, escapes)
strings = strings_of(plain, plain, escapes, lone_halves)
words = st.sampled_from(["null", "true", "false"])


def containers(items: st.SearchStrategy[str], names: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Arrays and objects with white space wherever it may stand; names repeat, since few are drawn from."""
    padded = st.builds("{}{}{}".format, gaps, items, gaps)
    members = st.builds("{}{}{}:{}".format, gaps, names, gaps, padded)
    arrays = st.lists(padded, max_size=4).map(lambda parts: "[" + ",".join(parts) + "]")
    objects = st.lists(members, max_size=4).map(lambda parts: "{" + ",".join(parts) + "}")
    return st.one_of(arrays, objects)


few_names = st.one_of(st.sampled_from(['"a"', '"\\u0061"', '"b"', '"type"']), strings)
scalars = st.one_of(numbers, strings, words)
values = st.recursive(scalars, lambda items: containers(items, few_names), max_leaves=12)
documents = st.builds("{}{}{}".format, gaps, values, gaps)
objects = st.lists(st.tuples(few_names, values), max_size=4).map(
    lambda members: "{" + ", ".join(f"{name}: {value}" for name, value in members) + "}"
)

TOKENS: Final = [
    *'{}[]:,"\\-0.eE', "\\u", "\\ud800", "\\x", "\0", "\x1f", "\x7f", "\n", "\f", "\u00a0", "\ufeff", "NaN", "Infinity",
    "-Infinity", "nul", "true", "01", "1.", "1e400", "'a'", "//", "[[[[",
]  # fmt: skip


@st.composite
def broken(draw: st.DrawFn, texts: st.SearchStrategy[str] = documents) -> str:
    """A text with one to three places cut, filled or replaced; now and then it stays valid."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 4)))
        text = text[:start] + draw(st.sampled_from(["", *TOKENS])) + text[end:]
    return text
