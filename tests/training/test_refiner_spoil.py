"""Errors made by a language model."""

from __future__ import annotations

import pytest
from tests.training.refiner_case import nested_tasks, xlam_tasks

from callwright.testing import ScriptedModel
from callwright.training.refiner_data import Recipe
from callwright.training.refiner_sources import in_steps
from callwright.training.refiner_spoil import spoil, spoil_with
from callwright.types import Reply


def test_the_model_answers_first_and_then_spoils_its_own_answer() -> None:
    task = xlam_tasks()[0]
    questions = spoil(task, "name", "tiny")
    first = next(questions)
    assert [m.content for m in first.messages] == [task.system, task.query]
    second = questions.send(Reply("<func_call>MINE</func_call>"))
    assert "The 'original answer' is: \"<func_call>MINE</func_call>\"." in second.messages[-1].content
    assert "tool names or tool call parameter names differ" in second.messages[-1].content
    with pytest.raises(StopIteration) as done:
        questions.send(Reply(" SPOILED "))
    sample = done.value.value
    assert (sample.kind, sample.error, sample.upstream, sample.by) == ("erroneous", "name", "SPOILED", "tiny")


def test_an_order_is_spoiled_from_gold() -> None:
    task = nested_tasks()[0]
    for error, given, kind in (("order", task, "shuffled_full"), ("steps", in_steps(task), "shuffled_simplified")):
        questions = spoil(given, error, "tiny")
        assert '[{"' in next(questions).messages[-1].content.partition("answer' is:")[2]
        with pytest.raises(StopIteration) as done:
            questions.send(Reply("x"))
        assert done.value.value.kind == kind


async def test_a_models_share_counts_replies_of_no_use() -> None:
    found = xlam_tasks(3)
    script = [text for _ in range(8) for text in ("answer", "spoiled answer")]
    model = ScriptedModel([*script, "answer", ""])
    made, useless = await spoil_with(model, {"xlam": found}, Recipe(sources=("xlam",), each=3))
    assert (len(made), useless) == (8, 1)
    assert {s.error for s in made} == {"format", "name", "content"}
    assert all(s.by == model.name and s.upstream == "spoiled answer" for s in made)
