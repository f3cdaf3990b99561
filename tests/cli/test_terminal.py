"""Nothing that a server sends reaches a terminal as anything but text (fault D21)."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.cli.terminal import as_json, one_line, shown

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain é 検索 👩‍👩‍👧\ttab\nline", "plain é 検索 👩‍👩‍👧\ttab\nline"),
        ("\x1b[2J\x07\r\x7f\x9b31m", r"\x1b[2J\x07\x0d\x7f\x9b31m"),
        ("a\u202eb\u2066c\ufeff", r"a\u202eb\u2066c\ufeff"),
        ("\U000e0001\U000e0041", r"\U000e0001\U000e0041"),
        ("half \ud800", r"half \ud800"),
        (b"caf\xe9 \x1b", r"caf\xe9 \x1b"),
    ],
)
def test_a_hostile_character_is_shown_as_its_escape(text: str | bytes, escaped: str) -> None:
    assert shown(text) == escaped


@given(st.text())
def test_no_control_or_bidi_character_is_left_but_tab_and_line_feed(text: str) -> None:
    left = shown(text)
    assert not any(character in BIDI for character in left)
    assert all(unicodedata.category(each) not in ("Cc", "Cs", "Zl", "Zp") or each in "\t\n" for each in left)
    left.encode()


@given(st.text(), st.integers(1, 50))
def test_one_line_is_one_line_of_at_most_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


@given(st.recursive(st.text() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_for_a_terminal_is_the_same_value_without_hostile_characters(value: object) -> None:
    raw = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if "\\ud" in ascii(value):
        return  # half a surrogate pair is no UTF-8, and no server's bytes come here with one
    escaped = as_json(raw)
    assert json.loads(escaped) == value
    assert shown(escaped.decode()) == escaped.decode()
