"""Values that are none."""

from __future__ import annotations

import pytest

from callwright.nouns.types import JsonObject, Tool
from callwright.repair.context import RepairContext
from callwright.repair.draft import Draft
from tests.repair.rules.arguments.repaired import repaired, repaired_for

RENDER = Tool(
    "render",
    "Renders a page.",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "name": {"type": "string"},
            "template": {"type": "string"},
            "footer": {"type": "string"},
        },
        "required": ["city"],
    },
)


def rendered(arguments: JsonObject, query: str, tool: Tool = RENDER) -> Draft:
    return repaired(arguments, RepairContext([tool], query), tool)


def test_all_options_become_the_one_that_was_said() -> None:
    made = repaired_for({"nights": 2, "material": ["Bronze", "Marble"]}, "2 nights, a bronze one")
    assert made.arguments == {"nights": 2, "material": "Bronze"}


@pytest.mark.parametrize("mark", ["<city>", "{city}", "{{city}}", "[city]", "YOUR_CITY"])
def test_a_mark_around_its_own_name_gives_way_to_what_was_said(mark: str) -> None:
    made = rendered({"city": mark}, "A page, city: Oslo")
    assert made.arguments == {"city": "Oslo"}
    assert [(e.rule, e.before, e.after) for e in made.edits] == [("stated_value", mark, "Oslo")]
    assert [d.candidate for d in made.diagnostics if d.severity == "hint"] == ["Oslo"]


def test_an_optional_mark_gives_way_only_to_what_was_said_for_it() -> None:
    arguments: JsonObject = {"city": "Rome", "footer": "<footer>"}
    made = rendered(arguments, "A page of Rome, footer: 'Ann'")
    assert made.arguments == {"city": "Rome", "footer": "Ann"}


def test_a_required_mark_gives_way_to_the_only_quoted_text() -> None:
    assert rendered({"city": "<city>"}, "A page of 'oslo'").arguments == {"city": "oslo"}


def test_a_mark_around_its_own_name_is_reported_where_nothing_was_said() -> None:
    made = rendered({"city": "<city>"}, "A page please")
    assert made.arguments == {"city": "<city>"}
    assert [v.keyword for v in made.errors] == ["placeholder"]
    assert made.missing == ["city"]


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"city": "<town>"}, "A page, city: Oslo"),
        ({"city": "Rome", "footer": "<footer>"}, "A page of Rome with 'Ann' in it"),
        ({"city": "$city"}, "A page, city: Oslo"),
        ({"city": "your_city_here"}, "A page, city: Oslo"),
        ({"city": "<city>"}, "A page with <city> in it, city: Oslo"),
        ({"city": "Rome", "name": "<name>"}, "A page of Rome, name: Ann"),
        ({"city": "{city}", "template": "In {city}"}, "A page, city: Oslo"),
    ],
)
def test_a_mark_that_may_be_meant_stays(arguments: JsonObject, query: str) -> None:
    made = rendered(arguments, query)
    assert made.arguments == arguments
    assert made.edits == []


def test_a_mark_that_the_tool_describes_stays() -> None:
    tool = Tool("render", "Renders a page; {city} is replaced.", RENDER.input_schema)
    made = rendered({"city": "{city}"}, "A page, city: Oslo", tool)
    assert made.arguments == {"city": "{city}"}


@pytest.mark.parametrize("text", ["null", "None", " nil "])
def test_an_optional_number_that_is_null_as_text_takes_no_number_that_was_said(text: str) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "beds": {"type": "integer"}},
        "required": ["city"],
    }
    tool = Tool("find_rooms", "Find rooms.", schema)
    made = repaired({"city": "Oslo", "beds": text}, RepairContext([tool], "in Oslo, 3"), tool)
    assert made.arguments in ({"city": "Oslo"}, {"city": "Oslo", "beds": text})


def test_a_required_number_that_is_null_as_text_takes_what_was_said() -> None:
    assert repaired_for({"nights": "null"}, "3 nights please").arguments == {"nights": 3}
