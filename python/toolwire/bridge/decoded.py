"""JSON of a peer as Python values for the SDK's eyes: what Python cannot hold becomes what it can."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from toolwire.contract.halves import without_halves

__all__ = ["decoded"]

_LONGEST = 4_300
"""Digits that Python turns into an `int` without being told to."""


def decoded(text: bytes) -> Any:
    """The value of a valid JSON text. The exact bytes stand in for it again before anything is written."""
    whole = without_halves(text)
    try:
        return json.loads(whole)
    except ValueError:
        return json.loads(
            whole, parse_int=lambda digits: int(digits) if len(digits) <= _LONGEST else float(Decimal(digits))
        )
