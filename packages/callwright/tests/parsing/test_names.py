from __future__ import annotations

import pytest

from callwright.nouns.types import Tool
from callwright.parsing import names
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.scanner import GLANCE, Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.parsing.values import run_reader

OFFER = ToolVocabulary(
    [
        Tool("Search"),
        Tool("Search Managers"),
        Tool("f"),
        Tool("f()"),
        Tool("web-search::v2"),
        Tool("a\nb"),
    ]
)
AFTER = MarkerSet(["(", "{"])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Search Managers(", "Search Managers"),
        ("Search Managers  {", "Search Managers"),
        (
            "Search Managers today",
            "Search",
        ),  # nothing follows that may: the name that its characters make
        ("Search(", "Search"),
        ("f(", "f"),
        ("f()(", "f()"),
        ("web-search::v2{", "web-search::v2"),
        ("other.thing(", "other.thing"),
        ("a\nb(", "a\nb"),
        ("Search Managers", "Search Managers"),
        ("", ""),
    ],
)
def test_the_longest_offered_name_that_fits_is_taken(text: str, name: str) -> None:
    tape = Scanner(text, ended=True)
    assert run_reader(names.take_name(tape, OFFER, AFTER)) == name
    assert tape.text[tape.at :] == text[len(name) :]


def test_it_waits_while_a_longer_name_may_come() -> None:
    tape = Scanner("Search Mana")
    steps = names.take_name(tape, OFFER, AFTER)
    next(steps)
    tape.add("gers(")
    assert run_reader(steps) == "Search Managers"


def test_a_name_with_more_white_space_after_it_than_a_glance_passes_is_read_whole_as_it_is_streamed() -> (
    None
):
    for spaces, name in ((GLANCE, "Search Managers"), (GLANCE + 1, "Search")):
        text = "Search Managers" + " " * spaces
        assert run_reader(names.take_name(Scanner(text, ended=True), OFFER, AFTER)) == name
        tape = Scanner()
        steps = names.take_name(tape, OFFER, AFTER)
        for char in text:
            if next(steps, "taken") == "taken":
                break
            tape.add(char)
        tape.ended = True
        run_reader(steps)
        assert tape.text[1 : tape.at] == name


def test_a_header_begins_with_the_longest_name_that_a_space_a_tag_or_nothing_follows() -> None:
    assert names.find_header_name("Search Managers <|constrain|>json", OFFER) == "Search Managers"
    assert names.find_header_name("Search Managers<|message|>", OFFER) == "Search Managers"
    assert names.find_header_name("Search Managersx", OFFER) == ""
    assert names.find_header_name("Search Managers", ToolVocabulary([Tool("f")])) == ""
