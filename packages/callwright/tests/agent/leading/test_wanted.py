"""The tool that a stated wish is for, as one letter tells."""

from __future__ import annotations

import pytest

from callwright.agent.leading.wanted import (
    SURE_SHARE,
    TAKEN_UP_SHARE,
    build_question,
    read_wanted,
)
from callwright.nouns.types import Reply, Tool

TOOLS = (Tool("add_reminder", "Adds one."), Tool("delete_reminder", "Deletes one."))


@pytest.mark.parametrize(
    ("likely", "expected"),
    [
        ({"B": SURE_SHARE + 0.01, "A": 0.1, "C": 0.1}, "delete_reminder"),
        ({"B": 0.5, "A": 0.4, "C": 0.1}, ""),
        ({"C": 0.95, "A": 0.05}, ""),
        ({}, ""),
    ],
)
def test_a_wish_is_for_the_tool_that_the_model_is_sure_of(
    likely: dict[str, float], expected: str
) -> None:
    assert read_wanted(Reply("B", first_token=likely), TOOLS) == expected


def test_less_is_enough_where_the_model_meant_to_call_one() -> None:
    reply = Reply("B", first_token={"B": 0.6, "A": 0.3, "C": 0.1})
    assert read_wanted(reply, TOOLS) == ""
    assert read_wanted(reply, TOOLS, TAKEN_UP_SHARE) == "delete_reminder"


def test_the_question_stands_alone() -> None:
    request = build_question("delete the one about the plumber", TOOLS, "none")
    assert (request.max_tokens, request.top_logprobs) == (1, 20)
    (asked,) = request.messages
    assert asked.content.startswith("Request: delete the one about the plumber\n")
    assert "B) delete_reminder: Deletes one.\nC) none" in asked.content
