"""Errors made by a language model."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Reply
from callwright.testing import ScriptedModel
from callwright_lab.training.refiner.data import Recipe
from callwright_lab.training.refiner.formats import FORMATS
from callwright_lab.training.refiner.sources import simplify_to_steps
from callwright_lab.training.refiner.spoil import Spoiling, ask_spoiled_sample
from callwright_lab.training.refiner.task import Sample
from tests.training.refiner_case import nested_tasks, xlam_tasks


def test_the_model_answers_first_and_then_spoils_its_own_answer() -> None:
    task = xlam_tasks()[0]
    questions = ask_spoiled_sample(task, "name", "tiny")
    first = next(questions)
    assert [m.content for m in first.messages] == [task.system, task.query]
    second = questions.send(Reply("<func_call>MINE</func_call>"))
    assert (
        "The 'original answer' is: \"<func_call>MINE</func_call>\"." in second.messages[-1].content
    )
    assert "tool names or tool call parameter names differ" in second.messages[-1].content
    with pytest.raises(StopIteration) as done:
        questions.send(Reply(" SPOILED "))
    sample = done.value.value
    assert (sample.kind, sample.error, sample.upstream, sample.by) == (
        "erroneous",
        "name",
        "SPOILED",
        "tiny",
    )


def test_an_order_is_spoiled_from_gold_and_named_by_what_came_of_it() -> None:
    task = nested_tasks()[0]
    for error, given, kind in (
        ("order", task, "shuffled_full"),
        ("steps", simplify_to_steps(task), "shuffled_simplified"),
    ):
        write = FORMATS[given.format].write
        turned = [replace(c, step=c.step and 1) for c in reversed(given.gold)]
        for text, found in (
            (write(turned), "order"),
            (write(given.gold), "none"),
            ("x", "order and format"),
        ):
            questions = ask_spoiled_sample(given, error, "tiny")
            assert '[{"' in next(questions).messages[-1].content.partition("answer' is:")[2]
            with pytest.raises(StopIteration) as done:
                questions.send(Reply(text))
            assert (done.value.value.kind, done.value.value.error) == (kind, found)


async def test_a_model_makes_its_whole_share_though_some_replies_are_of_no_use() -> None:
    found = xlam_tasks(5)
    right = FORMATS["xlam"].write(found[0].gold)
    flawless = {t.query: FORMATS["xlam"].write(t.gold) for t in found}

    def answer(
        request: ChatRequest,
    ) -> str:  # repeats the right answer once in three; the rest is spoiled
        asked = request.messages[-1].content
        if asked in flawless:
            return flawless[asked]
        return (
            asked.partition("answer' is: \"")[2].partition('". You')[0]
            if "town2" in asked
            else "spoiled"
        )

    kept: list[Sample] = []
    one = Spoiling(ScriptedModel(answer), keep=kept.append)
    recipe = Recipe(sources=("xlam",), each=4)
    await one.erroneous(recipe, {"xlam": found})
    assert Counter(s.error for s in one.made) == {"format": 4, "name": 4, "content": 4}
    assert kept == one.made
    assert all(s.by == one.model.name and s.upstream == "spoiled" for s in one.made)
    assert one.useless <= 3
    assert right


async def test_what_a_model_made_before_is_not_asked_for_again() -> None:
    found = xlam_tasks(4)
    recipe = Recipe(sources=("xlam",), each=3)
    first = Spoiling(ScriptedModel(lambda _: "spoiled"))
    await first.erroneous(recipe, {"xlam": found})
    assert len(first.made) == 9
    again = Spoiling(ScriptedModel(lambda _: "spoiled"), known=first.made[:8])
    await again.erroneous(recipe, {"xlam": found})
    assert len(again.model.requests) == 2  # type: ignore[attr-defined]  # one sample: its answer, then its error
    assert len(again.made) == 9


async def test_shuffled_samples_use_tasks_again_where_there_are_too_few() -> None:
    one = Spoiling(ScriptedModel(lambda _: "anything"))
    await one.shuffled(Recipe(full=7, simplified=5), {"nestools": nested_tasks(3)})
    assert Counter(s.kind for s in one.made) == {"shuffled_full": 7, "shuffled_simplified": 5}
