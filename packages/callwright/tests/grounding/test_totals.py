import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding import check_statement, facts_of
from callwright.grounding.claims import claims_of
from callwright.grounding.facts import Facts
from callwright.grounding.totals import iter_totals
from callwright.nouns.types import ToolResult

TRIP = facts_of(
    "What did my trip cost? The budget was 500 EUR.",
    [
        ToolResult(
            "r1",
            "expenses",
            {},
            {
                "currency": "EUR",
                "items": [
                    {"category": "train", "amount": 86.4, "date": "2024-09-03"},
                    {"category": "hotel", "amount": 214.0, "date": "2024-09-03"},
                    {"category": "food", "amount": 57.35, "date": "2024-09-04"},
                    {"category": "food", "amount": 41.15, "date": "2024-09-05"},
                ],
            },
        ),
        ToolResult(
            "r2",
            "legs",
            {},
            [{"to": "Malmo", "distance_km": 402}, {"to": "Lund", "distance_km": 18}],
        ),
    ],
)


@pytest.mark.parametrize(
    "text",
    [
        "In total you spent 398.90 EUR.",
        "You spent 98.50 EUR on food.",
        "You covered 420 km.",
        "Train and hotel together cost 300.40 EUR.",
        "Of your budget, 101.10 EUR are left.",
        "You used 80% of the budget.",
        "The hotel accounts for about 54% of your spending.",
        "On average you spent 132.97 EUR per day.",
        "An entry averages 99.73 EUR.",
    ],
)
def test_a_total_and_what_it_is_held_against_is_supported(text: str) -> None:
    verdict = check_statement(text, TRIP)
    assert verdict.support == "supported", verdict.problems
    assert verdict.derived


@pytest.mark.parametrize(
    "text",
    [
        "In total you spent 399.90 EUR.",
        "You spent 88.50 EUR on food.",
        "You covered 440 km.",
        "The way to Lund is 420 km.",
        "Of your budget, 111.10 EUR are left.",
        "The food cost 155.85 EUR.",
    ],
)
def test_a_wrong_total_or_one_of_a_record_that_is_no_list_is_flagged(text: str) -> None:
    assert check_statement(text, TRIP).support == "unsupported"


def sums(values: list[int], text: str) -> dict[float, bool]:
    facts = facts_of(
        "q",
        [ToolResult("r1", "t", {}, [{"name": f"n{i}", "depth": v} for i, v in enumerate(values)])],
    )
    return {t.value: t.complete for t in iter_totals("", claims_of(text, facts), facts)}


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=12))
def test_the_sum_of_a_whole_list_needs_no_announcement(values: list[int]) -> None:
    assert sums(values, "The depth is given.") == {float(sum(values)): True}


def test_one_value_is_no_total() -> None:
    assert sums([5], "The depth is given.") == {}


def test_values_of_different_results_are_never_a_complete_total() -> None:
    facts: Facts = facts_of("q", [ToolResult(f"r{i}", "t", {}, {"depth": i}) for i in (1, 2)])
    assert [
        (t.value, t.complete) for t in iter_totals("", claims_of("The depth.", facts), facts)
    ] == [(3.0, False)]
