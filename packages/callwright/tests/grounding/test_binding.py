import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding import check_answer, facts_of
from callwright.grounding.binding import (
    Bound,
    anchors_of,
    bind_figure,
    is_conflicting,
    key_concepts,
)
from callwright.grounding.claims import claims_of
from callwright.grounding.facts import Facts
from callwright.grounding.matching import figures_for
from callwright.nouns.types import ToolResult


def towns(a: int = 300, b: int = 500) -> Facts:
    record = {
        "Brenn": {"town": "Brenn", "visitors": a, "loans": 70},
        "Ostvik": {"town": "Ostvik", "visitors": b, "loans": 90},
    }
    return facts_of(
        "q",
        [
            ToolResult(f"r{i}", "library", {"town": t}, r)
            for i, (t, r) in enumerate(record.items(), 1)
        ],
    )


def bound(text: str, facts: Facts, cited: tuple[str, ...] = ()) -> Bound:
    claims = claims_of(text, facts)
    n = claims.numbers[0]
    return bind_figure([f for f, _ in figures_for(n, facts, claims)], n, claims, facts, cited)


def test_a_value_holds_for_the_record_it_stands_in() -> None:
    found = bound("Brenn had 300 visitors.", towns())
    assert found.figure is not None
    assert (found.figure.leaf.result, found.figure.leaf.key) == ("r1", "visitors")


def test_the_right_value_of_the_wrong_record_is_refused_with_the_one_meant() -> None:
    found = bound("Brenn had 500 visitors.", towns())
    assert found.figure is None
    assert found.rival is not None
    assert found.rival.leaf.value == 300
    assert found.only


def test_the_right_value_of_the_wrong_field_is_refused_with_the_one_meant() -> None:
    found = bound("Brenn had 70 visitors.", towns())
    assert found.figure is None
    assert found.rival is not None
    assert found.rival.leaf.key == "visitors"


def test_a_value_that_stands_nowhere_names_the_field_that_was_meant() -> None:
    found = bound("Ostvik had 512 visitors.", towns())
    assert (found.figure, found.taken) == (None, None)
    assert found.rival is not None
    assert found.rival.leaf.value == 500


def test_of_two_equal_values_the_cited_result_is_taken() -> None:
    facts = towns(400, 400)
    for result in ("r1", "r2"):
        figure = bound("There were 400 visitors.", facts, (result,)).figure
        assert figure is not None
        assert figure.leaf.result == result


@given(st.integers(100, 10**6), st.integers(100, 10**6))
def test_equal_values_of_two_records_are_each_others_and_different_ones_are_not(
    a: int, b: int
) -> None:
    assert (bound(f"Brenn had {b} visitors.", towns(a, b)).figure is not None) == (a == b)


def test_a_leaf_under_another_name_of_the_same_kind_conflicts() -> None:
    facts = towns()
    claims = claims_of("Brenn had 500 visitors.", facts)
    anchors = anchors_of(claims, claims.numbers[0].span)
    by_result = {f.leaf.result: f.leaf for f in facts.figures if f.leaf.key == "visitors"}
    assert is_conflicting(by_result["r2"], anchors, facts)
    assert not is_conflicting(by_result["r1"], anchors, facts)


@pytest.mark.parametrize(("key", "concept"), [("ticketPrice", "=price"), ("avg_temp", "=mean")])
def test_a_key_says_what_its_field_is(key: str, concept: str) -> None:
    assert concept in key_concepts(key)


def test_a_day_between_a_word_and_a_time_does_not_part_them() -> None:
    day = ToolResult(
        "r1",
        "sun_times",
        {"city": "Lisbon"},
        {"date": "2025-06-24", "sunrise": "06:13", "sunset": "21:05"},
    )
    answer = check_answer(
        "Sunset on 24 June 2025 in Lisbon is at 06:13.", "Sunset in Lisbon?", [day]
    )
    assert answer.text == "Sunset on 24 June 2025 in Lisbon is at 21:05."


def test_the_same_day_does_not_make_a_record_of_another_city_right() -> None:
    sun = [
        ToolResult(
            "r1", "sun_times", {"city": "Lisbon", "date": "2025-06-24"}, {"sunset": "21:05"}
        ),
        ToolResult("r2", "sun_times", {"city": "Oslo", "date": "2025-06-24"}, {"sunset": "22:43"}),
    ]
    answer = check_answer(
        "Sunset on 24 June 2025 in Oslo is at 21:05.", "Sunset in Oslo and Lisbon?", sun
    )
    assert answer.statements[0].support in ("mended", "unsupported")
    right = check_answer(
        "Sunset on 24 June 2025 in Oslo is at 22:43.", "Sunset in Oslo and Lisbon?", sun
    )
    assert right.statements[0].support == "supported"


def flight(given: float) -> Facts:
    expense = {"what": "flight", "amount": 780.0, "currency": "USD"}
    made = {"amount": given, "from_currency": "USD", "to_currency": "EUR"}
    return facts_of(
        "What did the flight cost in euros?",
        [
            ToolResult("r1", "list_expenses", {"trip": "T1"}, {"expenses": [expense]}),
            ToolResult("r2", "convert_currency", made, {"amount": 703.84, "currency": "EUR"}),
        ],
    )


def test_a_value_in_another_unit_stands_beside_what_it_was_made_of() -> None:
    found = bound("Her flight cost 703.84 EUR.", flight(780.0), ("r1", "r2"))
    assert found.figure is not None
    assert found.figure.leaf.value == 703.84


def test_a_value_made_of_another_number_does_not() -> None:
    assert bound("Her flight cost 703.84 EUR.", flight(790.0), ("r1", "r2")).figure is None
