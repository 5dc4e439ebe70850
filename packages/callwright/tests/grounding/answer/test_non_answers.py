"""Statements that answer nothing."""

from __future__ import annotations

import pytest

from callwright.grounding.answer.non_answers import (
    explain_non_answer,
    join_echoes,
    leave_echoes_out,
    repeats_parts,
)
from callwright.grounding.answer.reply import Draft, Drafts
from callwright.grounding.index import facts_of
from callwright.nouns.types import ToolResult

QUERY = "Look up the population of Paris, then that of London."
FACTS = facts_of(QUERY, [ToolResult("r1", "city_info", {"city": "Paris"}, {"people": 2})], ())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (QUERY, "repeats"),
        ("Look up the population of Paris then that of London", "repeats"),
        ('city_info("city":"Paris") -> {', "call"),
        ("city_info(city: Paris)", "call"),
        ("Paris has 2 inhabitants.", ""),
        ("other_tool(Paris)", ""),
    ],
)
def test_what_only_repeats_the_question_or_is_a_call_states_nothing(text: str, why: str) -> None:
    found = explain_non_answer(text, FACTS)
    assert why in found if why else not found


def test_parts_of_the_question_are_joined_and_sentences_that_say_more_are_kept() -> None:
    parts = Drafts((Draft("Look up the population of Paris", ("r1",)), Draft("that of London")))
    assert repeats_parts([one.text for one in parts.statements], FACTS)
    (joined,) = join_echoes(parts, FACTS).statements
    assert (joined.text, joined.results) == (QUERY, ("r1",))
    more = Drafts((Draft(QUERY), Draft("Paris has 2 inhabitants.")))
    assert join_echoes(more, FACTS) == more
    assert [one.text for one in leave_echoes_out(more, FACTS).statements] == [
        "Paris has 2 inhabitants."
    ]
    assert leave_echoes_out(Drafts((Draft(QUERY),)), FACTS).statements
