"""Texts and names are parted into words in one way, and spellings are made alike in one way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.words import extract_stems
from callwright.language.tokens import fold_text, key_tokens, split_name, split_tokens, squash_text


def test_case_and_accents_do_not_part_words() -> None:
    assert fold_text("Málaga") == fold_text("MALAGA") == "malaga"
    assert split_tokens("São-Paulo, 3rd!") == ["sao", "paulo", "3rd"]


@pytest.mark.parametrize(
    "key", ["totalPassengers", "total_passengers", "total-passengers", "Total passengers"]
)
def test_keys_are_read_alike_in_every_style(key: str) -> None:
    assert key_tokens(key) == ["total", "passengers"]


def test_a_run_of_capitals_is_one_word_of_a_key() -> None:
    assert key_tokens("HTTPStatusCode") == ["http", "status", "code"]


@pytest.mark.parametrize("name", ["cancel_trip", "cancelTrip", "cancel-trip", "cancel.trip"])
def test_names_are_split_however_they_are_joined(name: str) -> None:
    assert [word.lower() for word in split_name(name)] == ["cancel", "trip"]


def test_a_number_does_not_part_a_name_from_its_stem() -> None:
    assert extract_stems(" ".join(split_name("cancel.trip2"))) == extract_stems("cancel trip")


def test_only_letters_and_digits_are_left_of_a_squashed_text() -> None:
    assert squash_text("Zürich, HB-7") == squash_text("zurich hb 7") == "zurichhb7"


@pytest.mark.parametrize(("one", "other"), [("Straße", "STRASSE"), ("20 ℃", "20 °c"), ("ﬁ", "FI")])
def test_folding_does_not_depend_on_how_a_sign_is_composed(one: str, other: str) -> None:
    assert fold_text(one) == fold_text(other)


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    assert all(t == fold_text(t) for t in split_tokens(text))
