"""Bytes to base64, with Python's own module as judge."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire import _core


@given(st.binary(max_size=200))
def test_the_digits_are_those_of_python(data: bytes) -> None:
    assert _core.base64(data) == base64.b64encode(data)


@pytest.mark.parametrize("over", range(3))
def test_so_are_those_of_a_text_that_is_encoded_without_the_gil(over: int) -> None:
    data = bytes(range(256)) * (8 << 10) + bytes(over)
    assert _core.base64(data) == base64.b64encode(data)


def test_only_bytes_are_taken() -> None:
    with pytest.raises(TypeError):
        _core.base64("text")  # type: ignore[arg-type]  # what is tested
