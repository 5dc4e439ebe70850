"""What is left of a plan, in an order in which what failed comes after what feeds it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.plan import Plan
from callwright.nouns.types import READ_LOCAL, WRITE, Tool
from callwright.planning.relayer import find_feeders, relayer_plan

TEXT = {"type": "string"}


def names(plan: Plan) -> list[list[str]]:
    return [sorted(slot.tool for slot in layer) for layer in plan.layers]


def test_a_tool_moves_behind_what_feeds_it_and_takes_along_what_waited_for_it() -> None:
    made = Plan.from_edges(["a", "b", "c"], [("a", "b"), ("a", "c")])
    again = relayer_plan(made, ["a", "b", "c"], {"a": ["b"]}, {"a": "failed"})
    assert names(again) == [["b"], ["a"], ["c"]]
    assert {s.tool: s.reason for s in again.slots}["a"] == "failed"


def test_what_is_not_left_is_dropped_and_keeps_the_order_of_its_neighbours() -> None:
    made = Plan.from_layers([["a"], ["gone"], ["b"]])
    assert names(relayer_plan(made, ["a", "b", "new"], {}, {})) == [["a", "new"], ["b"]]


@given(st.data())
def test_every_tool_stands_once_and_after_what_it_waits_for(data: st.DataObject) -> None:
    tools = [f"t{i}" for i in range(data.draw(st.integers(1, 7)))]
    pairs = [(a, b) for i, a in enumerate(tools) for b in tools[i + 1 :]]
    made = Plan.from_edges(
        tools, data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    )
    failed = data.draw(st.sampled_from(tools))
    waits = {failed: data.draw(st.lists(st.sampled_from(tools), max_size=3))}
    again = relayer_plan(made, tools, waits, {})
    assert sorted(s.tool for s in again.slots) == tools
    depth = {slot.tool: k for k, layer in enumerate(again.layers) for slot in layer}
    assert all(depth[name] < depth[failed] for name in waits[failed] if name != failed)


@given(st.data())
def test_tools_that_wait_for_each_other_still_make_a_plan(data: st.DataObject) -> None:
    tools = [f"t{i}" for i in range(5)]
    waits = data.draw(
        st.dictionaries(st.sampled_from(tools), st.lists(st.sampled_from(tools), max_size=4))
    )
    again = relayer_plan(Plan.from_layers([tools[:2], tools[2:]]), tools, waits, {})
    assert again.problems(tools) == ()


def tool(name: str, effects: Any = READ_LOCAL, gives: str = "", **inputs: Any) -> Tool:
    schema = {"type": "object", "properties": inputs, "required": [*inputs]}
    output = {"type": "object", "properties": {gives: TEXT}} if gives else None
    return Tool(name, "", schema, output, effects)


def test_only_reading_tools_that_give_what_was_blamed_feed_a_call() -> None:
    people = tool("population", airport_code=TEXT, year=TEXT)
    find = tool("find_airport", gives="airport_code", city=TEXT)
    write = tool("make_airport", WRITE, gives="airport_code", city=TEXT)
    other = tool("weather", gives="sky", city=TEXT)
    tools = (people, find, write, other)
    assert find_feeders(people, (), tools) == ("find_airport",)
    assert find_feeders(people, ("airport_code",), tools) == ("find_airport",)
    assert find_feeders(people, ("year",), tools) == ()
