"""Arguments of one call, step by step."""

from __future__ import annotations

import pytest

from callwright.nouns.types import JsonObject, Tool, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.draft import Draft, Drafts
from callwright.repair.pipeline import run_rules, run_without_questions
from callwright.repair.result import Settings
from callwright.repair.rules.argument_repair import ARGUMENT_RULES, is_triggered
from callwright.repair.rules.reply_context import ReplyContext

TOOL = Tool(
    "book",
    "Book a room.",
    {
        "type": "object",
        "properties": {
            "nights": {"type": "integer"},
            "material": {"type": "string", "enum": ["Bronze", "Marble"]},
            "guest_id": {"type": "string"},
        },
        "required": ["nights"],
    },
)


def repaired(arguments: JsonObject, situation: RepairContext, tool: Tool = TOOL) -> Draft:
    """The draft of one call after the rules for arguments."""
    calls = [ToolCall("", tool.name, arguments)]
    drafts = Drafts(calls)
    context = ReplyContext(situation, calls, is_triggered)
    run_without_questions(run_rules(ARGUMENT_RULES, drafts, context))
    return drafts[0]


def repaired_for(arguments: JsonObject, query: str = "", settings: Settings | None = None) -> Draft:
    return repaired(arguments, RepairContext([TOOL], query, settings=settings))


def test_all_options_become_the_one_that_was_said() -> None:
    made = repaired_for({"nights": 2, "material": ["Bronze", "Marble"]}, "2 nights, a bronze one")
    assert made.arguments == {"nights": 2, "material": "Bronze"}


def test_an_identifier_from_nowhere_is_reported() -> None:
    made = repaired_for({"nights": 2, "guest_id": "ZX-99812"}, "2 nights please")
    assert made.arguments["guest_id"] == "ZX-99812"
    assert [v.keyword for v in made.errors] == ["identifier"]


def test_a_missing_value_that_was_said_is_filled_in() -> None:
    made = repaired_for({}, "a room for 3 nights")
    assert made.arguments == {"nights": 3}
    assert made.confidence < 1


def test_a_guess_below_the_bar_is_an_abstention() -> None:
    made = repaired_for({}, "a room for 3 nights", Settings(least=0.99))
    assert made.arguments == {}
    assert next(d for d in made.diagnostics if d.severity == "hint").candidate == 3
    assert [v.keyword for v in made.errors] == ["required"]
    assert made.missing == ["nights"]


def test_an_optional_unit_stays_where_the_same_unit_was_said_in_another_word() -> None:
    schema = {
        "type": "object",
        "properties": {"base": {"type": "integer"}, "unit": {"type": "string"}},
    }
    tool = Tool("area", "Area of a square.", {**schema, "required": ["base"]})

    def left(query: str) -> JsonObject:
        situation = RepairContext([tool], query, settings=Settings(leave_out=True))
        return repaired({"base": 12, "unit": "m"}, situation, tool).arguments

    assert left("The area of a square with a base of 12 meters") == {"base": 12, "unit": "m"}
    assert left("The area of a square with a base of 12") == {"base": 12}


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
