"""The rounds of a request, as they follow from its messages."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.proxy.session.context import Context
from callwright.proxy.session.rounds import Rounds, find_rounds, offer_tools
from callwright.proxy.session.settings import GuidedPart
from tests.proxy.session.leading.test_lead import TOOLS, context, made, user

FOUND = made("find_part", {"name": "hex bolts"}, '{"code": "HB-8"}')
LOST = made("find_part", {"name": "hex bolts"}, "Error: there is no such part")
ORDERED = made("create_order", {"part_code": "HB-8", "quantity": 200}, '{"order": "O-1"}', "c2")
NAMES = ("find_part", "create_order", "send_mail")


def natively(*messages: Any, without: frozenset[GuidedPart] = frozenset()) -> Context:
    found = context(*messages, without=without)
    found.native, found.schema = True, False
    return found


def rounds(found: Context) -> Rounds:
    """The rounds where no question is needed to find them."""
    with pytest.raises(StopIteration) as end:
        next(find_rounds(found))
    value: Rounds = end.value.value
    return value


@pytest.mark.parametrize(
    "request_",
    [
        "Order 200 hex bolts",
        "Bestelle 200 Schrauben",
        "Pide 200 tornillos",
        "订购200个",
        "اطلب 200",
    ],
)
def test_what_waits_for_an_identifier_comes_last(request_: str) -> None:
    found = rounds(natively(user(request_)))
    assert (found.first, found.last) == ((("find_part", "send_mail"),), NAMES)


def test_with_the_identifier_there_is_one_round() -> None:
    found = rounds(natively(user("Order 200 hex bolts"), *FOUND))
    assert (found.first, found.last) == ((), NAMES)


def test_what_still_waits_after_results_is_left_out() -> None:
    found = rounds(natively(user("Order 200 hex bolts"), *LOST))
    assert (found.first, found.last) == ((), ("find_part", "send_mail"))
    flat = natively(user("Order 200 hex bolts"), *LOST, without=frozenset({"layers"}))
    assert rounds(flat).last == NAMES


def test_after_a_write_another_wish_may_still_be_served() -> None:
    found = rounds(natively(user("Order 200 hex bolts and mail ann@x.org"), *FOUND, *ORDERED))
    assert (found.first, found.last) == ((), NAMES)


def test_only_tools_that_are_known_are_taken_out() -> None:
    builtin = {"type": "web_search"}
    body = {"model": "m", "tools": [*TOOLS, builtin], "stream": True}
    kept = offer_tools(body, ("send_mail",), frozenset(NAMES))
    assert kept == {"model": "m", "tools": [TOOLS[2], builtin], "stream": True}
    assert [*kept] == [*body], "in the order of the request"
    assert offer_tools(body, NAMES, frozenset(NAMES)) is body
