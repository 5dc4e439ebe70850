from __future__ import annotations

import pytest

from callwright.nouns.types import ToolCall
from callwright.repair.rules.equal_calls import (
    count_asked,
    may_be_meant_again,
    names_other_number,
)

ORDER = ToolCall("", "order", {"part": "B-220", "pieces": 2})


@pytest.mark.parametrize(
    ("query", "again"),
    [
        ("Order 2 pieces of B-220.", False),
        ("Order 2 pieces of B-220, and once more.", False),
        ("Order 2 pieces of B-220 twice.", True),
        ("Order 2 pieces of B-220 for me and 2 pieces of B-220 for Ann.", True),
        ("Place three separate orders of 2 pieces of B-220 each.", True),
        ("Bestelle 2 Stück von B-220.", False),
        ("Bestelle dreimal 2 Stück von B-220.", True),
        ("Haz tres pedidos de 2 piezas de B-220.", True),
        ("分别下三个B-220的订单，每个2件。", True),
        ("ঢাকায় বি-২২০ পাঠান।", True),
    ],
)
def test_equal_calls_may_be_meant_unless_the_request_is_surely_for_one(
    query: str, again: bool
) -> None:
    assert may_be_meant_again(ORDER, query) is again


def test_as_often_is_asked_for_as_is_surely_said() -> None:
    assert count_asked(ORDER, "Order 2 pieces of B-220.") == 1
    assert count_asked(ORDER, "Order 2 pieces of B-220 again, for room 7.") == 1
    assert count_asked(ORDER, "Order 2 pieces of B-220 three times.") == 3
    assert count_asked(ORDER, "2 of B-220 for me, 2 of B-220 for Ann, 2 of B-220 for Bob") == 3
    room = ToolCall("", "book", {"room": 5, "hour": 5})
    assert count_asked(room, "Book room 5 at 5.") == 1


def test_a_number_of_the_call_says_nothing_of_how_often() -> None:
    assert not names_other_number(ORDER, "Order 2 pieces")
    assert not names_other_number(ORDER, "Order 1 piece, or 2000 of them, or 2.5")
    assert names_other_number(ORDER, "Order 2 pieces, for 3 people")
    assert names_other_number(ToolCall("", "order", "{"), "Order 2 pieces")
