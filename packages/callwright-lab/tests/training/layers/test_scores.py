from __future__ import annotations

import pytest

from callwright.nouns.types import Tool
from callwright_lab.datasets.examples import PlanExample, example_from_calls
from callwright_lab.training.layers.scores import (
    MACRO,
    apply_constraint,
    render_table,
    score_layers,
)

FIND = Tool(
    "find_movie",
    input_schema={
        "type": "object",
        "properties": {"title": {"type": "string"}},
        "required": ["title"],
    },
    output_schema={"type": "object", "properties": {"movie_id": {"type": "string"}}},
)
SEND = Tool(
    "movie_credits",
    input_schema={
        "type": "object",
        "properties": {"movie_id": {"type": "string"}},
        "required": ["movie_id"],
    },
)
OTHER = Tool("other")


def example(id: str, source: str) -> PlanExample:
    tools = [FIND, SEND, OTHER]
    return example_from_calls(
        id, source, "a query", tools, ["find_movie", "movie_credits"], {1: [0]}
    )


def test_a_right_plan_scores_one_and_a_flat_one_does_not() -> None:
    rows = [example("1", "a"), example("2", "b")]
    right, flat = (
        {"find_movie": 0, "movie_credits": 1, "other": 0},
        {"find_movie": 0, "movie_credits": 0, "other": 0},
    )
    found = score_layers(rows, [right, flat])
    assert (found["a"].accuracy, found["a"].order, found["a"].valid, found["a"].error) == (
        1,
        1,
        1,
        0,
    )
    assert (found["b"].accuracy, found["b"].order, found["b"].valid, found["b"].error) == (
        0.5,
        0,
        0,
        0.5,
    )
    assert found[MACRO].accuracy == pytest.approx(0.75)
    assert found[MACRO].examples == 2


def test_distractors_count_for_nothing_and_empty_layers_close_up() -> None:
    found = score_layers([example("1", "a")], [{"find_movie": 1, "movie_credits": 4, "other": 0}])
    assert found["a"].accuracy == 1


def test_the_constraint_moves_a_consumer_behind_its_producer() -> None:
    moved = apply_constraint(example("1", "a"), {"find_movie": 0, "movie_credits": 0, "other": 0})
    assert moved == {"find_movie": 0, "movie_credits": 1, "other": 0}


def test_the_table_shows_percentages() -> None:
    text = render_table(
        score_layers([example("1", "a")], [{"find_movie": 0, "movie_credits": 1, "other": 0}])
    )
    assert "| a | 1 | 100.0 | 100.0 | 100.0 | 100.0 | 0.00 |" in text.splitlines()
