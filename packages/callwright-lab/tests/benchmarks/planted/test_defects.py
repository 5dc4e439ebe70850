"""Defects put in by program."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import get_args

import pytest

from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.planted.defects import PLANTERS, plant_defect
from callwright_lab.transcripts import Transcript
from callwright_lab.verify.dataset.account import DefectKind
from callwright_lab.verify.dataset.rules import find_defects
from tests.training.toolmvr_case import bought

ANSWERED = Transcript(replace(bought(), answer="It costs 7.5 there."))
OTHERS = [ANSWERED, Transcript(bought(3))]
GOLD = Transcript(
    replace(bought(), answer=None, steps=tuple(replace(s, results=()) for s in bought().steps))
)
LABEL = ToolCall("call_2", "price_of", {"shop_id": "API_call_0", "thing": "ink 0"})
NESTED = Transcript(
    replace(
        GOLD.trajectory,
        steps=(
            replace(GOLD.trajectory.steps[0], shown='{"shop": "API_call_0"}'),
            replace(GOLD.trajectory.steps[1], calls=(LABEL,), shown='{"price": "API_call_1"}'),
        ),
    )
)


def test_every_class_of_defect_can_be_planted() -> None:
    assert set(PLANTERS) == set(get_args(DefectKind))


@pytest.mark.parametrize("kind", sorted(PLANTERS))
def test_what_is_planted_is_another_row_and_the_same_seed_plants_the_same(kind: DefectKind) -> None:
    made = [
        plant_defect(kind, row, Random(n), OTHERS)
        for row in (ANSWERED, GOLD, NESTED)
        for n in range(12)
    ]
    found = [one for one in made if one is not None]
    if kind in ("day_from_nowhere", "unused_result"):  # no carrier here: see the next tests
        return
    assert found, "some row can have it"
    for one in found:
        assert one.kind == kind
        assert one.transcript.trajectory not in (
            ANSWERED.trajectory,
            GOLD.trajectory,
            NESTED.trajectory,
        )
        assert one.how
    assert made == [
        plant_defect(kind, row, Random(n), OTHERS)
        for row in (ANSWERED, GOLD, NESTED)
        for n in range(12)
    ]


def test_a_day_is_planted_only_where_nobody_speaks_of_time() -> None:
    assert plant_defect("day_from_nowhere", ANSWERED, Random(0), OTHERS) is None, (
        "the request speaks of Monday"
    )
    tool = replace(
        bought().tools[0],
        input_schema={
            "type": "object",
            "properties": {"city": {}, "open_date": {"type": "string"}},
        },
    )
    made = replace(bought(), query="What does ink cost in Bari?", tools=(tool, bought().tools[1]))
    one = plant_defect("day_from_nowhere", Transcript(made), Random(0), OTHERS)
    assert one is not None
    assert "2024" in str(one.transcript.trajectory.calls[0].arguments["open_date"])  # type: ignore[index]


def test_another_tasks_call_is_planted_with_its_tool() -> None:
    step = bought(3).steps[0]
    call = replace(step.calls[0], tool="read_news")
    news = replace(bought().tools[0], name="read_news")
    other = replace(
        bought(3), id="other", tools=(news,),
        steps=(replace(step, calls=(call,), results=(replace(step.results[0], tool="read_news"),)),),
    )  # fmt: skip
    one = plant_defect("unused_result", ANSWERED, Random(0), [Transcript(other)])
    assert one is not None
    made = one.transcript.trajectory
    assert len(made.steps) == 3
    assert made.tool("read_news") == news


@pytest.mark.parametrize(
    "kind", ["no_call", "given_up", "repeated_call", "missing_input", "tool_not_offered"]
)
def test_what_is_plain_is_found(kind: DefectKind) -> None:
    rows = (ANSWERED, GOLD)
    made = [
        one
        for row in rows
        for n in range(4)
        if (one := plant_defect(kind, row, Random(n), OTHERS)) is not None
    ]
    assert made
    assert all(kind in {d.kind for d in find_defects(one.transcript)} for one in made)


def test_cut_messages_are_left_as_they_are() -> None:
    cut = replace(ANSWERED, cut=frozenset({0, 1}))
    for kind in (
        "missing_input",
        "value_from_nowhere",
        "placeholder",
        "repeated_call",
        "trial_and_error",
    ):
        assert plant_defect(kind, cut, Random(0), OTHERS) is None  # type: ignore[arg-type]
