"""What a leg has to come to, and what is said where it does not."""

from pathlib import Path

import pytest

from conformance.baseline import Score, legs, score
from conformance.checks import Outcome
from conformance.scenarios import scenario_of

COUNTS = {
    "server 2025-11-25": (30, 70),
    "server 2026-07-28": (37, 120),
    "client 2025-11-25": (18, 238),
    "client 2026-07-28": (32, 396),
}
"""Scenarios and checks that the Python SDK 2.3.0 passes with the suite 0.2.0-alpha.12: the baseline to equal."""


def test_the_pinned_sums_are_the_sdks_own() -> None:
    assert {leg.name: (len(leg.scored), sum(leg.scored.values())) for leg in legs() if leg.scored} == COUNTS


def test_no_scenario_is_both_scored_and_not() -> None:
    assert [leg.name for leg in legs() if leg.scored.keys() & leg.unscored.keys()] == []


def test_every_pinned_scenario_passes_something() -> None:
    assert [name for leg in legs() for name, wanted in (*leg.scored.items(), *leg.unscored.items()) if wanted < 1] == []


def test_what_is_refused_is_pinned_too() -> None:
    assert [leg.name for leg in legs() if not set(leg.refused) <= leg.scored.keys() | leg.unscored.keys()] == []


def test_the_client_knows_every_scenario_that_it_is_to_play() -> None:
    names = [name for leg in legs() if leg.role == "client" for name in (*leg.scored, *leg.unscored)]
    assert all(callable(scenario_of(name)) for name in names)
    with pytest.raises(KeyError):
        scenario_of("nobody-knows")


def test_a_leg_that_passes_what_is_pinned_is_not_short() -> None:
    found = {"ping": Outcome(2), "caching": Outcome(8), "not-pinned": Outcome(0, ("x: y",))}
    assert score({"ping": 2, "caching": 8}, found) == Score(2, 2, 10, 10)
    assert str(score({"ping": 2, "caching": 8}, found)) == "2/2 scenarios, 10/10 checks"


def test_a_failed_check_is_counted_and_named() -> None:
    short = score({"ping": 2, "caching": 8}, {"ping": Outcome(1, ("pong: none came",)), "caching": Outcome(8)})
    assert short == Score(1, 2, 9, 10, ("ping:pong: none came",))


def test_a_scenario_that_was_not_played_is_short_of_all_its_checks() -> None:
    assert score({"ping": 2}, {}) == Score(0, 1, 0, 2, ("ping: the suite did not play it",))


def test_a_scenario_with_fewer_checks_than_are_pinned_is_short_and_its_warnings_are_shown() -> None:
    """What was a SUCCESS and is now SKIPPED, or a WARNING, fails nothing in the suite's own eyes."""
    short = score({"ping": 3}, {"ping": Outcome(2, (), ("late: it took long",))})
    told = ("ping: 2 checks passed, and 3 have to", "ping:late: it took long (a warning)")
    assert short == Score(0, 1, 2, 3, told)


def test_more_checks_than_are_pinned_add_nothing_and_may_not_fail() -> None:
    """A client that asks once more, as after a refusal, is looked at once more."""
    assert score({"ping": 2}, {"ping": Outcome(5)}) == Score(1, 1, 2, 2)
    assert score({"ping": 2}, {"ping": Outcome(5, ("x: y",))}) == Score(0, 1, 2, 2, ("ping:x: y",))


def test_a_client_that_ends_with_an_error_is_short_even_where_every_check_passed() -> None:
    """The suite never asks how its client ended; one that gave up half way may leave nothing but good checks."""
    short = score({"tools_call": 2}, {"tools_call": Outcome(2, raised="KeyError: 'add'")})
    assert short == Score(0, 1, 2, 2, ("tools_call: the client ended with KeyError: 'add'",))


def test_a_server_at_fault_has_to_be_refused() -> None:
    refused, went_on = Outcome(8, raised="ConnectError: another issuer"), Outcome(8)
    assert score({"auth/iss": 8}, {"auth/iss": refused}, ["auth/iss"]).wrong == ()
    told = ("auth/iss: the client went on with a server that it has to refuse",)
    assert score({"auth/iss": 8}, {"auth/iss": went_on}, ["auth/iss"]).wrong == told


def test_a_baseline_is_read_in_the_order_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "baseline.toml"
    file.write_text('[server.b.scored]\nping = 1\n[client.a]\nrefused = ["x"]\n[client.a.unscored]\nx = 2\n')
    first, second = legs(file)
    assert (first.name, first.scored, first.unscored) == ("server b", {"ping": 1}, {})
    assert (second.name, second.unscored, second.refused) == ("client a", {"x": 2}, ["x"])
