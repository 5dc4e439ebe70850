"""Drafts: drawn alike every time, in the shares of Fig. 3, and whole on disk."""

from __future__ import annotations

import json
from dataclasses import replace
from statistics import fmean

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.plan import Plan
from callwright.nouns.types import Tool
from callwright.planning.arrows import read_arrows
from callwright_lab.datasets.files import example_from_row
from callwright_lab.training.planner.drafts import (
    DIFFICULTIES,
    Difficulty,
    Draft,
    drawn,
    from_json,
    to_json,
)
from tests.training.plan_case import catalogue


def planned(draft: Draft, workflow: str, plan: str) -> Draft:
    made = [read_arrows(text, draft.tools) for text in (workflow, plan)]
    assert all(isinstance(p, Plan) for p in made)
    return replace(draft, workflow=made[0], plan=made[1], query="q")  # type: ignore[arg-type]


def test_a_draft_is_the_same_every_time_and_another_for_every_number_part_and_seed() -> None:
    tools = catalogue()
    one = drawn(tools, "sft", "medium", 3)
    assert one == drawn(list(reversed(tools)), "sft", "medium", 3), (
        "the order of the catalogue does not matter"
    )
    others = [
        drawn(tools, *where)
        for where in (("sft", "medium", 4), ("rl", "medium", 3), ("sft", "medium", 3, 1))
    ]
    assert all([t.name for t in other.tools] != [t.name for t in one.tools] for other in others)
    assert one.id == "sft-medium-00003"


@pytest.mark.parametrize(
    ("difficulty", "offered", "used"),
    [("easy", 2.9, 2.6), ("medium", 6.5, 4.15), ("hard", 9.9, 5.7)],
)
def test_tools_offered_and_wanted_have_the_shares_of_the_published_rows(
    difficulty: Difficulty, offered: float, used: float
) -> None:
    some = [drawn(catalogue(), "sft", difficulty, n) for n in range(600)]
    assert fmean(len(d.tools) for d in some) == pytest.approx(offered, abs=0.12)
    assert fmean(d.wanted for d in some) == pytest.approx(used, abs=0.12)
    assert all(2 <= d.wanted <= len(d.tools) == len({t.name for t in d.tools}) for d in some)


def test_most_of_the_tools_drawn_have_to_do_with_each_other() -> None:
    kin = 0
    for n in range(300):
        kinds = [t.name.split("_")[1] for t in drawn(catalogue(), "sft", "easy", n).tools]
        kin += len(set(kinds)) < len(kinds)
    unrelated = 1 - (
        0.37 * 12 / 13 + 0.34 * 12 * 10 / (13 * 12) + 0.29 * 12 * 10 * 8 / (13 * 12 * 11)
    )
    assert kin / 300 > 1.5 * unrelated, (
        "two tools of one kind come together more often than by chance"
    )


def test_a_catalogue_that_is_too_small_or_names_a_tool_twice_is_said() -> None:
    with pytest.raises(
        ConfigError, match="hard tasks offer up to 14 tools, and the catalogue has 13"
    ):
        drawn(catalogue()[:13], "sft", "hard", 0)
    with pytest.raises(ConfigError, match="two tools"):
        drawn([Tool("a"), Tool("a"), Tool("b"), Tool("c")], "sft", "easy", 0)


def test_the_agreement_is_that_of_the_label_with_the_workflow() -> None:
    draft = drawn(catalogue(), "sft", "medium", 0)
    assert draft.agreement is None
    score = planned(draft, "1->2, 2->3", "1->2, 2->4").agreement
    assert score is not None
    assert (score.nodes.f1, score.edges.f1, score.exact) == (pytest.approx(2 / 3), 0.5, 0)


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_a_draft_is_whole_on_disk_at_every_stage(difficulty: Difficulty) -> None:
    draft = drawn(catalogue(), "rl", difficulty, 7)
    for one in (
        draft,
        planned(draft, "1->2", "2->1"),
        replace(draft, dropped="workflow: cycle", tokens=9, by="x"),
    ):
        assert from_json(json.loads(json.dumps(to_json(one)))) == one
    row = to_json(planned(draft, "1->2", "2->1"))
    assert (row["node_f1"], row["edge_f1"], row["plan"]) == (1, 0, "2->1")
    example = example_from_row(row)
    assert example is not None, "a finished draft is a row that can be learned from"
    assert example.edges == {(draft.tools[1].name, draft.tools[0].name)}


@pytest.mark.parametrize(
    "change", [{"difficulty": "odd"}, {"plan": "1->x"}, {"tools": 3}, {"tokens": None}]
)
def test_a_row_that_is_no_draft_is_refused(change: dict[str, object]) -> None:
    row = {**to_json(drawn(catalogue(), "rl", "easy", 0)), **change}
    with pytest.raises((ValueError, TypeError, KeyError)):
        from_json(row)
