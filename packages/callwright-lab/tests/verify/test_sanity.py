"""What is wrong with a text alone is found, and what is right is left in peace."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright_lab.verify.sanity import (
    find_vague_phrase,
    iter_date_contradictions,
    iter_nonsense_reasons,
)

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    "text",
    ["", "?!?", "weather", "Send [NAME] the report of <date>.", "Book {{city}} please", "lorem ipsum dolor sit amet",
     "no no no no no no no no no", "12 34 !! ?? 99 %% && 11 a b no"],
)  # fmt: skip
def test_what_asks_nothing_is_found(text: str) -> None:
    assert list(iter_nonsense_reasons(text))


@pytest.mark.parametrize(
    "text",
    [
        "What will the weather be in Oslo?",
        "Complete the sentence 'Paris is the [MASK] of France', please.",
        "Fetch <https://example.com/a> for me [1]",
        (
            "Set enable per process limits, enable per process memory, and enable per process time,"
            " for all of it."
        ),
        "北京明天天气怎么样？",
        "東京の天気は？",
        "कल दिल्ली में मौसम कैसा रहेगा?",
        "Convert 1700000000",
        "Track 1Z999AA10123456784",
        "What is 3847561928374*1928374655738291?",
    ],
)
def test_what_asks_something_is_left_in_peace(text: str) -> None:
    assert list(iter_nonsense_reasons(text)) == []
    assert list(iter_date_contradictions(text, TODAY)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hotels from 5 May 2026 to 3 May 2026", "wrong way round"),
        ("Check-in on 2026-05-05 and checking out on 2026-05-03", "wrong way round"),
        ("Rates between May 5, 2026 and April 30, 2026.", "wrong way round"),
        ("Flights on February 30, 2026", "there is no February 30, 2026"),
        ("Sales of 2025-13-01", "no month 13"),
        ("What happened on 31 April?", "there is no 31 April"),
        ("Book a table for 1 June 2026", "which has passed"),
        ("I am hungry. Can you reserve us a table on 1 June 2026?", "which has passed"),
        ("I'm planning a trip to Rome on May 4, 2020.", "which has passed"),
        ("Flights on June 45, 2026", "there is no June 45, 2026"),
    ],
)
def test_days_that_cannot_be_are_found(text: str, said: str) -> None:
    assert any(said in why for why in iter_date_contradictions(text, TODAY))


@pytest.mark.parametrize(
    "text",
    [
        "Hotels from 3 May 2026 to 5 May 2026",
        "From 29 December to 2 January",  # over new year, no year said
        "Compare 5 May 2026 with 3 May 2026",
        "On 29 February I was born",
        "Book a table for 1 June 2027",
        "What was the rate on 1 June 2020?",
        "Is flight 90 may be late?",
        "Sales between Jan 98 and Mar 99",
        "What is the density of 7732-18-5, and of part 2012-34-56-7?",
        "Who wrote the book published on May 4, 2020?",
        "Show my order of 2024-01-02",
        "List what was sold since 2020-01-01, in order to compare it",
    ],
)
def test_days_that_can_be_are_left_in_peace(text: str) -> None:
    assert list(iter_date_contradictions(text, TODAY)) == []


def test_nothing_is_past_where_nobody_says_which_day_it_is() -> None:
    assert list(iter_date_contradictions("Book a table for 1 June 2016")) == []


@given(
    first=st.dates(date(1990, 1, 1), date(2050, 1, 1)),
    second=st.dates(date(1990, 1, 1), date(2050, 1, 1)),
)
def test_a_range_is_a_contradiction_exactly_if_it_ends_before_it_begins(
    first: date, second: date
) -> None:
    said = list(iter_date_contradictions(f"Rates from {first:%d %B %Y} to {second.isoformat()}"))
    assert bool(said) == (second < first)


def test_what_is_not_named_is_vague_unless_it_is_named_later() -> None:
    assert find_vague_phrase("Give me the details of a specific user.") == "a specific user"
    assert find_vague_phrase("Fetch a certain page. The page is 'home'.") == ""
    assert find_vague_phrase("I follow a particular team. Its ID is 3633.") == ""
    assert find_vague_phrase("A famous actor such as Tom Hanks") == ""
    assert find_vague_phrase("What is the weather?") == ""
