"""Who answers in a tool's place, in which order, and who is dead."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from callwright.nouns.types import JsonObject, Tool, ToolOutput
from callwright.simulation.recording import Recorded, Recording
from callwright.testing import ScriptedModel
from callwright.tools.catalog import open_catalog
from callwright.tools.overlay import Overlay, OverlayChange, ToolOverlay, documented
from callwright_lab.verify.budget import Account, Budget, BudgetSpent, Meter
from callwright_lab.verify.memory import RowMemory
from callwright_lab.verify.mock_tools import StandIn, find_dead_tools

GONE = Tool("gone", "Weather of old.")
HERE = Tool("here", "Weather.", {"type": "object", "properties": {"day": {"type": "integer"}}})
OVERLAY = Overlay(
    {
        "gone": ToolOverlay(documented(GONE), status="dead: auth"),
        "here": ToolOverlay(documented(HERE), status="alive"),
    }
)


def rain(text: str = "rain") -> JsonObject:
    return {"error": "", "response": text}


async def test_what_is_on_record_answers_first_then_the_model_and_both_are_marked() -> None:
    recording = Recording([Recorded("here", {"day": 1}, ToolOutput("clear"), HERE.digest)], [HERE])
    model = ScriptedModel({"simulate": rain()})
    stand_in, meter = StandIn(recording, model), Meter()
    assert await stand_in.answer(HERE, {"day": 1}, meter) == ToolOutput(
        "clear", simulated="recorded"
    )
    assert (len(model.requests), meter.cost.model_calls) == (0, 0)
    assert await stand_in.answer(GONE, {}, meter) == ToolOutput("rain", simulated="model")
    assert (len(model.requests), meter.cost.model_calls, meter.cost.usage.total > 0) == (1, 1, True)
    nobody = await StandIn(recording).answer(GONE, {}, meter)
    assert nobody.failure is not None
    assert nobody.failure.kind == "not_executable"


async def test_a_call_is_on_record_of_a_tool_described_anew_and_not_of_one_with_other_parameters() -> (
    None
):
    recording = Recording([Recorded("here", {"day": 1}, ToolOutput("clear"), HERE.digest)], [HERE])
    better = replace(HERE, description="Weather of a day, from Monday.")
    other = replace(HERE, input_schema={"type": "object", "properties": {"date": {}}})
    assert StandIn(recording).recorded(better, {"day": 1}) == ToolOutput(
        "clear", simulated="recorded"
    )
    assert StandIn(recording).recorded(other, {"day": 1}) is None


async def test_all_rows_are_told_alike_also_at_once_and_after_the_process_ended() -> None:
    notes: list[JsonObject] = []
    model = ScriptedModel([rain("rain"), rain("snow")])
    stand_in, shared = StandIn(imitator=model), RowMemory((), notes.append)
    rows = [Meter(shared=shared) for _ in range(3)]
    told = await asyncio.gather(*(stand_in.answer(GONE, {"day": 1}, meter) for meter in rows))
    assert {one.content for one in told} == {"rain"}
    assert sum(meter.cost.model_calls for meter in rows) == 1
    later = Meter(shared=RowMemory(notes))
    assert await StandIn(imitator=model).answer(GONE, {"day": 1}, later) == told[0]
    assert (len(model.requests), later.cost.model_calls) == (1, 0)


async def test_a_question_that_may_not_be_asked_is_left_to_who_may_ask_it() -> None:
    stand_in, shared = StandIn(imitator=ScriptedModel([rain()])), RowMemory()
    with pytest.raises(BudgetSpent):
        await stand_in.answer(GONE, {}, Meter(Account(Budget(model_calls=0)), shared=shared))
    assert await stand_in.answer(GONE, {}, Meter(shared=shared)) == ToolOutput(
        "rain", simulated="model"
    )


def test_a_tool_that_has_changed_since_may_be_alive_again() -> None:
    assert find_dead_tools(OVERLAY.apply([GONE, HERE]).fitting) == {"gone"}
    assert (
        find_dead_tools(
            OVERLAY.apply([replace(GONE, description="Weather, repaired."), HERE]).fitting
        )
        == set()
    )


async def test_a_dead_tool_of_which_a_person_wrote_something_is_dead_all_the_same() -> None:
    edited = replace(
        OVERLAY.tools["gone"],
        status="Dead since 2024",
        changes=(OverlayChange("", "description", "Weather, gone in 2024."),),
    )
    async with open_catalog([GONE, HERE, Overlay({**OVERLAY.tools, "gone": edited})]) as catalog:
        assert catalog["gone"].description == "Weather, gone in 2024."
        assert find_dead_tools(catalog.overlays) == {"gone"}
