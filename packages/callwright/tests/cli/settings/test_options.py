"""Every limit of a run is an option."""

from __future__ import annotations

import re

import pytest

from callwright.agent.strategies import STRATEGIES
from callwright.nouns.limits import LIMITS
from tests.cli.program import callwright


def test_the_help_of_run_names_every_limit_with_what_it_is_usually() -> None:
    told = " ".join(callwright("run", "--help").stdout.split())
    for limit in LIMITS.values():
        assert re.search(rf"--{limit.name.replace('_', '-')} <\w+ range>", told), limit.name
        assert f"[{limit.default:,}]".replace(".0]", "]") in told


@pytest.mark.parametrize(
    "given",
    [
        ("--turns", "0"),
        ("--tokens", "many"),
        ("--concurrency", "1.5"),
        ("--seconds", "-1"),
        ("--tool-seconds", "0"),
    ],
)
def test_nonsense_is_refused_with_the_option_it_was_given_to(given: tuple[str, str]) -> None:
    done = callwright("run", "x", *given)
    assert done.returncode == 2
    assert f"'{given[0]}'" in done.stderr


def test_a_limit_holds_that_no_range_can_tell() -> None:
    done = callwright("run", "x", "--tools", "json", "--seconds", "inf")
    assert done.returncode == 1
    assert "the limit seconds is inf, and must be 0 or more, and finite" in done.stderr


def test_the_help_of_run_names_every_strategy_that_is_no_part_of_another() -> None:
    told = " ".join(callwright("run", "--help").stdout.split())
    for name in STRATEGIES:
        if "-no-" not in name and name != "given":  # ablations, and what --plan asks for
            assert re.search(
                rf"\b{name}\b", told.partition("--strategy")[2].partition("--repair ")[0]
            ), name
