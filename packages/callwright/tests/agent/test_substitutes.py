"""Which tool may stand in for one that failed: the same thing given, the inputs at hand, and no
more harm.
"""

from __future__ import annotations

from typing import Any

import pytest

from callwright.agent.origins import Failed
from callwright.agent.substitutes import find_substitutes
from callwright.nouns.types import (
    DESTRUCTIVE,
    READ_LOCAL,
    UNKNOWN,
    WRITE,
    Effects,
    Tool,
    ToolCall,
)
from callwright.repair.provenance.sources import ProvenanceIndex


def tool(
    name: str, about: str = "", effects: Effects = READ_LOCAL, given: str = "", **inputs: str
) -> Tool:
    schema = {
        "type": "object",
        "properties": {k: {"type": t} for k, t in inputs.items()},
        "required": [*inputs],
    }
    output = {"type": "object", "properties": {k: {} for k in given.split()}} if given else None
    return Tool(name, about, schema, output, effects)


def found(
    failed: Tool,
    *others: Tool,
    sources: ProvenanceIndex | None = None,
    said: str = "dead",
    **arguments: Any,
) -> dict[str, Any]:
    case = Failed(ToolCall("r1", failed.name, arguments), arguments, said, final=True)
    made = find_substitutes(case, (failed, *others), frozenset(), sources or ProvenanceIndex())
    return {s.tool.name: s.call.arguments if s.call else None for s in made}


RATE = tool("bank_rate", "The exchange rate of a currency.", given="rate day", currency="string")


def test_a_twin_takes_the_failed_calls_arguments_as_they_are() -> None:
    twin = tool(
        "market_rate",
        "The exchange rate of a currency on the market.",
        given="rate day",
        currency="string",
    )
    assert found(RATE, twin, currency="EUR") == {"market_rate": {"currency": "EUR"}}


def test_arguments_go_under_the_other_tools_names() -> None:
    one = tool(
        "weather_today", "The weather forecast of a city.", given="sky wind", city_name="string"
    )
    other = tool(
        "weather_report", "The weather forecast of a city.", given="sky wind", cityName="string"
    )
    assert found(one, other, city_name="Oslo") == {"weather_report": {"cityName": "Oslo"}}


def test_a_tool_that_gives_something_else_is_no_substitute_though_it_takes_the_same() -> None:
    other = tool(
        "currency_name",
        "The name of a currency in a language.",
        given="name language",
        currency="string",
    )
    assert found(RATE, other, currency="EUR") == {}


def test_one_that_needs_more_than_is_at_hand_is_none_or_a_question() -> None:
    token = tool(
        "market_rate",
        "The exchange rate of a currency.",
        given="rate day",
        currency="string",
        desk_id="string",
    )
    assert found(RATE, token, currency="EUR") == {}
    say = tool("market_rate", RATE.description, given="rate day", currency="string", city="string")
    assert found(RATE, say, currency="EUR") == {"market_rate": None}, "the model can say a city"


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        (READ_LOCAL, READ_LOCAL, True),
        (READ_LOCAL, WRITE, False),
        (READ_LOCAL, UNKNOWN, False),
        (WRITE, READ_LOCAL, True),
        (WRITE, WRITE, True),
        (WRITE, DESTRUCTIVE, False),
        (DESTRUCTIVE, DESTRUCTIVE, False),
        (UNKNOWN, UNKNOWN, True),
        (UNKNOWN, DESTRUCTIVE, False),
    ],
)
def test_a_substitute_does_no_more_harm(one: Effects, other: Effects, fits: bool) -> None:
    first = tool("bank_rate", "The exchange rate of a currency.", one, "rate", currency="string")
    second = tool(
        "market_rate", "The exchange rate of a currency.", other, "rate", currency="string"
    )
    assert bool(found(first, second, currency="EUR")) is fits


def test_what_the_tool_says_has_taken_its_place_is_called_however_unlike_it_reads() -> None:
    heir = tool("money_table", "Tables of money.", currency="string")
    assert found(RATE, heir, currency="EUR") == {}
    assert found(RATE, heir, said="bank_rate was renamed to money_table", currency="EUR") == {
        "money_table": {"currency": "EUR"}
    }
    assert (
        found(RATE, heir, said="no such currency: find it with money_table", currency="EUR") == {}
    )
    writes = tool("money_table", "Tables of money.", WRITE, currency="string")
    assert found(RATE, writes, said="bank_rate was renamed to money_table", currency="EUR") == {}


def test_what_failed_itself_is_not_offered() -> None:
    twin = tool(
        "market_rate", "The exchange rate of a currency.", given="rate day", currency="string"
    )
    case = Failed(ToolCall("r1", RATE.name, {}), {"currency": "EUR"}, "dead", final=True)
    assert find_substitutes(case, (RATE, twin), frozenset({"market_rate"}), ProvenanceIndex()) == []
    assert find_substitutes(case, (twin,), frozenset(), ProvenanceIndex()) == [], (
        "a tool that nobody knows is like no other"
    )
