"""Values are taken from the conversation where it says them beside the name, or says only one of
the format.
"""

from __future__ import annotations

import pytest

from callwright.repair.provenance.conversation_text import ConversationText
from callwright.repair.rules.extracted import Candidate, extract_value

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}


def said(text: str, key: str, part: dict[str, object], used: tuple[object, ...] = ()) -> object:
    found = extract_value(key, part, ConversationText(text), used)
    return found.value if found else None


@pytest.mark.parametrize(
    ("text", "key", "part", "value"),
    [
        ("My username is user3 and password is user3pass.", "username", TEXT, "user3"),
        ("My username is user3 and password is user3pass.", "password", TEXT, "user3pass"),
        ("My name is John Smith.", "name", TEXT, "John Smith"),
        ("at (latitude=37.7749, longitude=-122.4)", "longitude", NUMBER, -122.4),
        ("account number is 12345, thanks", "account", TEXT, "12345"),
        ("write to ann@example.org", "email", TEXT, "ann@example.org"),
        ("in celsius please", "unit", {"type": "string", "enum": ["celsius", "kelvin"]}, "celsius"),
        ("a room for 3 nights and 2 guests", "nights", WHOLE, 3),
        ("the factorial of 5", "n", WHOLE, 5),
        ("Who sang 'Waterloo'?", "song", TEXT, "Waterloo"),
        ("a table on May 3, 2024", "date", TEXT, "2024-05-03"),
        ("population of 213 million", "population", WHOLE, 213_000_000),
        ("send 50 bucks and 3 letters", "amount", NUMBER, 50),
        ("change 20 Swiss francs on day 3", "amount", NUMBER, 20),
        ("change 20 CHF on day 3", "price", NUMBER, 20),
        ("round 7 to 2 decimal places", "decimal_places", WHOLE, 2),
        ("10 hits in 40 at-bats", "at_bats", WHOLE, 40),
        ("the order id 'x y' of 'z'", "order_id", TEXT, "x y"),
        ("the start year 2020 and year 2022", "start_year", WHOLE, 2020),
        ("the mean of [1, 2.5] to 3 places", "numbers", {"type": "array"}, [1, 2.5]),
        ("all hosts of shop.example.org please", "domain", TEXT, "shop.example.org"),
        ("list the files in /srv/data now", "path", TEXT, "/srv/data"),
    ],
)
def test_what_is_said_is_found(text: str, key: str, part: dict[str, object], value: object) -> None:
    assert said(text, key, part) == value


@pytest.mark.parametrize(
    ("text", "key", "part"),
    [
        ("numbers 5 and 7", "n", WHOLE),
        ("a rate of 7% a year", "rate", NUMBER),
        ("username and password please", "username", TEXT),
        ("first 'a' then 'b'", "song", TEXT),
        ("nothing of the kind", "email", TEXT),
        ("from Oslo", "token", TEXT),
        ("my user id is 5, no, my user id is 6", "user_id", WHOLE),
        ("pay 50 bucks, or 60 dollars", "amount", NUMBER),
        ("carry 3 hundred dollars and 2 bags", "amount", NUMBER),
        ("order id or 'x'", "order_id", TEXT),
        ("the means of [1, 2] and [3, 4]", "numbers", {"type": "array"}),
        ("the mean of [1, two]", "numbers", {"type": "array"}),
        ("write to ann@example.org", "domain", TEXT),
        ("either/or and https://example.org/a/b", "path", TEXT),
    ],
)
def test_two_candidates_or_none_are_none(text: str, key: str, part: dict[str, object]) -> None:
    assert said(text, key, part) is None


def test_a_value_that_another_argument_holds_is_spoken_for() -> None:
    assert said("multiply 5 by 7", "b", WHOLE, (5,)) == 7


def test_long_conversations_are_read_from_their_end() -> None:
    assert said("x " * 30_000 + "my username is ann3", "username", TEXT) == "ann3"


def test_the_first_of_several_quoted_values_is_not_the_value() -> None:
    assert (
        extract_value(
            "attendees",
            {"type": "string"},
            ConversationText('The attendees are "Ann", "Bo" and "Cy".'),
        )
        is None
    )
    one = extract_value(
        "attendees",
        {"type": "string"},
        ConversationText('The attendees are "Ann and Bo", in room "A".'),
    )
    assert one is not None
    assert one.value == "Ann and Bo"


@pytest.mark.parametrize(
    ("kind", "leftover"),
    [
        ("only_quoted", True),
        ("only_date", True),
        ("named", True),
        ("money", True),
        ("labelled", False),
        ("option", False),
        ("after_label", False),
        ("place", False),
    ],
)
def test_a_leftover_was_said_for_no_parameter(kind: str, leftover: bool) -> None:
    assert Candidate("Oslo", kind).is_leftover is leftover


@pytest.mark.parametrize(
    ("kind", "is_named"),
    [("labelled", True), ("after_label", True), ("option", True), ("identified", False)],
)
def test_a_value_is_named_where_its_parameter_is_said(kind: str, is_named: bool) -> None:
    assert Candidate("Oslo", kind).is_named is is_named


def test_an_array_that_another_argument_holds_is_spoken_for() -> None:
    array: dict[str, object] = {"type": "array"}
    assert said("compare [1, 2] with [3, 4]", "second", array, ([1, 2],)) == [3, 4]
