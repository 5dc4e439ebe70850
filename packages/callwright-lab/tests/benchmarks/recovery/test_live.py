"""Live tools for error cases: read, in a sandbox also written to, and imitated where verification
found them dead.
"""

from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import READ, WRITE, Effects, ToolCall, ToolResult
from callwright.testing import FakeTool, ScriptedModel, fake_source
from callwright.tools.catalog import open_catalog
from callwright.tools.overlay import Overlay, OverlayChange, ToolOverlay, documented
from callwright_lab.benchmarks.recovery.cases import ErrorCase
from callwright_lab.benchmarks.recovery.live import LiveTools, as_offered, live_world
from callwright_lab.recovery import Gold
from tests.benchmarks.trajectory_case import WEATHER, step

TEXT = {"type": "string"}
SNOW = {"simulate": {"error": "", "response": {"sky": "snow"}}}
DEAD = "dead: unavailable"


def weather(effects: Effects = READ, **more: Any) -> FakeTool:
    return FakeTool(
        "weather", {"city": TEXT}, effects=effects, **{"output": {"sky": "rain"}, **more}
    )


async def said_of(tool: FakeTool, status: str, *changes: OverlayChange) -> Overlay:
    (offered,) = await fake_source(tool).open()
    return Overlay({tool.name: ToolOverlay(documented(offered), changes, status)})


def call(city: str) -> ToolCall:
    return ToolCall("c1", "weather", {"city": city})


async def test_a_success_with_an_error_inside_is_a_failure() -> None:
    tool = weather(output={"success": False, "error": "unknown city"})
    sources = LiveTools((fake_source(tool),)).answering()
    async with open_catalog(sources) as catalog:
        assert not (await live_world(catalog, sources).carry_out(call("X"))).ok


@pytest.mark.parametrize("sandbox", [False, True])
async def test_tools_that_may_write_are_called_in_a_sandbox_only(sandbox: bool) -> None:
    tool = weather(WRITE)
    sources = LiveTools((fake_source(tool),), sandbox=sandbox).answering()
    async with open_catalog(sources) as catalog:
        result = await live_world(catalog, sources).carry_out(call("Oslo"))
    assert tool.calls == [{"city": "Oslo"}] * sandbox
    assert result.ok == sandbox
    assert sandbox or (result.failure is not None and result.failure.kind == "not_executable")


@pytest.mark.parametrize("effects", [READ, WRITE])
async def test_dead_tools_are_answered_for_by_what_is_on_record_and_then_by_a_model(
    effects: Effects,
) -> None:
    tool = weather(effects)
    live = LiveTools((fake_source(tool),), await said_of(tool, DEAD), model=ScriptedModel(SNOW))
    sources = live.answering([step("r1", {"city": "Rome"}, {"sky": "sun"})])
    async with open_catalog(sources) as catalog:
        world = live_world(catalog, sources)
        assert world.simulated == {"weather"}
        assert (await world.carry_out(call("Rome"))).content == {"sky": "sun"}
        made_up = await world.carry_out(call("Oslo"))
    assert (made_up.content, made_up.simulated, tool.calls) == ({"sky": "snow"}, "model", [])


async def test_a_living_tool_is_asked_itself_and_shown_as_verification_documented_it() -> None:
    tool = weather()
    overlay = await said_of(tool, "alive", OverlayChange("city", "examples", ["Oslo"]))
    sources = LiveTools((fake_source(tool),), overlay).answering()
    async with open_catalog(sources) as catalog:
        world = live_world(catalog, sources)
        assert not world.simulated
        assert (await world.carry_out(call("Oslo"))).content == {"sky": "rain"}
        assert catalog["weather"].properties["city"]["examples"] == ["Oslo"]


async def test_a_run_from_a_case_is_answered_as_the_case_was() -> None:
    tool = weather()
    live = LiveTools((fake_source(tool),), await said_of(tool, DEAD))
    wrong, gold = (
        step("h9", {"city": "Olso"}, error="no such city"),
        Gold("weather", {"city": "Oslo"}, {"sky": "sun"}),
    )
    case = ErrorCase("t", "I2", "parameter", "Weather in Oslo?", (WEATHER,), (), wrong, gold)
    with live.of(case) as sources:
        async with open_catalog(list(sources)) as catalog:
            assert (await catalog.call("weather", {"city": "Oslo"})).content == {"sky": "sun"}
            again = await catalog.call("weather", {"city": "Olso"})
            assert again.failure is not None
            assert "no such city" in again.failure.message
            unknown = await catalog.call("weather", {"city": "Rome"})
            assert unknown.failure is not None
            assert (unknown.failure.kind, unknown.failure.not_done) == ("not_executable", True)


async def test_a_trajectory_of_programs_is_read_by_the_catalogues_own_names() -> None:
    tool = FakeTool("weather.now", {"in": TEXT}, output={}, effects=READ)
    written = ToolCall("r1", "weather_now", {"in_": "Oslo"})
    made = Step(
        "", (written,), (ToolResult("r1", "weather_now", {"in_": "Oslo"}, {"sky": "rain"}),)
    )
    shown = FakeTool("weather_now", {"in_": TEXT}, output={})
    run = Trajectory("t", "Weather in Oslo?", tuple(await fake_source(shown).open()), (made,))
    async with open_catalog([fake_source(tool)]) as catalog:
        read = as_offered(run, catalog)
        assert [t.name for t in read.tools] == ["weather.now"]
        assert [(c.tool, c.arguments) for c in read.calls] == [("weather.now", {"in": "Oslo"})]
        assert [(r.tool, r.arguments) for r in read.results] == [("weather.now", {"in": "Oslo"})]
        assert as_offered(read, catalog) == read
