"""What planners score: graded replies, macro averages, the share of every case, and gains with
intervals.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest

if find_spec("trl") is None or find_spec("torch") is None:
    pytest.skip("extra 'train' is not installed", allow_module_level=True)

from callwright_lab.training.planner.data import render_gold
from callwright_lab.training.planner.scores import (
    Measured,
    compare_planners,
    grade_reply,
    measure_planner,
    render_table,
)
from tests.training.planner_case import TOY, task, tasks
from tests.training.refiner_case import tiny_model, tiny_tokenizer

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries that train


def test_a_reply_without_a_plan_has_nothing_and_gold_has_everything() -> None:
    right, none = (
        grade_reply(task(0), text, TOY) for text in (render_gold(task(0)), "I cannot plan.")
    )
    assert (right.score.exact, right.score.edges.f1, right.reward.value) == (1, 1, 10)
    assert (none.score.nodes.f1, none.score.edges.f1, none.reward.case) == (0, 0, "syntax")


def test_scores_stand_side_by_side_with_what_was_gained() -> None:
    one = Measured(2.0, tuple(grade_reply(task(n), "no", TOY) for n in range(4)))
    other = Measured(0.5, tuple(grade_reply(task(n), render_gold(task(n)), TOY) for n in range(4)))
    found = {"untrained": one, "SFT": other}
    text = render_table(found)
    assert (
        "| untrained | 4 | 2.000 | 0.000 | 0.000 | 0.000 | 0.000 | 0.000 | -10.000 | 1.000 |"
        in text
    )
    assert "| SFT | 4 | 0.500 | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 | 10.000 | 0.000 |" in text
    assert "| untrained | 4 | +1.000 | +1.000 to +1.000 | +1.000 |" in compare_planners(
        found, "SFT"
    )


def test_a_model_is_measured_greedily_on_every_task() -> None:
    tokenizer = tiny_tokenizer()
    found = measure_planner(tiny_model(tokenizer), tokenizer, tasks(3), TOY)
    assert [g.id for g in found.replies] == ["task-0", "task-1", "task-2"]
    assert found.loss > 3
    assert all(g.reward.case == "syntax" for g in found.replies)
