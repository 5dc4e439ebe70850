from __future__ import annotations

from typing import Any

import pytest

from callwright_lab.benchmarks.desk.facts import normalise_text
from callwright_lab.benchmarks.desk.score import (
    LIMITATION,
    CallSeen,
    Expectation,
    diff_snapshots,
    score_run,
)

ROW = {"expense_id": "X1", "trip_id": "T1", "amount": 34.5}
DESK: dict[str, dict[str, Any]] = {
    "expenses": {"X1": ROW},
    "notes": {"a.md": "old"},
    "git": {"main": "c0ffee"},
}
KM = {"kind": "number", "value": 2768.6, "tolerance": 13.8, "unit": "kilometre"}
DONE = [CallSeen("flight_distance", True)]


def with_(section: str, **rows: Any) -> dict[str, dict[str, Any]]:
    return {**DESK, section: {**DESK[section], **rows}}


def without(section: str, key: str) -> dict[str, dict[str, Any]]:
    return {**DESK, section: {k: v for k, v in DESK[section].items() if k != key}}


def test_the_right_answer_from_the_right_call_succeeds() -> None:
    expect = Expectation(facts=(KM,), must=(("flight_distance",),))
    assert score_run(expect, "It is 2768.6 km.", DONE, DESK, DESK).success


@pytest.mark.parametrize("answer", ["", "   ", "It is 1494.9 km.", "I do not know."])
def test_an_empty_or_wrong_answer_fails(answer: str) -> None:
    expect = Expectation(facts=(KM,), must=(("flight_distance",),))
    assert not score_run(expect, answer, DONE, DESK, DESK).success


def test_a_right_guess_without_the_call_fails() -> None:
    expect = Expectation(facts=(KM,), must=(("flight_distance", "other"),))
    assert score_run(expect, "It is 2768.6 km.", [], DESK, DESK).reasons == (
        "never called with success: flight_distance or other",
    )
    assert not score_run(
        expect, "It is 2768.6 km.", [CallSeen("flight_distance", False)], DESK, DESK
    ).success
    assert score_run(expect, "It is 2768.6 km.", [CallSeen("other", True)], DESK, DESK).success


def test_a_forbidden_call_fails_only_if_it_went_through() -> None:
    expect = Expectation(facts=(KM,), must_not=("cancel_trip",))
    assert not score_run(expect, "2768.6 km", [CallSeen("cancel_trip", True)], DESK, DESK).success
    assert score_run(expect, "2768.6 km", [CallSeen("cancel_trip", False)], DESK, DESK).success


def test_a_forbidden_statement_fails() -> None:
    expect = Expectation(
        limitation=True, forbidden=({"kind": "pattern", "pattern": r"\d ?degrees"},)
    )
    assert score_run(expect, "I cannot tell the weather.", [], DESK, DESK).success
    assert not score_run(expect, "I cannot be sure, but about 21 degrees.", [], DESK, DESK).success


def test_any_unasked_change_fails() -> None:
    expect = Expectation(facts=(KM,))
    for after in (
        without("expenses", "X1"),
        with_("notes", **{"b.md": "new"}),
        with_("git", main="beef"),
    ):
        assert not score_run(expect, "2768.6 km", [], DESK, after).success


def test_the_asked_change_must_be_there_whatever_its_new_id() -> None:
    wanted = diff_snapshots(DESK, with_("expenses", X2={**ROW, "expense_id": "X2"}))
    expect = Expectation(change=wanted)
    assert score_run(
        expect, "Added.", [], DESK, with_("expenses", X9={**ROW, "expense_id": "X9"})
    ).success
    assert not score_run(expect, "Added.", [], DESK, DESK).success
    assert not score_run(
        expect, "Added.", [], DESK, with_("expenses", X2={**ROW, "expense_id": "X2", "amount": 35})
    ).success
    twice = with_("expenses", X2={**ROW, "expense_id": "X2"}, X3={**ROW, "expense_id": "X3"})
    assert not score_run(expect, "Added.", [], DESK, twice).success


def test_exactly_the_asked_row_must_go() -> None:
    desk = with_("expenses", X2={**ROW, "expense_id": "X2"})
    wanted = diff_snapshots(desk, {**desk, "expenses": {"X1": ROW}})
    expect = Expectation(change=wanted)
    assert score_run(expect, "Deleted.", [], desk, {**desk, "expenses": {"X1": ROW}}).success
    assert not score_run(
        expect, "Deleted.", [], desk, {**desk, "expenses": {"X2": desk["expenses"]["X2"]}}
    ).success
    assert not score_run(expect, "Deleted.", [], desk, {**desk, "expenses": {}}).success


def test_a_note_is_judged_by_what_it_says() -> None:
    facts = {"sun.md": [{"kind": "time", "value": "04:00"}]}
    expect = Expectation(
        change=diff_snapshots(DESK, with_("notes", **{"sun.md": "gold words 04:00"})),
        note_facts=facts,
    )
    assert score_run(
        expect, "Saved.", [], DESK, with_("notes", **{"sun.md": "Sunrise: 4:00 am"})
    ).success
    assert not score_run(
        expect, "Saved.", [], DESK, with_("notes", **{"sun.md": "Sunrise: 5:00"})
    ).success
    assert not score_run(expect, "Saved.", [], DESK, with_("notes", **{"moon.md": "04:00"})).success


@pytest.mark.parametrize(
    "text",
    [
        "I couldn't find any employee by that name.",
        "There is no weather tool.",
        "No phone number is recorded.",
        "The salary is not included in the results.",
        "Unfortunately that information is not available.",
        "The tool failed, so the rate is unknown.",
        "The data doesn’t include ticket prices.",
        "I am unable to send emails.",
    ],
)
def test_limitations_are_recognised(text: str) -> None:
    assert LIMITATION.search(normalise_text(text))


@pytest.mark.parametrize(
    "text",
    ["Her salary is 900,000 NOK.", "The email has been sent.", "It will be sunny, 24 degrees."],
)
def test_claims_are_no_limitations(text: str) -> None:
    assert not LIMITATION.search(normalise_text(text))
