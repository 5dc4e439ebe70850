"""Trajectories and records made for the tests of this room."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Tool, ToolCall, ToolResult

WEATHER = Tool(
    "weather",
    "The weather of a city.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "day": {"type": "string"}},
        "required": ["city"],
    },
)
ROUTE = Tool("route", "", {"type": "object", "properties": {"stops": {"type": "array"}}})
TOOLS = (WEATHER, ROUTE)
NAMES = ("weather", "route", "unheard_of")

letters = st.characters(codec="utf-8", exclude_characters="<>", exclude_categories=("Cs", "Cc"))
texts = st.text(letters, max_size=20)
said = texts.map(str.strip)
leaves = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6) | texts
values: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def steps(draw: st.DrawFn, most: int = 2) -> Step:
    calls = tuple(
        ToolCall(
            f"c{i}",
            draw(st.sampled_from(NAMES)),
            draw(st.dictionaries(texts, values, max_size=3)),
        )
        for i in range(draw(st.integers(1, most)))
    )
    done = draw(st.booleans())
    results = (
        tuple(ToolResult(c.id, c.tool, c.arguments, draw(values)) for c in calls) if done else ()
    )  # type: ignore[arg-type]
    return Step(draw(said), calls, results)


@st.composite
def trajectories(draw: st.DrawFn, most: int = 2) -> Trajectory:
    answer = draw(st.none() | said.filter(bool))
    given_up = draw(st.booleans())
    found = tuple(draw(st.lists(steps(most), max_size=4)))
    return Trajectory("t-1", draw(said.filter(bool)), TOOLS, found, answer, given_up)


STOPS = ToolCall("call_3", "route", {"stops": ["Rome", "Bari"]})
EXAMPLE = Trajectory(
    "t-1",
    "What is the weather in Rome, and the way from there to Bari?",
    TOOLS,
    (
        Step("First the weather.", (ToolCall("call_1", "weather", {"city": "Rome"}),),
             (ToolResult("call_1", "weather", {"city": "Rome"}, {"error": "no such day", "response": ""}),)),
        Step("", (ToolCall("call_2", "weather", {"city": "Rome", "day": "today"}), STOPS),
             (ToolResult("call_2", "weather", {}, "sunny"), ToolResult("call_3", "route", {}, [1, 2.5]))),
    ),
    "Sunny; 2.5 hours.",
)  # fmt: skip
