"""Values that nobody said are named, never changed."""

from __future__ import annotations

import pytest

from callwright.nouns.types import Json, Tool, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.provenance.doubts import find_doubts
from tests.repair.ruled_calls import apply_rules

BOOK = Tool(
    "book",
    "Book a seat.",
    {
        "type": "object",
        "properties": {
            "event": {"type": "string"},
            "seats": {"type": "integer"},
            "kind": {"type": "string", "enum": ["Music", "Theater"]},
            "names": {"type": "array", "items": {"type": "string"}},
        },
    },
)
SAID = "Two seats for the Treaty of Tordesillas show, a Theater event in France, for Ann."


@pytest.mark.parametrize(
    ("key", "value", "about"),
    [
        ("seats", 18, "which nothing said so far contains"),
        ("names", ["Ann", "Bob"], "which nothing said so far contains"),
        ("event", "Treaty", "only 'Treaty of Tordesillas' was said"),
        ("event", "Franc", "only a part of a word"),
        ("kind", "Music", "but 'Theater' was said"),
        ("event", "Ann,", "cut off"),
    ],
)
def test_what_was_not_said_is_named(key: str, value: Json, about: str) -> None:
    (found,) = find_doubts({key: value}, BOOK, RepairContext([BOOK], SAID), frozenset())
    assert found.key == key
    assert about in found.reason


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seats", 2),
        ("event", "Treaty of Tordesillas"),
        ("event", "France"),
        ("kind", "Theater"),
        ("names", ["Ann"]),
        ("names", None),
    ],
)
def test_what_was_said_is_not_doubted(key: str, value: Json) -> None:
    assert find_doubts({key: value}, BOOK, RepairContext([BOOK], SAID), frozenset()) == []


def test_nothing_is_doubted_without_a_conversation_or_where_it_was_reported() -> None:
    assert find_doubts({"seats": 18}, BOOK, RepairContext([BOOK]), frozenset()) == []
    assert find_doubts({"seats": 18}, BOOK, RepairContext([BOOK], SAID), frozenset({"seats"})) == []


def test_a_doubted_call_is_handed_on_as_the_same_object() -> None:
    call = ToolCall("1", "book", {"seats": 18})
    found = apply_rules([call], RepairContext([BOOK], SAID))
    assert found.calls[0] is call
    assert found.edits == []
    assert [a.path for a in found.abstained] == ["/0/arguments/seats"]


HOTEL = Tool(
    "hotel",
    "Find a room.",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "guest": {"type": "string"},
            "code": {"type": "string"},
            "has_garage": {"type": "boolean"},
        },
    },
)
ASKED = (
    "A hotel with a garage in San Francisco, not Santa Fe, for the Order of Merit, code AB67890,"
    " ann@x.org"
)


@pytest.mark.parametrize(
    ("key", "value", "about"),
    [
        ("city", "San", "of which only 'San Francisco'"),
        ("guest", "Order of", "cut off"),
        ("code", "7890", "only a part of a word"),
        ("guest", "nn@x.org", "only a part of a word"),
    ],
)
def test_parts_of_names_codes_and_addresses_are_named(key: str, value: Json, about: str) -> None:
    (found,) = find_doubts({key: value}, HOTEL, RepairContext([HOTEL], ASKED), frozenset())
    assert about in found.reason


def test_a_no_to_what_the_request_asks_for_is_named_unless_something_is_denied() -> None:
    def reasons(asked: str, value: Json) -> list[str]:
        return [
            d.reason
            for d in find_doubts(
                {"has_garage": value}, HOTEL, RepairContext([HOTEL], asked), frozenset()
            )
        ]

    assert "though 'garage' was spoken of" in reasons("A hotel with a garage.", False)[0]
    for asked, value in (("A hotel with a garage.", True), ("A hotel without a garage.", False)):
        assert reasons(asked, value) == []
    assert "nothing said so far" in reasons("A hotel.", False)[0]  # not spoken of at all


@pytest.mark.parametrize(
    ("key", "value"),
    [("city", "San Francisco"), ("code", "AB67890"), ("guest", "ann@x.org"), ("guest", "Merit")],
)
def test_whole_names_codes_and_addresses_are_not_doubted(key: str, value: Json) -> None:
    assert (
        find_doubts(
            {key: value}, HOTEL, RepairContext([HOTEL], ASKED.replace("Order of ", "")), frozenset()
        )
        == []
    )


@pytest.mark.parametrize(
    "asked",
    [
        "Ein Hotel, bei dem keine garage dabei ist, für Order of Merit",
        "Un hotel que no tenga garage para la Order of Merit",
        "一家没有 garage 的酒店，给 Order of Merit",
        "فندق بدون garage من أجل Order of Merit في المدينة الكبيرة",
    ],
)
def test_what_rests_on_words_is_left_out_of_a_conversation_that_is_not_english(asked: str) -> None:
    """Whether the garage was denied cannot be told; nor where a name ends."""
    context = RepairContext([HOTEL], asked)
    assert find_doubts({"guest": "Order"}, HOTEL, context, frozenset()) == []
    said = [d.reason for d in find_doubts({"has_garage": False}, HOTEL, context, frozenset())]
    assert not any("spoken of" in reason for reason in said)
    unsaid = find_doubts({"guest": "Nobody"}, HOTEL, context, frozenset())
    assert "nothing said so far contains" in unsaid[0].reason
