"""The dead are answered for, the living answer themselves."""

from __future__ import annotations

from dataclasses import replace

from callwright.execution.simulate import Simulator
from callwright.overlay import Overlay, ToolOverlay, documented
from callwright.testing import ScriptedModel
from callwright.types import JsonObject, Tool, ToolOutput
from callwright.verify.stand_ins import dead, with_stand_ins

GONE, HERE = Tool("gone", "Weather of old."), Tool("here", "Weather.")
OVERLAY = Overlay(
    {
        "gone": ToolOverlay(documented(GONE), status="dead: auth"),
        "here": ToolOverlay(documented(HERE), status="alive"),
    }
)


async def test_dead_tools_are_imitated_and_marked_and_others_are_called() -> None:
    asked: list[str] = []

    async def caller(name: str, arguments: JsonObject) -> ToolOutput:
        asked.append(name)
        return ToolOutput("clear")

    model = ScriptedModel({"simulate": {"error": "", "response": "rain"}})
    call = with_stand_ins([GONE, HERE], caller, OVERLAY, Simulator(model=model))
    assert await call("gone", {}) == ToolOutput("rain", simulated="model")
    assert await call("here", {}) == ToolOutput("clear")
    assert asked == ["here"]


def test_a_tool_that_has_changed_since_may_be_alive_again() -> None:
    assert dead([GONE, HERE], OVERLAY) == {"gone"}
    assert dead([replace(GONE, description="Weather, mended."), HERE], OVERLAY) == set()
