"""Durations in error texts: the spellings of the spec (2.1)."""

import pytest

from toolwire.contract.durations import spelled


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.02, "20ms"),
        (0.1, "100ms"),
        (1.5, "1.5s"),
        (60, "1m0s"),
        (90, "1m30s"),
        (2, "2s"),
        (3600, "1h0m0s"),
        (3661.25, "1h1m1.25s"),
        (86400, "24h0m0s"),
        (0.0015, "1.5ms"),
        (1e-6, "1µs"),
        (1.5e-6, "1.5µs"),
        (2.5e-7, "250ns"),
        (1e-9, "1ns"),
        (1e-12, "0s"),
        (0, "0s"),
        (-1, "0s"),
        (0.1 + 0.2, "300ms"),
        (59.9999999999, "1m0s"),
        (0.9999999999, "1s"),
    ],
)
def test_a_duration_is_spelled_in_the_largest_units_that_it_fills(seconds: float, text: str) -> None:
    assert spelled(seconds) == text
