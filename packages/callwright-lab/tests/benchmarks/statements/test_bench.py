import pytest

from callwright_lab.benchmarks.statements.bench import (
    DIGEST,
    FALSE,
    digest_set,
    main,
    read_scenes,
    score_statements,
)


def test_the_planted_set_is_the_frozen_one() -> None:
    assert digest_set() == DIGEST


def test_the_set_is_large_enough_in_every_kind() -> None:
    cases = [case for scene in read_scenes() for case in scene.cases]
    assert all(sum(c.kind == kind for c in cases) >= 50 for kind in FALSE)
    assert sum(not c.false for c in cases) >= 200


def test_the_check_catches_what_it_is_said_to_catch() -> None:
    scores = score_statements("all")
    assert scores.rate("number", "entity") >= 0.95
    assert scores.rate("claim", "unit") >= 0.60
    assert scores.rate(*scores.true_kinds) <= 0.03


def test_the_failing_cases_of_the_reporting_half_are_never_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--half", "test", "--verbose"]) == 0
    shown = capsys.readouterr().out
    assert DIGEST in shown
    assert not [c.text for s in read_scenes() for c in s.cases if c.text in shown]


def test_derived_numbers_are_told_from_wrong_ones() -> None:
    scores = score_statements("all", "derived")
    assert sum(scores.total.values()) == 253
    assert scores.rate("number") >= 0.85
    assert scores.rate("derive") <= 0.05
