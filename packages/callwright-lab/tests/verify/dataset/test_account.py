"""A row as the rules read it."""

from __future__ import annotations

from callwright_lab.verify.dataset.account import Account
from tests.verify.rows import FOUND, GOOD, row, step


def test_gold_rows_and_reflections_give_no_answers() -> None:
    assert Account(row(step("find_flight", GOOD), answer=None)).gold
    assert Account(row(step("find_flight", GOOD, FOUND), answer=None)).answers
    assert not Account(
        row(step("find_flight", GOOD, FOUND), answer=None, context=frozenset({0}))
    ).answers


def test_what_was_said_before_a_call_grows_with_results() -> None:
    steps = (
        step("find_flight", GOOD, FOUND),
        step("book", {"flight_id": "BA-7731"}, {"ok": True}, "c2"),
    )
    held = [sources.holds("BA-7731") for *_, sources in Account(row(*steps)).said_before()]
    assert len(held) == 2
    assert held[1]


def test_a_round_behind_a_cut_one_is_not_whole() -> None:
    account = Account(row(step("find_flight", GOOD), step("find_flight", GOOD), cut=frozenset({1})))
    assert [account.is_complete(at) for at in (-1, 0, 1, 2)] == [True, True, False, False]
