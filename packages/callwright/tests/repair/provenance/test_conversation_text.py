"""What can be picked out of a conversation."""

from __future__ import annotations

import re
import time

import pytest

from callwright.repair.provenance.conversation_text import (
    ConversationText,
    as_number,
    build_words_pattern,
    normalize_value,
)
from callwright.schema.value_spellings import NONE


def test_names_lose_what_opens_the_sentence_and_a_possessive() -> None:
    said = ConversationText(
        "Find Ann Lee's book at McDonald's. Then call Mr. X of Apple Inc. in Foster City"
    )
    assert said.names == ["Ann Lee", "McDonald's", "Mr. X of Apple Inc.", "Foster City"]


def test_exponents_parts_of_dates_and_longer_figures_are_no_numbers() -> None:
    assert [
        m[1] for m in ConversationText("x^2 at 10 m, on 2024-05-03, 12:30, for 1,500").numbers
    ] == [
        "10",
        "1,500",
    ]


def test_lists_are_members_that_only_commas_and_one_and_part() -> None:
    assert ConversationText("in Oslo, Bergen and Rome for 'a' and 'b'").lists == [
        ["Oslo", "Bergen", "Rome"],
        ["'a'", "'b'"],
    ]
    assert ConversationText("to Los Angeles, CA and Chicago, IL").lists == []


def test_a_percentage_is_no_number_and_millions_are_written_out() -> None:
    kinds = frozenset({"number"})
    assert as_number("7", kinds, "%") is NONE
    assert as_number("213", kinds, " million") == 213_000_000


def test_a_long_text_of_names_commas_and_quotes_is_read_in_linear_time() -> None:
    for piece in ("Anna Bella, ", "A'", '"a', "1, ", "from Anna to ", "and and "):
        started = time.process_time()
        said = ConversationText(piece * 10_000)
        assert said.names is not None
        assert said.lists is not None
        assert said.quoted is not None
        assert time.process_time() - started < 3


def test_values_are_compared_without_case_and_outer_spaces() -> None:
    assert [normalize_value(v) for v in (" Oslo ", 3, True, None, ["A"], NONE)] == [
        "oslo",
        "3",
        "true",
        "null",
        '["a"]',
        "",
    ]


def test_words_are_found_however_they_are_joined_and_only_where_all_are_there() -> None:
    pattern = build_words_pattern(["user", "id"], "my userid is 7")
    assert all(re.search(pattern, text) for text in ("userid", "user_id", "user-id", "user id"))
    assert (
        build_words_pattern(["user", "id"], "my user") == build_words_pattern([], "my user") == ""
    )


GERMAN = "Buche für Anna Müller und Peter Schmidt ein Zimmer ab dem 3. März 2026 für 1.250,50 Euro."
SPANISH = (
    "Reserva una habitación para Ana López y Pedro Gil a partir del 2026-03-03 por 1.250 euros."
)
FRENCH = "Réserve une chambre pour Ana López et Pedro Gil dans la ville pour 1.250 euros."
CHINESE = "请为 Anna Muller 和 Peter Schmidt 预订从 2026-03-03 开始的房间，价格 1250。"
ARABIC = "احجز غرفة لآنا وبيتر من 2026-03-03 بسعر 1250 يورو للفندق"


@pytest.mark.parametrize("text", [GERMAN, SPANISH, CHINESE, ARABIC])
def test_no_names_and_no_lists_are_picked_out_of_a_text_that_is_not_english(text: str) -> None:
    talk = ConversationText(text)
    assert talk.names == []
    assert talk.lists == []
    assert talk.dates == ["2026-03-03"]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (GERMAN, ["1,250.50"]),
        (SPANISH, ["1,250"]),
        (FRENCH, []),
        (CHINESE, ["1250"]),
        (ARABIC, ["1250"]),
    ],
)
def test_numbers_have_the_signs_of_their_language_or_none(text: str, numbers: list[str]) -> None:
    """ "1.250" is a thousand or one and a quarter: where the language is not known it is neither."""
    assert [m[1] for m in ConversationText(text).numbers if float(m[1].replace(",", "")) > 9] == (
        numbers
    )


def test_the_end_of_a_conversation_tells_its_language() -> None:
    before = "You are an assistant that helps with the booking of rooms. " * 200
    assert not ConversationText(before + GERMAN * 80).readable
    assert ConversationText(before).readable


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("a review 'It's fresh, isn't it.' of mine", ["It's fresh, isn't it."]),
        ("Ann's dog and Bob's 'bone'", ["bone"]),
        ("检索一下'红星'公司", ["红星"]),
        ("'임진왜란'이라는 말", ["임진왜란"]),
        ("rock'n'roll", []),
    ],
)
def test_single_quotations_hold_apostrophes_and_touch_letters_of_joined_scripts(
    text: str, quoted: list[str]
) -> None:
    assert ConversationText(text).quoted == quoted


def test_arrays_are_read_where_they_are_json() -> None:
    said = ConversationText('of [1, 2] and [\'a\'] and x[3] and ["b"] and [1, 2], {"c": [4]}')
    assert said.arrays == [[1, 2], ["b"], [4]]
