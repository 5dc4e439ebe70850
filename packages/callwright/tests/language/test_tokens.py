"""Texts and names are parted into words in one way, and spellings are made alike in one way."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.words import extract_stems
from callwright.dataflow import flow
from callwright.language.tokens import (
    fold_text,
    key_tokens,
    split_identifier,
    split_name,
    split_tokens,
    squash_name,
    squash_text,
    stands_apart,
)


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


@given(st.text(st.characters(codec="ascii"), max_size=40))
def test_an_identifier_of_ascii_is_parted_as_it_always_was(name: str) -> None:
    before = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    assert split_identifier(name) == tuple(word.lower() for word in before)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("größeInMetern", ("größe", "in", "metern")),
        ("查询weather2", ("查询", "weather", "2")),
        ("имя_файла", ("имя", "файла")),
        ("", ()),
    ],
)
def test_an_identifier_has_words_in_every_script(name: str, words: tuple[str, ...]) -> None:
    assert split_identifier(name) == words


def test_what_is_left_of_a_name_keeps_its_accents_and_of_a_text_does_not() -> None:
    assert squash_name("Größe_2") == "grösse2" != squash_text("Größe_2")
    assert squash_name("get-Weather") == squash_name("getWeather")


def test_each_splitter_does_what_no_other_does() -> None:
    """As written; folded; figures apart; and the words that weights were learned with."""
    name = "listCafé2Items"
    assert split_name(name) == ["list", "Café2", "Items"]
    assert key_tokens(name) == ["list", "cafe2", "items"]
    assert split_identifier(name) == ("list", "café", "2", "items")
    assert flow.split_words("listFlight2Items") == ("list", "flight", "2", "item")


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("L-1", "Switch L-1 off.", True),
        ("L-1", "Switch L-12 off.", False),
        ("1:05", "at 11:05", False),
        ("灯", "把灯关了", True),
        ("Note", "a note", True),
    ],
)
def test_a_text_stands_apart_where_no_longer_word_holds_it(
    text: str, words: str, expected: bool
) -> None:
    assert stands_apart(text, words) is expected
