"""What every leg has to come to: `baseline.toml` pins how many checks each scenario passes, and so the leg's sums."""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.checks import Outcome
from conformance.lanes import Lanes

__all__ = ["Leg", "Score", "legs", "score", "slow"]

FILE = Path(__file__).with_name("baseline.toml")


@dataclass(frozen=True)
class Leg:
    """One run of the suite: what is under test, at which revision, and the checks that each scenario has to pass.

    In those of `refused` the server is at fault and the client has to end with an error, in no others. `unscored` are
    the scenarios that a revision does not require and that pass all the same. The leg `resumable` is a server that
    stores events, which one scenario wants and which keeps every call off the express lane; `both` is no run of the
    suite but toolwire at both ends. `express` has how many requests have to go express at the server and of the client.
    """

    role: str
    revision: str
    scored: Mapping[str, int] = field(default_factory=dict)
    unscored: Mapping[str, int] = field(default_factory=dict)
    refused: Collection[str] = ()
    express: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """As it is printed."""
        return f"{self.role} {self.revision}"


def legs(file: Path = FILE) -> list[Leg]:
    """The legs, in the order of the file."""
    told = tomllib.loads(file.read_text())
    return [Leg(role, revision, **sets) for role, revisions in told.items() for revision, sets in revisions.items()]


@dataclass(frozen=True)
class Score:
    """How many of the pinned scenarios and checks passed, and what is wrong, a line each."""

    scenarios: int = 0
    of_scenarios: int = 0
    checks: int = 0
    of_checks: int = 0
    wrong: tuple[str, ...] = ()

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.scenarios + other.scenarios,
            self.of_scenarios + other.of_scenarios,
            self.checks + other.checks,
            self.of_checks + other.of_checks,
            self.wrong + other.wrong,
        )

    def __str__(self) -> str:
        return f"{self.scenarios}/{self.of_scenarios} scenarios, {self.checks}/{self.of_checks} checks"


def score(pinned: Mapping[str, int], found: Mapping[str, Outcome], refused: Collection[str] = ()) -> Score:
    """The score of a leg.

    A scenario is short when a check failed, when fewer passed than are pinned, when the client ended as it should not
    have, or when it was not played.
    The checks are counted out of the pinned ones: what a scenario checks beyond them, as when it sees a request more,
    has to pass and adds nothing.
    """
    total = Score()
    for name, wanted in pinned.items():
        outcome = found.get(name)
        wrong = tuple(f"{name}{line}" for line in _complaints(wanted, outcome, refuses=name in refused))
        total += Score(not wrong, 1, 0 if outcome is None else min(outcome.passed, wanted), wanted, wrong)
    return total


def slow(leg: Leg, lanes: Mapping[str, Lanes]) -> Iterator[str]:
    """A line for each end at which fewer requests of a leg went express than have to."""
    for end, floor in leg.express.items():
        if lanes.get(end, Lanes()).express < floor:
            yield f"{leg.name}: {lanes.get(end, Lanes())} went express at the {end}, and {floor} have to"


def _complaints(wanted: int, outcome: Outcome | None, *, refuses: bool) -> Iterator[str]:
    if outcome is None:
        yield ": the suite did not play it"
        return
    yield from (f":{failure}" for failure in outcome.failures)
    if not outcome.failures and outcome.passed < wanted:
        yield f": {outcome.passed} checks passed, and {wanted} have to"
        yield from (f":{warning} (a warning)" for warning in outcome.warnings)
    if outcome.raised and not refuses:
        yield f": the client ended with {outcome.raised}"
    if refuses and not outcome.raised:
        yield ": the client went on with a server that it has to refuse"
