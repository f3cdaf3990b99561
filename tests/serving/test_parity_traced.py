"""With a tracer provider set the spans are the SDK's own on both lanes: express emits none, so it declines."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.serving.raw_client import ERAS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.serving.traced"], cwd=ROOT, capture_output=True, timeout=60, check=True
    )
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


@pytest.mark.parametrize("era", ERAS)
def test_a_traced_server_answers_and_traces_alike_on_both_lanes(report: dict[str, Any], era: str) -> None:
    express, sdk = report[f"{era} express"], report[f"{era} sdk"]
    assert express == sdk
    assert express["express_calls"] == 0


@pytest.mark.parametrize("era", ERAS)
def test_each_call_has_its_span_under_the_callers_trace(report: dict[str, Any], era: str) -> None:
    spans = [span for span in report[f"{era} express"]["spans"] if span["name"].startswith("tools/call")]
    assert [(span["name"], span["parent"], span["status"]["status_code"]) for span in spans] == [
        ("tools/call echo", None, "UNSET"),
        ("tools/call echo", "0xb7ad6b7169203331", "UNSET"),
        ("tools/call lookup_order", None, "ERROR"),
        ("tools/call lookup_order", "0xb7ad6b7169203331", "ERROR"),
        ("tools/call panic", None, "ERROR"),
        ("tools/call panic", "0xb7ad6b7169203331", "ERROR"),
        ("tools/call nope", None, "ERROR"),
        ("tools/call nope", "0xb7ad6b7169203331", "ERROR"),
    ]
