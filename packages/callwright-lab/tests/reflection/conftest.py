"""A verified trajectory, and the world it was made in."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import READ_LOCAL, WRITE, ToolCall, ToolResult
from callwright.testing import FakeTool
from callwright_lab.reflection.row import Reflected

TEXT = {"type": "string"}
QUERY = "What is the weather at the airport of Oslo on 2024-12-25: sky and temperature?"


def airport(city: str) -> Any:
    return {"iata": {"Oslo": "OSL", "Rome": "FCO"}.get(city, "ZZZ")}


def forecast(iata: str, day: str, unit: str = "celsius") -> Any:
    del unit
    if iata not in ("OSL", "FCO"):
        raise ValueError(f"there is no station {iata}: give the IATA code of an airport")
    return (
        []
        if day < "2024"
        else {"sky": "snow" if iata == "OSL" else "sun", "high": -14 if iata == "OSL" else 18}
    )


class World:
    """The tools, each with what it was called with."""

    def __init__(self) -> None:
        unit = {"type": "string", "enum": ["celsius", "fahrenheit"]}
        self.airport = FakeTool("find_airport", {"city": TEXT}, output=airport, effects=READ_LOCAL)
        self.forecast = FakeTool(
            "forecast",
            {
                "iata": {**TEXT, "description": "IATA code of the airport."},
                "day": TEXT,
                "unit": unit,
            },
            required=["iata", "day"],
            output=forecast,
            description="Sky and temperature of a day.",
            effects=READ_LOCAL,
        )
        self.news = FakeTool(
            "news", {"city": TEXT}, output={"title": "Nothing new"}, effects=READ_LOCAL
        )
        self.book = FakeTool("book", {"city": TEXT}, output={"booked": True}, effects=WRITE)
        self.tools = [self.airport, self.forecast, self.news, self.book]

    @property
    def trajectory(self) -> Trajectory:
        offered = tuple(tool.tool for tool in self.tools)
        first = ToolCall("c1", "find_airport", {"city": "Oslo"})
        second = ToolCall("c2", "forecast", {"iata": "OSL", "day": "2024-12-25"})
        return Trajectory(
            "t1",
            QUERY,
            offered,
            (
                Step("I need the code.", (first,), (result(first, {"iata": "OSL"}),)),
                Step(
                    "Now the weather.", (second,), (result(second, {"sky": "snow", "high": -14}),)
                ),
            ),
            "Snow, and -14 degrees.",
        )


def result(call: ToolCall, content: Any, failure: Any = None) -> ToolResult:
    assert isinstance(call.arguments, dict)
    return ToolResult(call.id, call.tool, call.arguments, content, failure)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def coded(world: World) -> Reflected:
    """A row of which only programs can tell: the wrong one stopped, the right one computes its
    arguments.
    """
    t = world.trajectory
    wrong = Step("Now the weather.", (), (), "print(forecast(iata=x['code']))", "KeyError: code")
    program = "print(forecast(iata=x['iata'], day='2024-12-25'))"
    said = "The result has no code. I take iata."
    return Reflected(
        t.before(1), wrong, said, t.steps[1].calls, "calling", "program: KeyError", program=program
    )
