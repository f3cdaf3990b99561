"""The second opinion: `jsonschema` for Python, on what Python's own JSON reader makes of the texts."""

import json
from typing import Any

import jsonschema
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for


def judge(schema: Any) -> Validator:
    """Build the judge of a schema, of the draft that `$schema` names, formats asserted as far as Python has them."""
    kind = validator_for(schema, default=jsonschema.Draft202012Validator)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def opinion(schema: str, text: str) -> bool | str:
    """Say whether the judge takes the text, or why it has no opinion."""
    try:
        return judge(json.loads(schema)).is_valid(json.loads(text))
    except Exception as error:  # noqa: BLE001 - a judge that breaks is a judge without an opinion
        return f"{type(error).__name__}: {error}"
