"""A place in a draft is known by its keys."""

from __future__ import annotations

from callwright.repair.location import NAME, Location, in_arguments


def test_a_place_in_the_arguments_knows_its_keys() -> None:
    assert in_arguments(3, "rows", 0).argument == ("rows", 0)
    assert in_arguments(3) == Location(3, ("arguments",))
    assert in_arguments(3).argument == ()


def test_a_name_is_no_part_of_the_arguments() -> None:
    assert Location(0, NAME).argument is None
    assert Location(0).argument is None
