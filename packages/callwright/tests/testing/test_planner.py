"""The planner of the test kit."""

from __future__ import annotations

from callwright.nouns.types import Tool
from callwright.testing import FixedPlan


def test_the_layers_are_those_that_were_given_of_the_tools_that_are_offered() -> None:
    planner = FixedPlan(["find", "gone"], ["book"])
    made = planner.plan("whatever", [Tool("book"), Tool("find"), Tool("new")])
    assert [[slot.tool for slot in layer] for layer in made.layers] == [["find"], ["book"]]
