"""Thoughts by rule."""

from __future__ import annotations

from callwright.nouns.types import Tool
from callwright_lab.reflection.thoughts import (
    describe_origins,
    describe_purpose,
    write_call_thought,
)
from tests.training.toolmvr_case import FIND, bought


def test_a_purpose_is_the_first_sentence() -> None:
    assert describe_purpose(FIND) == "Finds a shop"
    assert describe_purpose(Tool("f", "word " * 60)).endswith("…")
    assert describe_purpose(None) == ""


def test_a_thought_says_what_is_called_and_where_its_values_come_from() -> None:
    t = bought()
    assert (
        write_call_thought(t, 0)
        == "First I call `find_shop` (Finds a shop). `city` and `open_on` are in the task."
    )
    assert write_call_thought(t, 1).endswith(
        "`thing` is in the task; `shop_id` came back from `find_shop`."
    )
    assert describe_origins(t, 1, t.calls[1], {"nowhere": "Q-9999"}) == ""
