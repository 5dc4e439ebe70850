"""Parts of parameters are found where the schema says, in calls where they stand, and in errors
however written.
"""

from __future__ import annotations

import pytest

from callwright.nouns.types import Tool
from callwright.tools.overlay import KEYWORDS, OverlayChange, apply_changes
from callwright_lab.verify.places import Flat, list_places

SEARCH = Tool(
    "search",
    "Hotels.",
    {
        "type": "object",
        "properties": {
            "filter": {"$ref": "#/$defs/Filter"},
            "stops": {
                "type": "array",
                "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            },
            "page": {"type": "integer"},
        },
        "required": ["filter"],
        "$defs": {
            "Filter": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "stars": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                    "near": {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}]},
                },
                "required": ["city"],
            }
        },
    },
)


def test_every_part_has_a_name_for_people_and_one_for_the_overlay() -> None:
    found = {place.name: place for place in list_places(SEARCH)}
    assert [name for name in found if name.count(".") < 2] == [
        "filter", "stops", "page", "filter.city", "filter.stars", "filter.near", "stops[]", "stops[].name",
    ]  # fmt: skip
    assert found["stops[].name"].key == "stops/items/properties/name"
    assert found["filter.near.city"].key == "filter/properties/near/anyOf/0/properties/city"
    assert found["filter.city"].required
    assert not found["filter.stars"].required
    assert len(found) < 40, "what holds itself is followed so far and no further"
    for place in found.values():
        apply_changes(
            SEARCH, [OverlayChange(place.key, KEYWORDS[0], "text")]
        )  # every one can be said something of


def test_values_are_those_that_stand_there() -> None:
    call = {"filter": {"city": "Oslo"}, "stops": [{"name": "a"}, {"name": "b"}, {}], "page": 1}
    found = {place.name: place.values(call) for place in list_places(SEARCH)}
    assert found["filter.city"] == ["Oslo"]
    assert found["stops[].name"] == ["a", "b"]
    assert found["page"] == [1]
    assert found["filter.stars"] == []


@pytest.mark.parametrize(
    "said",
    ["filter.city must be", "filter[city] must be", "filter['city'] must be", "filter -> city must be",
     "/filter/city must be", "body.filter.city must be", "'city' must be"],
)  # fmt: skip
def test_errors_name_parts_in_many_ways(said: str) -> None:
    flat = Flat(Tool("t", "", {"type": "object", "properties": {"filter": {"type": "object", "properties": {
        "city": {}, "stars": {}}}}}))  # fmt: skip
    text = flat.text(said)
    (alias,) = (alias for alias, place in flat.places.items() if place.name == "filter.city")
    assert alias in text
    assert flat.named([text.partition(alias)[1]]) == ["city"]


def test_items_are_named_with_their_number_and_names_of_two_places_only_with_their_path() -> None:
    flat = Flat(SEARCH)
    aliases = {place.name: alias for alias, place in flat.places.items()}
    for said in ("stops.1.name is long", "stops[1].name is long", "stops/1/name is long"):
        assert flat.text(said) == f"{aliases['stops[].name']} is long"
    assert flat.text("city is unknown") == "city is unknown", "of which filter?"
    assert flat.text("velocity.city") == "velocity.city"


def test_names_that_are_pointers_themselves_keep_their_meaning() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}},
              "a/properties/b": {}, "c/d": {"type": "object", "properties": {"~e": {}}}}}  # fmt: skip
    tool = Tool("t", "", schema)
    keys = [place.key for place in list_places(tool)]
    assert keys == ["a", "a/properties/b", "c/d", "c~1d/properties/~0e"]
    made = apply_changes(
        tool, [OverlayChange("a/properties/b", "default", 1), OverlayChange(keys[-1], "default", 2)]
    )
    assert made.properties["a/properties/b"] == {"default": 1}, "the parameter, as before"
    assert made.properties["a"] == schema["properties"]["a"]
    assert made.properties["c/d"]["properties"]["~e"] == {"default": 2}
