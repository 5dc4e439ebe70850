"""Gold calls become the plan that makes them: said, referred to, or left open."""

from __future__ import annotations

from callwright.nouns.plan import OPEN
from callwright.nouns.types import Json, JsonObject, ToolCall
from callwright_lab.benchmarks.makespan.gold_plan import Made, gold_plan

QUERY = "When does the sun set in Oslo on 2026-05-01, and write it to evening.md?"


def made(tool: str, arguments: JsonObject, content: Json) -> Made:
    return Made(ToolCall("", tool, arguments), content)


FOUND = made(
    "find_place",
    {"city": "Oslo"},
    {"places": [{"name": "Oslo", "latitude": 59.91, "longitude": 10.75}]},
)
SUN = made(
    "sun_times", {"latitude": 59.91, "longitude": 10.75, "date": "2026-05-01"}, {"sunset": "21:18"}
)
NOTE = made("write_note", {"name": "evening.md", "text": "Sunset: 21:18"}, {"written": True})


def test_what_the_request_says_is_said_and_what_a_result_holds_is_referred_to() -> None:
    plan = gold_plan(QUERY, [FOUND, SUN])
    assert plan.slots[0].arguments == {"city": "Oslo"}
    assert plan.slots[1].arguments == {
        "latitude": "${1.places[0].latitude}",
        "longitude": "${1.places[0].longitude}",
        "date": "2026-05-01",
    }
    assert plan.slots[1].after == {"1"}
    assert not plan.problems(["find_place", "sun_times"])


def test_a_value_that_only_stands_in_a_text_is_left_open_and_waits_for_it() -> None:
    plan = gold_plan(QUERY, [FOUND, SUN, NOTE])
    assert plan.slots[2].arguments == {"name": "evening.md", "text": OPEN}
    assert plan.slots[2].after == {"2"}


def test_what_writes_keeps_its_place() -> None:
    plan = gold_plan(QUERY, [NOTE, FOUND, SUN], writes=["write_note"])
    assert [slot.after for slot in plan.slots] == [frozenset(), {"1"}, {"1", "2"}]
