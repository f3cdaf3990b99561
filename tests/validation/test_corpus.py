"""The tools of real servers: every schema compiles, and arguments get the judge's verdict."""

import json
from collections import Counter
from typing import Any

import pytest

from benches.arguments import fitting, misfitting
from benches.listings import CORPUS
from tests.validation.judge import judge
from toolwire._core import Validator

LISTINGS = sorted(CORPUS.glob("listings*/*.json"))
pytestmark = pytest.mark.skipif(not LISTINGS, reason="the corpus of real listings is not here")

NO_URI = "this Python has no checker of the format uri"


def tools() -> list[dict[str, Any]]:
    return [tool for file in LISTINGS for tool in json.loads(file.read_bytes())["result"]["tools"]]


def test_every_schema_of_the_corpus_compiles() -> None:
    listed = tools()
    assert len(listed) > 800
    for tool in listed:
        for schema in (tool["inputSchema"], tool.get("outputSchema")):
            if schema is not None:
                Validator(json.dumps(schema))


def test_arguments_get_the_judges_verdict() -> None:
    verdicts: Counter[bool] = Counter()
    for tool in tools():
        schema = tool["inputSchema"]
        validator, second = Validator(json.dumps(schema)), judge(schema)
        good = fitting(schema, 1)
        for arguments in (good, *misfitting(schema, good)):
            detail = validator.check(json.dumps(arguments))
            agreed = second.is_valid(arguments) is (detail is None)
            # What differs is named: NO_URI.
            assert agreed or (detail is not None and 'expected a string of the format "uri"' in detail), (
                detail,
                NO_URI,
            )
            verdicts[detail is None] += 1
    assert verdicts[True] > 800
    assert verdicts[False] > 5_000
