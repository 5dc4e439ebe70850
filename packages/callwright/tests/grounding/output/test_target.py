"""Types of outputs: what JSON they want, and what they make of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import pytest
from pydantic import BaseModel, Field

from callwright.grounding.output.target import open_output
from callwright.nouns.errors import ConfigError
from callwright.schema.compiled import is_valid_instance


@dataclass
class City:
    name: str
    people: int
    country: str | None = None


class Town(TypedDict):
    name: str
    people: int


class Village(BaseModel):
    name: str
    people: int = Field(gt=0)


class Tree(BaseModel):
    name: str
    parts: list[Tree] = []


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["name", "people"],
}
OSLO = {"name": "Oslo", "people": 7}


@pytest.mark.parametrize(
    ("kind", "loaded"),
    [
        (City, City("Oslo", 7)),
        (Town, OSLO),
        (Village, Village(name="Oslo", people=7)),
        (SCHEMA, OSLO),
    ],
)
def test_a_value_of_each_kind_of_type_is_made_of_its_json(kind: Any, loaded: Any) -> None:
    target = open_output(kind)
    assert is_valid_instance(target.schema, OSLO)
    assert not is_valid_instance(target.schema, {"name": "Oslo"})
    assert target.load(target.unwrap(OSLO)) == loaded


@pytest.mark.parametrize("kind", [list[int], int, Literal["a", "b"], {"type": "array"}])
def test_a_type_that_is_no_object_stands_in_one(kind: Any) -> None:
    target = open_output(kind)
    assert target.schema["required"] == ["value"]
    assert target.unwrap({"value": 3}) == 3
    assert (target.place_of("/value/0"), target.place_of("/value")) == ("/0", "")


@pytest.mark.parametrize("kind", [City, Town, Village, SCHEMA, list[City], Tree])
def test_a_reply_is_held_to_every_field_and_any_may_be_null(kind: Any) -> None:
    target = open_output(kind)
    schema = target.decoding_schema
    fields = dict.fromkeys(schema["properties"])
    assert is_valid_instance(schema, fields)
    assert all(not is_valid_instance(schema, {**fields, "more": 1}) for _ in fields)
    assert not is_valid_instance(schema, {})


def test_options_stay_options_and_members_of_lists_may_be_null_too() -> None:
    kind = {
        "type": "object",
        "properties": {
            "size": {"type": "string", "enum": ["s", "m"]},
            "parts": {"type": "array", "items": SCHEMA},
        },
    }
    schema = open_output(kind).decoding_schema
    row = {"name": None, "people": 3}
    assert is_valid_instance(schema, {"size": "s", "parts": [row]})
    assert is_valid_instance(schema, {"size": None, "parts": None})
    assert not is_valid_instance(schema, {"size": "x", "parts": []})
    assert not is_valid_instance(schema, {"size": "s", "parts": [None]})


class Socket:
    def __init__(self, port: int, wire: Socket) -> None: ...


@pytest.mark.parametrize("kind", [Socket, {"type": "nothing"}, "a text"])
def test_what_has_no_json_form_is_refused_with_what_has(kind: Any) -> None:
    with pytest.raises(ConfigError, match="the output type cannot be used") as refused:
        open_output(kind)
    assert "pydantic model" in refused.value.hint
