"""The language of what was said, and what of it can be read."""

from __future__ import annotations

import pytest

from callwright.nouns.types import Tool
from callwright.repair.provenance.readable import (
    can_read_numbers,
    find_pack_language,
    list_languages,
    reads_english,
    speaks_of_one,
)


@pytest.mark.parametrize(
    ("said", "english", "numbers"),
    [
        ("Please order some more of the lamps for us.", True, True),
        ("Bitte bestelle uns noch ein paar von den Lampen.", False, True),
        ("Zamów dla nas jeszcze kilka lamp, proszę.", False, False),
        ("请再订购一些灯。", False, True),
        ("Lampy biurkowe", False, False),
        ("", False, True),
        ("Zamów trzydzieści siedem śrub A-100.", False, False),  # no word "a"
        ("Bestill trettisju bolter A-100.", False, False),
        ("Bestill et bord for fire i morgen.", False, False),  # likelier another language
        ("Tilaa A-100 pultteja kolmekymmentäseitsemän kappaletta.", False, False),
        ("Order desk lamps A-100, please, for me.", True, True),
    ],
)
def test_english_and_number_words_are_read_where_the_language_is_sure(
    said: str, english: bool, numbers: bool
) -> None:
    assert reads_english([said]) is english
    assert can_read_numbers([said]) is numbers


def test_a_word_of_the_tools_own_tells_the_language_of_a_short_text() -> None:
    lamps = Tool("order_lamps", "Orders lamps.", {"properties": {"quantity": {}}})
    assert can_read_numbers(["Lamps B-100"], lamps)
    assert not can_read_numbers(["Żarówki B-100"], lamps)
    assert not can_read_numbers(["Żarówki A-100"], Tool("order", "Orders a lamp.", {}))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Put a meeting with Ann in the calendar.", "en"),
        ("Book a table at Roma for 4 people.", "en"),
        ("Reserva una mesa en Roma para 4 personas.", "es"),
        ("请订一张桌子。", "zh"),
        ("Book a table.", ""),
        ("Prenota a Roma domani", ""),
        ("Boek een tafel voor morgen", ""),
        ("Bestill et bord for fire i morgen", ""),
        ("", ""),
    ],
)
def test_a_language_with_a_pack_is_found_where_it_is_sure(text: str, code: str) -> None:
    assert find_pack_language(text) == code


@pytest.mark.parametrize(
    ("said", "one"),
    [
        ("Please order some lamps for us.", False),
        ("Please order a lamp for us.", True),
        ("Ich brauche mehr Lampen für unsere neuen Räume.", False),
        ("Bitte bestelle uns eine Lampe.", True),
        ("Zamów dla nas lampę, proszę.", True),  # its words for one are not known
    ],
)
def test_one_of_something_is_said_in_words_or_cannot_be_told(said: str, one: bool) -> None:
    assert speaks_of_one([said]) is one


def test_each_language_that_was_spoken_is_listed() -> None:
    said = ["Bitte bestelle uns noch ein paar Lampen.", "Please order some more of the lamps."]
    assert {"de", "en"} <= list_languages(said)
