"""How the runner reads what the suite wrote, and how the pinned counts come about."""

import json
from pathlib import Path
from typing import Any

from conformance.checks import Outcome, outcomes

WHEN = "2026-11-30T20-13-32-068Z"
LATER = "2026-11-30T20-13-33-000Z"


def check(status: str, identifier: str = "tools-list", **more: Any) -> dict[str, Any]:
    return {"id": identifier, "name": "N", "description": "what it is about", "status": status, **more}


def written(folder: Path, name: str, *checks: dict[str, Any], stderr: str | None = None) -> None:
    place = folder / name
    place.mkdir(parents=True)
    (place / "checks.json").write_text(json.dumps(checks))
    if stderr is not None:
        (place / "stderr.txt").write_text(stderr)


def test_only_success_and_failure_count_as_in_the_suites_own_summary(tmp_path: Path) -> None:
    """Its `Passed: 1/2` is SUCCESS of SUCCESS and FAILURE; the SDK's 70, 120, 238 and 396 are sums of those."""
    statuses = ("SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO")
    written(tmp_path, f"tools_call-{WHEN}", *map(check, statuses))
    said = ("tools-list: what it is about",)
    assert outcomes(tmp_path) == {"tools_call": Outcome(1, failures=said, warnings=said)}


def test_an_id_that_comes_twice_counts_twice(tmp_path: Path) -> None:
    """The wire of every scenario is judged too, and a flow that repeats repeats its checks."""
    written(tmp_path, f"tools_call-{WHEN}", check("SUCCESS"), check("SUCCESS"), check("SUCCESS", "wire-schema-valid"))
    assert outcomes(tmp_path) == {"tools_call": Outcome(3)}


def test_a_failure_is_told_by_its_id_and_its_message(tmp_path: Path) -> None:
    written(tmp_path, f"tools_call-{WHEN}", check("FAILURE", errorMessage="no tools"))
    assert outcomes(tmp_path)["tools_call"].failures == ("tools-list: no tools",)


def test_a_folder_without_checks_is_a_failure(tmp_path: Path) -> None:
    """The suite makes the folder before it begins: a scenario that threw leaves nothing in it."""
    (tmp_path / f"server-caching-{WHEN}").mkdir()
    assert outcomes(tmp_path, "server-") == {
        "caching": Outcome(0, ("no checks.json: the scenario did not come to its end",))
    }


def test_a_scenario_whose_name_has_a_folder_or_the_prefix_itself_keeps_it(tmp_path: Path) -> None:
    written(tmp_path, f"auth/scope-step-up-{WHEN}", check("SUCCESS"))
    written(tmp_path, f"server-server-sse-polling-{WHEN}", check("SUCCESS"))
    assert outcomes(tmp_path, "server-").keys() == {"auth/scope-step-up", "server-sse-polling"}


def test_of_a_scenario_that_was_played_twice_the_later_outcome_stands(tmp_path: Path) -> None:
    written(tmp_path, f"ping-{LATER}", check("FAILURE", errorMessage="late"))
    written(tmp_path, f"ping-{WHEN}", check("SUCCESS"))
    assert outcomes(tmp_path)["ping"].failures == ("tools-list: late",)


def test_what_ended_the_client_is_the_last_line_of_its_stderr(tmp_path: Path) -> None:
    written(tmp_path, f"auth/a-{WHEN}", check("SUCCESS"), stderr="Traceback …\n  File …\nConnectError: no\n\n")
    written(tmp_path, f"auth/b-{WHEN}", check("SUCCESS"), stderr="\n")
    found = outcomes(tmp_path)
    assert (found["auth/a"].raised, found["auth/b"].raised) == ("ConnectError: no", "")


def test_what_is_no_scenarios_folder_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("…")
    (tmp_path / "auth").mkdir()
    assert outcomes(tmp_path) == {}
