"""A number that becomes a text has the spelling in which it was said, where that is one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

import callwright
from callwright import Tool
from callwright.repair.rules.number_spellings import read_spellings, spell_as_said

TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {
        "zip": TEXT,
        "codes": {"type": "array", "items": TEXT},
        "to": {"type": "object", "properties": {"phone": TEXT}},
        "plain": {"type": "string", "pattern": "^[1-9]"},
        "count": {"type": "integer"},
    },
}
SHIP = Tool("ship", "", SCHEMA)


def shipped(said: str, arguments: dict[str, Any]) -> Any:
    (call,) = callwright.refine(
        [{"name": "ship", "arguments": arguments}], [SHIP], query=said
    ).calls
    return call.arguments


@pytest.mark.parametrize(
    ("said", "given", "wanted"),
    [
        ("Ship it to 01234.", {"zip": 1234}, {"zip": "01234"}),
        ("Use Python 3.10, please.", {"zip": 3.1}, {"zip": "3.10"}),
        ("Account 0012; codes 007 and 008", {"codes": [7, 8]}, {"codes": ["007", "008"]}),
        (
            "Call +491701234567.",
            {"to": {"phone": 491701234567}},
            {"to": {"phone": "+491701234567"}},
        ),
        ("Schicke es an 01234 Ort", {"zip": 1234.0}, {"zip": "01234"}),
    ],
)
def test_a_number_becomes_the_text_that_was_said(said: str, given: Any, wanted: Any) -> None:
    assert shipped(said, given) == wanted


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Ship 1234.",
        "Ship 01234 or 1234.",
        "Ship 01234 or 001234.",
        "It is A-01234, 01234-5 or 2024/01234.",
        "Pay 1,01234 or 01234.5",
    ],
)
def test_without_one_spelling_it_is_written_as_a_number(said: str) -> None:
    assert shipped(said, {"zip": 1234}) == {"zip": "1234"}


def test_what_is_no_text_or_would_break_its_schema_stays() -> None:
    said = "Three of 01234, and 07 of them."
    assert shipped(said, {"count": 7}) == {"count": 7}
    assert shipped(said, {"plain": 1234}) == {"plain": "1234"}


def test_the_edit_shows_the_text() -> None:
    found = callwright.refine(
        [{"name": "ship", "arguments": {"zip": 1234}}], [SHIP], query="Ship to 01234."
    )
    assert [(e.before, e.after, e.rule) for e in found.edits] == [(1234, "01234", "number_to_text")]


def test_spellings_are_read_and_nothing_else_is_changed() -> None:
    assert read_spellings(["07 and 3.10", "7"]) == {Decimal("3.10"): "3.10"}
    given = {"zip": "x"}
    assert spell_as_said(given, (), ["07"], lambda _: True) == (given, ())
