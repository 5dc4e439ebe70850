from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from callwright.agent.today import choose_prompt_day, is_day_parameter, is_day_tool, render_today
from callwright.nouns.types import READ_LOCAL, WRITE, Effects, Tool

TODAY = date(2026, 11, 23)


def tool(name: str, about: str = "", effects: Effects = READ_LOCAL, **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Tool(name, about, schema, effects=effects)


DAY = {"type": "string", "format": "date"}
RATE = tool("exchange_rate", "The rate of a day.", base={"type": "string"}, date=DAY)
DATE = tool("desk_date", "Today's date and weekday.")


@pytest.mark.parametrize(
    ("one", "takes"),
    [
        (RATE, True),
        (tool("f", when={"type": "string", "format": "date-time"}), True),
        (tool("f", due_date={"type": "string"}), True),
        (tool("f", due={"type": "string", "description": "YYYY-MM-DD"}), True),
        (
            tool(
                "f", rows={"type": "array", "items": {"type": "object", "properties": {"d": DAY}}}
            ),
            True,
        ),
        (tool("f", d={"anyOf": [DAY, {"type": "null"}]}), True),
        (tool("f", days={"type": "integer"}), False),
        (tool("f", city={"type": "string"}), False),
        (tool("f", odd=True), False),
    ],
)
def test_a_tool_takes_a_day_by_format_name_or_description(one: Tool, takes: bool) -> None:
    assert is_day_parameter(one) is takes


@pytest.mark.parametrize(
    ("one", "tells"),
    [
        (DATE, True),
        (tool("get_current_time", "", zone={"type": "string"}), True),
        (tool("weather", "The weather in a city.", city={"type": "string"}), False),
        (tool("set_current_date", "", WRITE), False),
        (tool("plan_today", "The time plan of today.", date=DAY), False),
    ],
)
def test_a_tool_tells_the_day_if_it_takes_little_and_speaks_of_now(one: Tool, tells: bool) -> None:
    assert is_day_tool(one) is tells


def test_the_model_is_told_where_a_tool_takes_a_day_and_none_tells_it() -> None:
    assert choose_prompt_day([RATE], TODAY) == TODAY
    assert choose_prompt_day([RATE, DATE], TODAY) is None
    assert choose_prompt_day([DATE], TODAY) is None
    assert choose_prompt_day([RATE], None) is None
    assert render_today(TODAY) == "Today is Monday, 2026-11-23."
