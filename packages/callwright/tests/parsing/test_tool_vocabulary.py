from __future__ import annotations

import pytest

from callwright.jsontext import JsonError
from callwright.nouns.types import Tool
from callwright.parsing.tool_vocabulary import ToolVocabulary

TOOLS = [
    Tool("get_weather", input_schema={"properties": {"city": {"type": "string"}}}),
    Tool("mail.send"),
    Tool("f"),
]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("get_weather", "get_weather"),
        ("getWeather", "get_weather"),
        ("GET-WEATHER", "get_weather"),
        ("tools/get_weather", "get_weather"),
        ("server__get_weather", "get_weather"),
        ("send", "mail.send"),
        ("get_wether", "get_weather"),
        ("get_forecast", ""),
        ("g", ""),
        ("", ""),
        ("x" * 200, ""),
    ],
)
def test_a_name_means_the_offered_one_that_it_resembles(name: str, meant: str) -> None:
    assert ToolVocabulary(TOOLS).means(name) == meant
    assert ToolVocabulary(TOOLS).calls(name) is bool(meant)
    assert ToolVocabulary(TOOLS, unknown=True).offers(name) is bool(meant)


def test_any_name_counts_where_nothing_is_offered_or_it_is_asked_for() -> None:
    assert ToolVocabulary().calls("anything")
    assert ToolVocabulary(TOOLS, unknown=True).calls("anything")
    assert not ToolVocabulary(TOOLS, unknown=True).calls("two\nlines")
    assert ToolVocabulary(TOOLS).calls("Finish")


def test_the_schema_is_that_of_the_tool_that_is_meant() -> None:
    assert ToolVocabulary(TOOLS).schema("getWeather") == {"city": {"type": "string"}}
    assert ToolVocabulary(TOOLS).schema("nothing") == {}


def test_repair_has_a_budget_for_the_whole_reply() -> None:
    offer = ToolVocabulary()
    assert offer.read("{'a': 1}").value == {"a": 1}
    broken = "{'a': '" + "x" * 30_000 + "'}"
    offer.read(broken)
    offer.read(broken)
    with pytest.raises(JsonError, match="too much to repair"):
        offer.read(broken)
    assert offer.read('{"a": 1}').value == {"a": 1}


def test_null_has_a_meaning_where_an_optional_parameters_description_says_so() -> None:
    properties = {
        "day": {"type": "string", "description": "The day; null for today."},
        "place": {"type": "string", "description": "Where, never null."},
        "note": {"type": "string", "description": "A nullable note."},
    }
    schema = {"type": "object", "properties": properties, "required": ["place"]}
    offer = ToolVocabulary([Tool("plan", "", schema)])
    assert offer.names_null("plan", "day")
    assert not any(offer.names_null("plan", key) for key in ("place", "note", "other"))
    assert not offer.names_null("other", "day")
