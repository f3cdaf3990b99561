"""What the suite writes about a run: a folder a scenario, in it `checks.json`, and what its client said on stderr.

Only the statuses SUCCESS and FAILURE count, as in the suite's own summary: WARNING is a SHOULD that was not met,
SKIPPED what does not apply, INFO a line of its log. A scenario passes when nothing in it failed.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Outcome", "outcomes"]

FILE = "checks.json"
_TIME = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")
"""The end of a folder's name: when the scenario began."""


@dataclass(frozen=True)
class Outcome:
    """How one scenario went: how many of its checks passed, and a line for each that did not.

    `raised` is what ended the client, in a line, which the suite never asks; empty where it did what it came for.
    """

    passed: int
    failures: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    raised: str = ""


def outcomes(folder: Path, prefix: str = "") -> dict[str, Outcome]:
    """The outcome of each scenario that left something in a folder, by its name; there it has `prefix` before it.

    One that left a folder and no checks has failed: the suite makes the folder first. One that was played twice has the
    later outcome.
    """
    found: dict[str, Outcome] = {}
    for place in sorted(folder.rglob("*")):
        name = place.relative_to(folder).as_posix()
        if place.is_dir() and (time := _TIME.search(name)) is not None:
            scenario = name[: time.start()].removeprefix(prefix)
            found[scenario] = _outcome(place)
    return found


def _outcome(place: Path) -> Outcome:
    file = place / FILE
    if not file.exists():
        return Outcome(0, (f"no {FILE}: the scenario did not come to its end",))
    by_status: dict[str, list[str]] = {}
    for check in json.loads(file.read_text()):
        said = check.get("errorMessage") or check.get("description") or ""
        by_status.setdefault(check["status"], []).append(f"{check['id']}: {said}")
    passed = len(by_status.get("SUCCESS", ()))
    failures, warnings = (tuple(by_status.get(status, ())) for status in ("FAILURE", "WARNING"))
    return Outcome(passed, failures, warnings, _last_line(place / "stderr.txt"))


def _last_line(file: Path) -> str:
    lines = file.read_text().strip().splitlines() if file.exists() else []
    return lines[-1] if lines else ""
