"""Schemas, placeholders and wrappers are told from values."""

from __future__ import annotations

import pytest

from callwright.nouns.types import Json, Tool
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.rules import schema_echo as echoes
from callwright.schema.value_spellings import NONE

CITY = {"type": "string", "description": "The city."}


@pytest.mark.parametrize(
    "value",
    [
        CITY,
        {"type": "str", "description": "x"},
        {"type": "string"},
        '{"type": "string", "description": "The city."}',
    ],
)
def test_a_schema_in_the_place_of_a_value_is_an_echo(value: object) -> None:
    assert echoes.is_echo(value, CITY)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "circle", "radius": 2},
        {"name": "Ann"},
        "string theory",
        {},
        5,
        {"type": "object", "color": "red"},
    ],
)
def test_a_value_that_merely_has_a_type_is_none(value: object) -> None:
    assert not echoes.is_echo(value, {"type": "object"})


def test_an_object_that_the_schema_wants_is_no_echo() -> None:
    part = {
        "type": "object",
        "properties": {"type": {"type": "string"}, "description": {"type": "string"}},
    }
    assert not echoes.is_echo({"type": "string", "description": "x"}, part)


def test_the_value_inside_an_echo_is_found() -> None:
    assert echoes.extract_echoed_value({**CITY, "value": "Oslo"}, CITY) == "Oslo"
    assert echoes.extract_echoed_value({**CITY, "default": "Oslo"}, CITY) == "Oslo"
    assert (
        echoes.extract_echoed_value({**CITY, "default": "Rome"}, {**CITY, "default": "Rome"})
        is NONE
    )
    assert echoes.extract_echoed_value(CITY, CITY) is NONE


@pytest.mark.parametrize(
    "text", ["<id>", "{latitude}", "YOUR_API_KEY", "string", "$1", "[city]", "..."]
)
def test_placeholders_are_seen(text: str) -> None:
    assert echoes.is_placeholder("city", text, CITY, ProvenanceIndex("weather please"))


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("city", "<city>"),
        ("city", " {city} "),
        ("city", "{{ city }}"),
        ("city", "[CITY]"),
        ("from_city", "YOUR_FROM_CITY"),
        ("hotelName", "YOUR_HOTELNAME"),
        ("user_id", "<user id>"),
        ("place", "<The city.>"),
    ],
)
def test_a_mark_around_the_parameters_own_name_or_text_is_its_own(key: str, text: str) -> None:
    assert echoes.is_own_mark(key, text, CITY)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("city", "<town>"),
        ("city", "<city"),
        ("city", "{city}}"),
        ("city", "<city> in <country>"),
        ("city", "city"),
        ("city", "CITY"),
        ("city", "your_city_here"),
        ("city", "$city"),
        ("city", "$1"),
        ("city", "<>"),
        ("city", "<br>"),
        ("name", "<name>"),
        ("id", "{id}"),
        ("input_string", "[input_string]"),
        ("city", 5),
    ],
)
def test_other_marks_and_general_names_prove_nothing(key: str, text: Json) -> None:
    assert not echoes.is_own_mark(key, text, CITY)


def test_a_description_of_general_words_proves_nothing() -> None:
    assert not echoes.is_own_mark("city", "<string>", {"description": "string"})
    assert not echoes.is_own_mark("city", "<string>", None)


def test_what_was_said_is_no_placeholder() -> None:
    assert not echoes.is_placeholder(
        "text", "string", {"type": "string"}, ProvenanceIndex("reverse the word string")
    )
    assert not echoes.is_placeholder(
        "html", "<b>", {"type": "string"}, ProvenanceIndex("what does <b> do"), "what does <b> do"
    )


def test_one_wrapper_too_many_is_opened() -> None:
    tool = Tool("t", "", {"type": "object", "properties": {"city": CITY}})
    assert echoes.unwrap_arguments({"arguments": {"city": "Oslo"}}, tool) == {"city": "Oslo"}
    assert echoes.unwrap_arguments({"t": {"city": "Oslo"}}, tool) == {"city": "Oslo"}
    assert echoes.unwrap_arguments({"type": "object", "properties": {"city": "Oslo"}}, tool) == {
        "city": "Oslo"
    }
    assert echoes.unwrap_arguments({"input": '{"city": "Oslo"}'}, tool) == {"city": "Oslo"}
    assert echoes.unwrap_arguments({"city": "Oslo"}, tool) is None
    assert echoes.unwrap_arguments({"input": {"town": "Oslo"}}, tool) is None


def test_a_wrapper_that_the_tool_declares_stays() -> None:
    tool = Tool("t", "", {"type": "object", "properties": {"arguments": {"type": "object"}}})
    assert echoes.unwrap_arguments({"arguments": {"arguments": {}}}, tool) is None


def test_all_options_at_once_are_no_choice() -> None:
    part = {"type": "string", "enum": ["a", "b"]}
    assert echoes.lists_every_option(["a", "b"], part)
    assert not echoes.lists_every_option(["a"], part)


def test_names_for_no_call_are_known() -> None:
    assert echoes.is_no_tool("No Function")
    assert not echoes.is_no_tool("note")


def test_words_for_null_are_seen() -> None:
    assert all(echoes.is_null_text(text) for text in ("null", "None", " NIL "))
    assert not any(echoes.is_null_text(value) for value in ("", "nothing", None, 0, "nullable"))
