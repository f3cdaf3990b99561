"""Policies are values, applied in order: the last word wins, a negative number says nothing, 0 lifts.

Source: spec one-session 1.6 and 2.2.
"""

import pytest

from toolwire import max_result_bytes, origin, render, sequential, timeout
from toolwire.contract.policies import Policy, Settings, applied

IMPORTED = Settings(origin="mcp")


def test_nothing_said_changes_nothing() -> None:
    assert applied((), IMPORTED) == applied(None, IMPORTED) == applied((None, None), IMPORTED) == IMPORTED


def test_one_policy_needs_no_list() -> None:
    assert applied(timeout(2), IMPORTED) == applied([timeout(2)], IMPORTED)


def test_policies_apply_in_order_and_the_last_word_wins() -> None:
    settings = applied([timeout(1), origin("a"), None, max_result_bytes(5), timeout(2), origin("b")], IMPORTED)
    assert settings == Settings(origin="b", timeout=2, max_result_bytes=5)


def test_policies_may_come_from_a_generator() -> None:
    assert applied((timeout(seconds) for seconds in (1, 3)), IMPORTED).timeout == 3


@pytest.mark.parametrize("value", [-1, -0.001, float("-inf"), float("nan")])
def test_a_negative_timeout_says_nothing(value: float) -> None:
    assert applied([timeout(7), timeout(value)], IMPORTED).timeout == 7
    assert applied(timeout(value), IMPORTED).timeout is None


def test_a_negative_cap_says_nothing() -> None:
    assert applied([max_result_bytes(7), max_result_bytes(-1)], IMPORTED).max_result_bytes == 7
    assert applied(max_result_bytes(-1), IMPORTED).max_result_bytes is None


def test_0_is_a_word_of_its_own_and_lifts() -> None:
    settings = applied([timeout(7), max_result_bytes(7), timeout(0), max_result_bytes(0)], IMPORTED)
    assert (settings.timeout, settings.max_result_bytes) == (0, 0)


def test_sequential_is_only_ever_added_and_tells_who_said_it() -> None:
    by_import = Settings(origin="mcp", sequential=True)
    assert not by_import.sequential_by_policy
    assert applied((), by_import).sequential
    settings = applied(sequential(), IMPORTED)
    assert (settings.sequential, settings.sequential_by_policy) == (True, True)


@pytest.mark.parametrize("rule", ["default", "auto", "content", "structured", "both"])
def test_render_takes_each_rule(rule: str) -> None:
    assert applied(render(rule), IMPORTED).render == rule  # type: ignore[arg-type]  # parametrized over the literal's own words


@pytest.mark.parametrize("rule", ["", "Auto", "json"])
def test_render_refuses_a_rule_that_there_is_not(rule: str) -> None:
    with pytest.raises(ValueError, match="it is default, auto, content, structured or both"):
        render(rule)  # type: ignore[arg-type]  # that is the mistake


def test_a_policy_reads_as_it_is_written() -> None:
    policies = [timeout(0.5), max_result_bytes(10), sequential(), origin("gh"), render("auto")]
    assert [repr(policy) for policy in policies] == [
        "timeout(0.5)",
        "max_result_bytes(10)",
        "sequential()",
        "origin('gh')",
        "render('auto')",
    ]


@pytest.mark.parametrize(("value", "name"), [(timeout(1), "spelling"), (Settings(), "timeout")])
def test_policies_and_what_they_come_to_are_immutable(value: Policy | Settings, name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(value, name, 5)


def test_applying_a_policy_leaves_the_settings_that_it_was_given() -> None:
    settings = Settings(timeout=1)
    applied([timeout(2), origin("x")], settings)
    assert settings == Settings(timeout=1)


@pytest.mark.parametrize("mistake", [timeout, [timeout(1)], "timeout"])
def test_what_is_no_policy_is_refused_in_words(mistake: object) -> None:
    with pytest.raises(TypeError, match=r"^a policy is wanted, such as timeout\(5\), not "):
        applied([mistake], IMPORTED)  # type: ignore[list-item]  # that is the mistake
