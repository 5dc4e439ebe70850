"""Texts beside the thing a key names, or in a place that only it can stand in."""

from __future__ import annotations

import pytest

from callwright.nouns.types import JsonObject
from callwright.repair.provenance.conversation_text import ConversationText
from callwright.repair.rules.extracted import extract_value

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("text", "key", "value", "kind"),
    [
        ("lawsuits against the company Google in 2020", "company_name", "Google", "after_label"),
        ("the record for case number CA123456 please", "case_number", "CA123456", "labelled"),
        ("the record for case CA123456 please", "case_number", "CA123456", "after_label"),
        ("components of my project with id SUPERFANCY", "project", "SUPERFANCY", "after_label"),
        ("the RGB value of Sea Green color", "color_name", "Sea Green", "before_label"),
        ("facts on the Battle of Waterloo", "battle_name", "Battle of Waterloo", "in_name"),
        (
            "films directed by Wes Anderson with Bill Murray",
            "directed_by",
            "Wes Anderson",
            "after_label",
        ),
        ("a film starring Bill Murray", "cast", "Bill Murray", "by_name"),
        ("traffic from Boston driving to New York", "start_location", "Boston", "between"),
        ("traffic from Boston driving to New York", "end_location", "New York", "between"),
        ("a flight from Bergen, NO to Tampa, FL", "origin_airport", "Bergen", "between"),
        ("a flight from Bergen, NO to Tampa, FL", "destination_airport", "Tampa", "between"),
        ("the weather in Oslo today", "city", "Oslo", "place"),
        ("the weather in Tampa, FL today", "city", "Tampa", "place"),
        ("the weather in Tampa, FL today", "location", "Tampa, FL", "place"),
    ],
)
def test_what_stands_in_its_place_is_found(text: str, key: str, value: str, kind: str) -> None:
    found = extract_value(key, TEXT, ConversationText(text))
    assert found is not None
    assert (found.value, found.kind) == (value, kind)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("the company Google or the company Apple", "company_name"),
        ("use the API endpoint URL", "endpoint"),
    ],
)
def test_two_names_or_none_are_none(text: str, key: str) -> None:
    assert extract_value(key, TEXT, ConversationText(text)) is None


def test_a_place_with_its_state_is_not_cut_down_to_a_name() -> None:
    part = {"type": "string", "description": "The city, in the format of 'City, State'"}
    found = extract_value("city", part, ConversationText("Fly me to San Diego, CA"))
    assert found is None or found.value == "San Diego, CA"


BOTH = {"type": "string", "description": "The city and country, as 'City, Country'"}
SHORT = {"type": "string", "description": "The city and state, e.g. Boston, MA"}


@pytest.mark.parametrize(
    ("text", "part", "value"),
    [
        ("the weather in Quito, Ecuador, please", BOTH, "Quito, Ecuador"),
        ("a flight to New Delhi, India.", BOTH, "New Delhi, India"),
        ("the weather in Tampa, FL", SHORT, "Tampa, FL"),
    ],
)
def test_a_place_is_taken_with_where_it_lies(text: str, part: JsonObject, value: str) -> None:
    found = extract_value("goal", part, ConversationText(text))
    assert found is not None
    assert (found.value, found.kind) == (value, "place_and_state")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("the weather in Quito, Lima and Rome", BOTH),
        ("the weather in Quito, Lima, Rome", BOTH),
        ("the weather in Tampa, Florida", SHORT),
        ("from Quito, Ecuador to Lima, Peru", BOTH),
        ("Was kostet ein Zimmer in Wien, Deutschland oder anderswo bei euch für mich?", BOTH),
    ],
)
def test_a_list_two_places_and_another_form_are_no_place(text: str, part: JsonObject) -> None:
    found = extract_value("goal", part, ConversationText(text))
    assert found is None or found.kind != "place_and_state"


def test_the_end_of_a_street_address_is_no_place_of_its_own() -> None:
    said = ConversationText("a ride from 12 Elm Street, Tampa, FL please")
    found = extract_value("location", TEXT, said)
    assert found is None or found.kind != "place"


@pytest.mark.parametrize(
    "text", ["the Redis keys 'a' and 'b'", "a JDBC session object `s`", "Ann's session in Oslo"]
)
def test_a_name_before_a_thing_that_has_its_own_value_is_another_ones(text: str) -> None:
    for key in ("keys", "session"):
        found = extract_value(key, TEXT, ConversationText(text))
        assert found is None or found.kind != "before_label"
