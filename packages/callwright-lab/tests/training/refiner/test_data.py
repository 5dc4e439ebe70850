"""The refiner's data: kinds, errors and counts."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.training.refiner.data import (
    ABLATIONS,
    ERROR_KINDS,
    PAPER,
    PAPER_UPSTREAMS,
    Recipe,
    Tasks,
    build_correct_samples,
    build_erroneous_samples,
    build_rule_samples,
    build_shuffled_samples,
    divide_evenly,
    report_samples,
    split_recipe,
)  # fmt: skip
from callwright_lab.training.refiner.rewards import grade_reading
from callwright_lab.training.refiner.sources import simplify_to_steps
from callwright_lab.training.refiner.task import Sample, split_held_out
from tests.training.refiner_case import nested_tasks, various_tasks, xlam_tasks

SMALL = Recipe(sources=("xlam",), upstreams=1, each=4, correct=3, full=5, simplified=6, held=0)
BY_SOURCE = {"xlam": various_tasks(40), "nestools": nested_tasks(40)}


def compose_samples(recipe: Recipe, by_source: Tasks, seed: int) -> list[Sample]:
    return build_rule_samples(split_recipe(recipe, by_source), seed)


def test_the_papers_recipe_has_the_papers_counts() -> None:
    assert (PAPER.erroneous, PAPER.correct, PAPER.full, PAPER.simplified) == (2250, 450, 1000, 1000)
    assert (PAPER.upstreams, len(PAPER_UPSTREAMS), PAPER.total) == (5, 5, 4700)
    assert ERROR_KINDS == ("format", "name", "content")
    assert set(ABLATIONS) == {"untrained", "overlong", "simplified"}


def test_a_recipe_is_composed_by_count_and_the_same_again_by_seed() -> None:
    made = compose_samples(SMALL, BY_SOURCE, 3)
    assert Counter(s.kind for s in made) == {
        "erroneous": 12,
        "correct": 3,
        "shuffled_full": 5,
        "shuffled_simplified": 6,
    }
    assert made == compose_samples(SMALL, BY_SOURCE, 3)
    assert made != compose_samples(SMALL, BY_SOURCE, 4)


def test_the_counts_are_of_what_is_learned_from_and_others_are_held_out_beside_them() -> None:
    made = compose_samples(replace(SMALL, each=20, held=30), BY_SOURCE, 3)
    learned, held = split_held_out(made)
    assert Counter(s.kind for s in learned) == {
        "erroneous": 60,
        "correct": 3,
        "shuffled_full": 5,
        "shuffled_simplified": 6,
    }
    assert {s.kind for s in held} == {
        "erroneous",
        "correct",
        "shuffled_full",
        "shuffled_simplified",
    }
    assert 30 <= len(held) <= 36
    assert not {s.task.id for s in learned} & {s.task.id for s in held}


def test_what_cannot_be_shared_equally_is_shared_whole() -> None:
    assert divide_evenly(450, 3) == [150, 150, 150]
    assert divide_evenly(100, 3) == [34, 33, 33]


@pytest.mark.parametrize("error", ERROR_KINDS)
def test_an_erroneous_output_is_never_the_right_one(error: str) -> None:
    for s in build_erroneous_samples(xlam_tasks(), error, 10, random.Random(1)):
        assert s.upstream != s.answer
        assert (s.kind, s.error) == ("erroneous", error)


def test_a_correct_output_has_full_marks() -> None:
    for s in build_correct_samples(xlam_tasks(), 4, random.Random(1)):
        assert grade_reading(s.format.read(s.upstream), s.task.gold, s.kind).value == 1


def test_shuffled_samples_are_in_another_order_but_for_a_share() -> None:
    rng = random.Random(5)
    full = build_shuffled_samples(nested_tasks(), "shuffled_full", 90, rng)
    simple = build_shuffled_samples(
        [simplify_to_steps(t) for t in nested_tasks()], "shuffled_simplified", 90, rng
    )
    for made in (full, simple):
        errors = Counter(s.error for s in made)
        assert set(errors) == {"none", "order", "order and format"}
        assert errors["order"] > 20
        for s in made:
            value = grade_reading(s.format.read(s.upstream), s.task.gold, s.kind).value
            assert (value == 1) == (s.error == "none")
    assert any('"step": 3' in s.upstream for s in simple)


def test_the_report_counts_kinds_errors_and_tasks() -> None:
    text = report_samples(compose_samples(SMALL, BY_SOURCE, 3))
    assert "| erroneous | format | xlam | 4 | 4 | rule |" in text
    assert "| correct | none | xlam | 3 | 3 | rule |" in text
    assert "| all to learn from | | | 26 |" in text
    assert "| held out, to measure on | | | 0 | 0 |" in text


def test_a_source_without_tasks_is_named() -> None:
    with pytest.raises(ConfigError, match="needs tasks of xlam"):
        compose_samples(SMALL, {"xlam": [], "nestools": nested_tasks()}, 0)
