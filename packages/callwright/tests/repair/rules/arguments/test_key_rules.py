"""Arguments as a whole, and their keys."""

from __future__ import annotations

from callwright.nouns.types import Tool
from callwright.repair.context import RepairContext
from tests.repair.rules.arguments.repaired import TOOL, repaired, repaired_for


def test_arguments_in_an_object_of_their_own_are_unwrapped_and_converted() -> None:
    made = repaired_for({"arguments": {"nights": "2"}}, "2 nights")
    assert made.arguments == {"nights": 2}


def test_an_unknown_key_is_given_to_the_parameter_it_stands_for() -> None:
    made = repaired_for({"number_of_nights": 2}, "2 nights")
    assert made.arguments == {"nights": 2}


def test_an_unknown_key_goes_but_for_a_value_that_was_asked_for() -> None:
    made = repaired_for({"nights": 2, "breakfast": "vegan"}, "2 nights, breakfast: vegan")
    assert made.arguments == {"nights": 2, "breakfast": "vegan"}
    assert repaired_for({"nights": 2, "breakfast": "vegan"}, "2 nights").arguments == {"nights": 2}


def test_what_the_schema_forbids_goes_even_if_it_was_asked_for() -> None:
    closed = Tool("book", "Book.", {**TOOL.input_schema, "additionalProperties": False})
    said = RepairContext([closed], "2 nights, breakfast: vegan")
    made = repaired({"nights": 2, "breakfast": "vegan"}, said, closed)
    assert made.arguments == {"nights": 2}
