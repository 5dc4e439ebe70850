import pytest

from callwright.grounding import facts_of
from callwright.grounding.claims import claims_of
from callwright.grounding.grounding_result import GroundingResult
from callwright.grounding.wording import check_wording
from callwright.nouns.types import ToolResult

FACTS = facts_of(
    "Which ferry should I take?",
    [
        ToolResult(
            "r1",
            "ferries",
            {},
            [
                {"ferry": "Havbris", "price": 20, "minutes": 90, "note": "popular with cyclists"},
                {"ferry": "Nordlys", "price": 35, "minutes": 60, "note": "cabins on board"},
            ],
        )
    ],
)


def problems(text: str, derived: tuple[str, ...] = ()) -> list[str]:
    verdict = GroundingResult("supported", derived=list(derived))
    check_wording(claims_of(text, FACTS), FACTS, verdict, [])
    return verdict.problems


@pytest.mark.parametrize(
    "text",
    [
        "Havbris is the cheapest ferry.",
        "Nordlys is the fastest.",
        "Havbris is popular with cyclists.",
        "Nordlys has cabins.",
    ],
)
def test_what_numbers_bear_out_or_results_say_may_be_said(text: str) -> None:
    assert problems(text) == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Nordlys is the cheapest ferry.", "cheapest"),
        ("Nordlys is luxurious.", "luxurious"),
        ("Breakfast buffet included.", "breakfast"),
    ],
)
def test_a_judgement_or_a_claim_that_nothing_bears_out_is_named(text: str, word: str) -> None:
    assert word in problems(text)[0]


def test_a_comparison_is_borne_out_by_the_difference_that_was_computed() -> None:
    assert problems("Havbris is 15 cheaper, with 15 free.", ("15 is a minus b",)) == []
    assert problems("Havbris has free cabins.") != []


def test_a_limitation_may_use_words_that_no_result_has() -> None:
    assert problems("Refund conditions could not be found.") == []


def test_what_is_most_of_all_must_be_the_extreme_of_its_column() -> None:
    assert not problems("Nordlys is the most expensive ferry.")
    assert problems("Havbris is the most expensive ferry.")
