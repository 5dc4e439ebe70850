"""Unknown keys go to the parameters they stand for, together, and never to an opposite."""

from __future__ import annotations

from callwright.nouns.types import Tool
from callwright.repair.rules import parameters
from callwright.schema.compiled import compiled_for


def paired(
    arguments: dict[str, object], properties: dict[str, object], required: list[str]
) -> dict[str, str]:
    tool = Tool("t", "", {"type": "object", "properties": properties, "required": required})
    sure, _ = parameters.pair_keys(arguments, compiled_for(tool).root)
    return {p.given: p.wanted for p in sure}


TEXT = {"type": "string"}


def test_synonyms_are_assigned_together() -> None:
    found = paired(
        {"from": "Oslo", "destination_city": "Rome"},
        {"origin": TEXT, "destination": TEXT},
        ["origin", "destination"],
    )
    assert found == {"from": "origin", "destination_city": "destination"}


def test_the_last_missing_parameter_takes_the_last_unknown_key_that_is_somewhat_like_it() -> None:
    assert paired({"place": "Oslo"}, {"city": TEXT}, ["city"]) == {"place": "city"}


def test_opposites_and_other_numbers_are_never_paired() -> None:
    assert paired({"start_date": "2024-01-01"}, {"end_date": TEXT}, ["end_date"]) == {}
    assert paired({"min_price": 3}, {"max_price": {"type": "number"}}, ["max_price"]) == {}
    assert paired({"line1": "x"}, {"line2": TEXT}, ["line2"]) == {}


def test_a_value_that_the_parameter_cannot_hold_forbids_the_pair() -> None:
    assert paired({"place": {"a": 1}}, {"city": TEXT}, ["city"]) == {}


def test_what_could_go_to_two_places_goes_nowhere() -> None:
    assert (
        paired(
            {"name": "Ann"}, {"first_name": TEXT, "last_name": TEXT}, ["first_name", "last_name"]
        )
        == {}
    )


def test_names_without_anything_in_common_are_not_alike() -> None:
    assert parameters.name_likeness("colour", "passengers") == 0
