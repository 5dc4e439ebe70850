import pytest

from callwright_lab.benchmarks.statements.bench import (
    DIGEST,
    FALSE,
    main,
    run,
    scenes,
    set_digest,
)


def test_the_planted_set_is_the_frozen_one() -> None:
    assert set_digest() == DIGEST


def test_the_set_is_large_enough_in_every_kind() -> None:
    cases = [case for scene in scenes() for case in scene.cases]
    assert all(sum(c.kind == kind for c in cases) >= 50 for kind in FALSE)
    assert sum(not c.false for c in cases) >= 200


def test_the_check_catches_what_it_is_said_to_catch() -> None:
    scores = run("all")
    assert scores.rate("number", "entity") >= 0.95
    assert scores.rate("claim", "unit") >= 0.60
    assert scores.rate(*scores.true_kinds) <= 0.03


def test_the_failing_cases_of_the_reporting_half_are_never_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--half", "test", "--verbose"]) == 0
    shown = capsys.readouterr().out
    assert DIGEST in shown
    assert not [c.text for s in scenes() for c in s.cases if c.text in shown]


def test_derived_numbers_are_told_from_wrong_ones() -> None:
    scores = run("all", "derived")
    assert sum(scores.total.values()) == 253
    assert scores.rate("number") >= 0.85
    assert scores.rate("derive") <= 0.05
