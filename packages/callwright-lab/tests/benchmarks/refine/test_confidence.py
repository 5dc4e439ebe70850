"""Guesses are counted as what they turn out to be."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from callwright.nouns.types import Tool, ToolCall
from callwright_lab.benchmarks.harm.gold import GoldCase
from callwright_lab.benchmarks.refine.confidence import (
    count_fills,
    count_matches,
    is_same_guess,
    iter_other_names,
    main,
    render_report,
)

WEATHER = Tool(
    "get_city_weather",
    "Current weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
FLIGHT = Tool(
    "book_flight",
    "Book a flight.",
    {"type": "object", "properties": {"flight": {"type": "string"}}},
)


def case(query: str, city: str) -> GoldCase:
    return GoldCase(
        "c", "own", query, (WEATHER, FLIGHT), (ToolCall("1", WEATHER.name, {"city": city}),)
    )


def test_a_stated_value_is_right_or_wrong_by_the_gold() -> None:
    found = count_fills(
        [
            case("My city is Oslo.", "Oslo"),
            case("My city is Oslo.", "Bergen"),
            case("how is it?", "Oslo"),
        ]
    )
    assert found["labelled", True] == {"right": 1, "wrong": 1}
    assert found["none", True]["wrong"] == 1


def test_names_with_and_without_the_right_tool() -> None:
    found = count_matches([case("the weather in the city Oslo", "Oslo")])
    assert found["present"]["wrong"] == 0
    assert found["present"]["right"] >= 1
    assert found["absent"]["right"] == 0


def test_other_names_are_other_names() -> None:
    made = list(iter_other_names(WEATHER, Random(1)))
    assert made
    assert WEATHER.name not in made


def test_numbers_equal_their_own_text() -> None:
    assert is_same_guess("5", 5)
    assert not is_same_guess("5", 6)


def test_the_report_shows_what_the_confidences_rest_on() -> None:
    text = render_report(count_fills([case("My city is Oslo.", "Oslo")]), count_matches([]))
    assert "| labelled | one call | 1 | 0 | 1.000 | 0.99 |" in text


def test_without_data_the_command_says_where_to_get_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(tmp_path)]) == 1
    assert "gold calls" in capsys.readouterr().err
