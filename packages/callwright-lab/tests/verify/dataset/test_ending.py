"""What the end of a row shows."""

from __future__ import annotations

import pytest

from callwright_lab.verify.dataset.rules import find_defects
from tests.verify.rows import FOUND, GOOD, row, step

DONE = step("find_flight", GOOD, FOUND)
FAILED = step("find_flight", GOOD, {"error": "no such city", "response": ""})


def _kinds(*steps: object, **more: object) -> list[str]:
    return [d.kind for d in find_defects(row(*steps, **more))]  # type: ignore[arg-type]


def test_rows_that_stop_or_give_up() -> None:
    assert _kinds(DONE, answer=None) == ["no_answer"]
    assert _kinds(DONE, answer=None, given_up=True) == ["given_up"]
    assert _kinds(DONE, answer=None, context=frozenset({0})) == []
    assert _kinds(answer="It is.") == ["no_call"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("I'm sorry, but I couldn't find any flights.", "admitted_failure"),
        ("Unfortunately, the flights are not available.", "admitted_failure"),
        ("For that, please provide the name of the airport.", "asks_back"),
    ],
)
def test_answers_that_do_not_answer(answer: str, kind: str) -> None:
    assert kind in _kinds(DONE, answer=answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Yes, BA-7731 for 81. Please let me know if you need anything else.",
        "Yes: BA-7731. If you need more, please let me know.",
    ],
)
def test_an_offer_of_more_is_no_question(answer: str) -> None:
    assert "asks_back" not in _kinds(DONE, answer=answer)


def test_an_answer_after_nothing_but_failures_that_says_nothing_of_them() -> None:
    assert "failure_as_success" in _kinds(FAILED, answer="Yes, there is one for 81.")
    assert "failure_as_success" not in _kinds(
        FAILED, answer="I'm sorry, the search failed to find Bari."
    )
    assert "failure_as_success" not in _kinds(FAILED, step("find_flight", GOOD, FOUND, "c2"))
    for said in ("Leider konnte ich keinen Flug nach Bari finden.", "抱歉，没有找到航班。"):
        assert "failure_as_success" not in _kinds(FAILED, answer=said)


def test_statements_are_checked_only_against_whole_replies() -> None:
    assert "unsupported" in _kinds(DONE, answer="Yes, QX-5512 for 81.") + _kinds(
        DONE, answer="Call 555-0199-3321."
    )
    assert "unsupported" not in _kinds(DONE, answer="Yes, QX-5512 for 81.", cut=frozenset({0}))
