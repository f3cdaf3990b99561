"""Cutting a text at a number of bytes: spec 2.7, rows D23, G14 to G16, and no character in two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.contract.output import cut


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("x" * 500, 8, "xxxxxxxx\n…[truncated 492 bytes]"),
        ("é" * 100, 101, "é" * 50 + "\n…[truncated 100 bytes]"),
        ("é", 1, "\n…[truncated 2 bytes]"),
        ("😀😀", 7, "😀\n…[truncated 4 bytes]"),
        ("a\u0301b", 1, "a\n…[truncated 3 bytes]"),
        ("12345678", 8, "12345678"),
        ("日本", 6, "日本"),
        ("", 1, ""),
        ("x" * 1000, 0, "x" * 1000),
        ("x" * 1000, None, "x" * 1000),
    ],
)
def test_a_text_is_cut_at_bytes_and_on_a_characters_border(text: str, limit: int | None, expected: str) -> None:
    assert cut(text, limit) == expected


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60), st.integers(1, 200))
def test_a_cut_text_is_a_prefix_within_its_cap_and_counts_what_is_gone(text: str, limit: int) -> None:
    shown = cut(text, limit)
    whole = text.encode()
    if len(whole) <= limit:
        assert shown == text
        return
    kept, marker = shown.rsplit("\n…[truncated ", 1)
    assert text.startswith(kept)
    assert limit - 4 < len(kept.encode()) <= limit
    assert int(marker.removesuffix(" bytes]")) == len(whole) - len(kept.encode())
