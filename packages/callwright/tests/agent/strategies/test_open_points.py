"""What is still open is told from calls, results and the plan, and only what can close it is offered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from callwright.agent.run_facts import RunFacts
from callwright.agent.safety.freeze import Freeze
from callwright.agent.state import Asked, RunState
from callwright.agent.step import StepContext
from callwright.agent.strategies.open_points import (
    find_open_points,
    list_waiting,
)
from callwright.nouns.errors import Failure
from callwright.nouns.plan import Plan
from callwright.nouns.types import READ, WRITE, Effects, Tool, ToolResult
from callwright.testing import FixedPlan

TEXT = {"type": "string"}
QUERY = "Sunset in Oslo and in Lisbon?"


def tool(name: str, *required: str, effects: Effects = READ) -> Tool:
    schema = {
        "type": "object",
        "properties": dict.fromkeys(required, TEXT),
        "required": [*required],
    }
    return Tool(name, input_schema=schema, effects=effects)


PLACE, SUN = tool("find_place", "city"), tool("sun_times", "latitude")


def came(id: str, of: Tool, content: Any = None, error: str = "", **arguments: Any) -> ToolResult:
    failure = Failure("tool_error", error) if error else None
    return ToolResult(id, of.name, arguments, content, failure)


def context(*results: ToolResult, tools: tuple[Tool, ...] = (PLACE, SUN), **more: Any) -> Any:
    freeze = more.pop("freeze", Freeze())
    facts = RunFacts(RunState(Asked(QUERY), tools), freeze=freeze)
    facts.take_results(results)
    made = StepContext(QUERY, tools, FixedPlan(), facts, "schema", **more)
    made.plan = Plan.from_layers([["find_place"], ["sun_times"]])
    freeze.fix(made.plan)
    return made


OSLO = came("r1", PLACE, {"latitude": "59.9"}, city="Oslo")
LISBON = came("r2", PLACE, {"latitude": "38.7"}, city="Lisbon")
SUNSET = came("r3", SUN, {"sunset": "22:43"}, latitude="59.9")


def test_nothing_is_open_where_every_record_was_taken_up() -> None:
    second = came("r4", SUN, {"sunset": "21:05"}, latitude="38.7")
    assert find_open_points(context(OSLO, LISBON, SUNSET, second)).slots == ()
    assert find_open_points(context()).slots == ()


def test_a_record_that_was_passed_over_opens_its_taker() -> None:
    found = find_open_points(context(OSLO, LISBON, SUNSET))
    assert [gap.note for gap in found.gaps] == ["sun_times was not called for Lisbon yet"]
    assert [slot.tool for slot in found.slots] == ["sun_times"]


def test_what_was_written_is_not_offered_again() -> None:
    writes = tool("sun_times", "latitude", effects=WRITE)
    assert find_open_points(context(OSLO, LISBON, SUNSET, tools=(PLACE, writes))).slots == ()


def test_a_failed_call_is_offered_with_what_its_error_names_and_was_not_heard() -> None:
    lost = came("r1", SUN, error="no latitude 'Oslo': use find_place", latitude="Oslo")
    found = find_open_points(context(lost))
    assert [slot.tool for slot in found.slots] == ["find_place", "sun_times"]
    assert find_open_points(context(lost), seen={"sun_times"}).slots == (), "told before"
    assert find_open_points(context(lost, OSLO)).slots == (), "nothing new could be told"


@pytest.mark.parametrize("level", ["", "plan"])
def test_a_frozen_plan_offers_none_but_its_own_tools(level: Any) -> None:
    beyond = tool("geocode", "place")
    lost = came("r1", SUN, error="no latitude 'Oslo': use geocode", latitude="Oslo")
    found = find_open_points(context(lost, tools=(PLACE, SUN, beyond), freeze=Freeze(level)))
    names = {slot.tool for slot in found.slots}
    assert ("geocode" in names) is (level == "")
    assert [slot.tool for slot in found.missed] == (["geocode"] if not level else [])


CLOCK, DELETE = tool("get_date"), tool("delete", "id", effects=WRITE)


@pytest.mark.parametrize(
    ("tools", "layers", "waiting"),
    [
        ((PLACE, SUN), [["find_place"], ["sun_times"]], ["find_place"]),  # the order may be wrong
        ((PLACE, DELETE), [["find_place"], ["delete"]], []),  # what waits for it gives it nothing
        ((PLACE, DELETE), [["delete"], ["find_place"]], ["delete"]),
        ((PLACE, DELETE, CLOCK), [["find_place"], ["delete"]], ["find_place"]),
    ],
)
def test_a_read_waits_only_where_another_tool_may_give_its_value(
    tools: tuple[Tool, ...], layers: list[list[str]], waiting: list[str]
) -> None:
    made = context(tools=tools)
    made.plan = Plan.from_layers(layers)
    first = made.plan.ready(())
    assert list_waiting(made, first, {slot.id for slot in first}) == waiting


@pytest.mark.parametrize(
    ("query", "reads"),
    [("Close O-1, then look again.", ["find_place"]), ("Close O-1, then look.", [])],
)
def test_what_was_read_before_a_write_is_open_where_it_is_asked_for_again(
    query: str, reads: list[str]
) -> None:
    read, wrote = came("r1", PLACE, {"latitude": "1"}, city="Oslo"), came("r2", DELETE, {})
    made = context(read, wrote, tools=(PLACE, DELETE))
    made.query = query
    assert [slot.tool for slot in find_open_points(made).slots] == reads
    later = context(read, wrote, replace(read, id="r3"), tools=(PLACE, DELETE))
    later.query = query
    assert find_open_points(later).slots == ()
