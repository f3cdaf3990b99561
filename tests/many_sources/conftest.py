"""The loop of these tests is asyncio's; what may differ by loop asks for both with `on_both_loops`."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
