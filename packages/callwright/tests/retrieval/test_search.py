"""Searching an index: what a mode finds, and what comes along with it."""

from __future__ import annotations

from typing import Any

from callwright.nouns.types import READ, WRITE, Tool
from callwright.retrieval import Hit, ToolIndex

_ID = {"type": "object", "properties": {"order_id": {"type": "string"}}}
CANCEL = Tool(
    "cancel_order", "Cancel an order.", {**_ID, "required": ["order_id"]}, None, WRITE, "shop"
)
SEARCH = Tool("find_purchases", "What was bought.", {"type": "object"}, _ID, READ, "shop")
OTHERS = [
    Tool(f"cancel_{what}", f"Cancel a {what}.", source="else")
    for what in ("flight", "room", "ride", "meal")
]


def _brought(index: ToolIndex, request: str, **options: Any) -> list[Hit]:
    return [hit for hit in index.search(request, **options) if hit.needed_by]


def test_what_a_found_tool_needs_first_comes_along_marked_and_beyond_k() -> None:
    index = ToolIndex.build([CANCEL, SEARCH, *OTHERS])
    found, along = index.search("cancel my order", 1)
    assert (found.name, along.name) == ("cancel_order", "find_purchases")
    assert along.needed_by == "cancel_order"
    assert "order_id" in along.reason
    assert 0 < along.score < found.score
    assert not along.may_write
    assert not found.needed_by


def test_nothing_comes_along_where_nothing_is_missing_or_wanted() -> None:
    index = ToolIndex.build([CANCEL, SEARCH, *OTHERS])
    assert _brought(index, "cancel order 4711", k=1) == []
    assert _brought(index, "cancel my order", k=1, bring=0) == []
    assert _brought(index, "cancel my order", k=10) == [], "it was found itself"
    assert _brought(ToolIndex.build([CANCEL, *OTHERS]), "cancel my order", k=1) == []


def test_one_of_unknown_effects_that_comes_along_is_marked() -> None:
    unknown = Tool("find_purchases", "What was bought.", {"type": "object"}, _ID, source="shop")
    (hit,) = _brought(ToolIndex.build([CANCEL, unknown, *OTHERS]), "cancel my order", k=1)
    assert hit.may_write


def test_what_comes_along_changes_nothing_of_what_was_found() -> None:
    index = ToolIndex.build([CANCEL, SEARCH, *OTHERS])
    assert index.search("cancel my order", 1)[:1] == index.search("cancel my order", 1, bring=0)


_WEATHER = Tool("weather", "The weather in a city: temperature and rain.", source="sky")
_MAIL = Tool("send_mail", "Send a mail to somebody.", source="post")
_BOTH = "What is the weather in Oslo? Send a mail to Ada about it."


def test_a_hit_says_which_clause_of_the_request_it_fits() -> None:
    index = ToolIndex.build([_MAIL, _WEATHER, *OTHERS])
    fits = {hit.name: hit.clause for hit in index.search(_BOTH, 2, bring=0)}
    assert fits == {"weather": 0, "send_mail": 1}
    assert {hit.clause for hit in index.search("What is the weather in Oslo?")} == {0}


def test_what_comes_along_is_for_the_clause_of_the_hit_that_needs_it() -> None:
    index = ToolIndex.build([CANCEL, SEARCH, _WEATHER, *OTHERS])
    hits = index.search("What is the weather in Oslo? Please cancel my order at once.", 2)
    assert {hit.name: hit.clause for hit in hits} == {
        "cancel_order": 1,
        "weather": 0,
        "find_purchases": 1,
    }
