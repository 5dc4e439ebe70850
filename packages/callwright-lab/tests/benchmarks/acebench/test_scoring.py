"""Scores of replies, and the harm that they would have done."""

from __future__ import annotations

from typing import Any

import pytest

from callwright_lab.benchmarks.acebench.scoring import (
    find_invented,
    judge_text,
    score_calls,
    score_text,
)
from tests.benchmarks.invented_ace import row

RIGHT = {"item": "red bolts", "count": 7}


def test_a_text_is_judged_by_the_suites_rules() -> None:
    plain = row(gold={"weather2": {"city": "Oslo"}})
    assert judge_text(plain, "I call it").startswith("not in the suite's notation")
    found = score_text(row(), "[shop.order(item='red bolts', count=7)]")
    assert (found.wrong, found.invented) == ("", ())
    assert found.calls == ({"shop.order": {"item": "redbolts", "count": 7}},)
    assert found.to_dict()["right"]


def test_native_calls_are_judged_as_if_they_were_written() -> None:
    assert not score_calls(row(), [{"shop.order": RIGHT}], "").wrong
    assert score_calls(row(), [], "Done.").wrong
    assert score_calls(row(), [{"shop.order": {"": "{broken"}}], "").wrong
    nested = row(gold={"shop.order": {"item": "x", "to": {"city": ["New York"]}}})
    gold = nested.gold_calls[0]["shop.order"]
    text = "[shop.order(item='x', to={'city': ['New York']})]"
    assert bool(score_calls(nested, [{"shop.order": gold}], "").wrong) == bool(
        score_text(nested, text).wrong
    ), "one judge for both ways"


def test_every_call_of_a_special_row_is_harm() -> None:
    special = row("special_irrelevant", gold="cannot")
    called = score_calls(special, [{"shop.order": RIGHT}], "the limitations of the function")
    assert (bool(called.wrong), len(called.calls), called.is_by_words) == (True, 1, True)
    said = score_text(special, '["Due to the limitations of the function, I cannot."]')
    assert (said.wrong, said.calls, said.is_by_words) == ("", (), True)


@pytest.mark.parametrize(
    "arguments",
    [
        RIGHT,
        {**RIGHT, "to": {"city": "OSLO"}},
        {**RIGHT, "count": 7.0},
        {**RIGHT, "tags": ["red", "bolts"]},
    ],
)
def test_what_the_conversation_or_gold_holds_is_not_invented(arguments: Any) -> None:
    assert find_invented(row(), [{"shop.order": arguments}]) == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", 70),
        ("item", "unknown"),
        ("speed", "express"),
        ("gift", True),
        ("to", {"city": "Oslo", "zip": "0150"}),
        ("tags", ["red", "urgent"]),
        ("to", {"city": None}),
    ],
)
def test_a_value_that_nobody_gave_is_invented(name: str, value: Any) -> None:
    found = find_invented(row(), [{"shop.order": {**RIGHT, name: value}}])
    assert found == (f"shop.order.{name}",)


def test_a_choice_counts_only_where_gold_has_no_such_argument() -> None:
    gold = {"shop.order": {"item": "red bolts", "speed": "slow", "gift": False}}
    given = {"item": "red bolts", "speed": "express", "gift": True}
    assert find_invented(row(gold=gold), [{"shop.order": given}]) == ()


def test_a_number_is_found_as_it_is_written() -> None:
    asked = row(question="user: 5,500 bolts on 2024-07-15, please\n")
    for number, invented in ((5500, False), (7, False), (-15, False), (55, True), (10**400, True)):
        found = find_invented(asked, [{"shop.order": {"count": number}}])
        assert bool(found) == invented, number
