import pytest

from callwright.grounding import lexicon
from callwright.grounding.lexicon import (
    COURTESY,
    DIFFERENCE,
    EXTREMES,
    GLUE,
    JUDGEMENT,
    LIMITATION,
    OPPOSITES,
    RATIO,
    REST,
    SUM,
)


def test_a_word_that_judges_is_never_glue() -> None:
    assert not JUDGEMENT & GLUE


def test_opposites_are_opposites_both_ways() -> None:
    assert all(other in OPPOSITES for other in OPPOSITES.values())
    assert OPPOSITES["down"] == "up"
    assert OPPOSITES["closed"] == "open"


def test_every_extreme_names_an_end_of_its_column() -> None:
    assert set(EXTREMES.values()) <= {"min", "max", "min max"}
    assert (EXTREMES["cheapest"], EXTREMES["tallest"]) == ("min", "max")


@pytest.mark.parametrize(
    "text",
    [
        "The weather could not be found.",
        "No results were returned for Oslo.",
        "The tool timed out.",
        "I don't have that information.",
        "The price is unavailable.",
    ],
)
def test_a_limitation_is_recognised(text: str) -> None:
    assert LIMITATION.search(text)


@pytest.mark.parametrize("text", ["Paris has 2 million inhabitants.", "The train leaves at noon."])
def test_a_plain_statement_is_no_limitation_and_no_courtesy(text: str) -> None:
    assert not LIMITATION.search(text)
    assert not COURTESY.search(text)


@pytest.mark.parametrize(
    "text", ["Let me know if you need more.", "Here are the results:", "I hope this helps!"]
)
def test_courtesies_claim_nothing(text: str) -> None:
    assert COURTESY.search(text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (SUM, "12 altogether"),
        (DIFFERENCE, "it drops by 3"),
        (DIFFERENCE, "two more than before"),
        (RATIO, "three times as many"),
        (REST, "12 GB free"),
        (REST, "they didn't win 3"),
        (lexicon.AVERAGE, "8 on average"),
        (lexicon.PRODUCT, "for three nights"),
    ],
)
def test_a_calculation_is_announced_by_its_words(kind: object, text: str) -> None:
    assert kind.search(text)  # type: ignore[attr-defined]
    assert not kind.search("The harbour lies in the west of town.")  # type: ignore[attr-defined]
