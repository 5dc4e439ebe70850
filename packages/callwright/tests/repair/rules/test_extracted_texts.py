"""Texts beside the thing a key names, or in a place that only it can stand in."""

from __future__ import annotations

import pytest

from callwright.repair.provenance.conversation_text import ConversationText
from callwright.repair.rules.extracted import extract_value

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("text", "key", "value", "kind"),
    [
        ("lawsuits against the company Google in 2020", "company_name", "Google", "after_label"),
        ("the record for case number CA123456 please", "case_number", "CA123456", "after_label"),
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
        ("the weather in Oslo today", "city", "Oslo", "place"),
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
