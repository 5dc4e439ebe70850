"""Whom a result is about, where only what fed its call says so."""

from __future__ import annotations

from callwright.dataflow.lineage import collect_inherited
from callwright.grounding.answer.finish import finish
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Answer, Reply, ToolResult

PLACES = (
    ToolResult(
        "r1",
        "find_place",
        {"city": "Oslo"},
        {"latitude": 59.9167, "longitude": 10.75, "zone": "Europe/Oslo"},
    ),
    ToolResult(
        "r2",
        "find_place",
        {"city": "Lisbon"},
        {"latitude": 38.7134, "longitude": -9.1667, "zone": "Europe/Lisbon"},
    ),
)
SUN = ToolResult(
    "r3",
    "sun_times",
    {"latitude": 59.9167, "longitude": 10.75},
    {"sunrise": "03:55", "sunset": "22:43"},
)
SUN_TOO = ToolResult(
    "r4",
    "sun_times",
    {"latitude": 38.7134, "longitude": -9.1667},
    {"sunrise": "06:12", "sunset": "21:05"},
)


def test_a_result_inherits_what_its_arguments_were_looked_up_for() -> None:
    told = collect_inherited([*PLACES, SUN, SUN_TOO])
    assert told["r3"] == [{"city": "Oslo"}]
    assert told["r4"] == [{"city": "Lisbon"}]
    assert told["r1"] == []


def test_a_value_that_two_results_hold_tells_nothing() -> None:
    twin = ToolResult("r2", "find_place", {"city": "Bærum"}, PLACES[0].content)
    assert collect_inherited([PLACES[0], twin, SUN])["r3"] == []


def test_inheritance_goes_through_two_steps() -> None:
    person = ToolResult("r1", "find_person", {"name": "Ingrid Solberg"}, {"office": "OF-100"})
    office = ToolResult("r2", "get_office", {"office": "OF-100"}, {"zone": "Europe/Oslo"})
    clock = ToolResult("r3", "clock", {"zone": "Europe/Oslo"}, {"time": "12:30"})
    assert collect_inherited([person, office, clock])["r3"] == [
        {"office": "OF-100"},
        {"name": "Ingrid Solberg"},
    ]


def _answered(*statements: tuple[str, str]) -> Answer:
    results = [*PLACES, SUN, SUN_TOO]
    dialogue = finish(
        "Sunset in Oslo and in Lisbon?", results, (), mode="schema", repair_questions=0
    )
    request = next(dialogue)
    assert isinstance(request, ChatRequest)
    said = ", ".join(
        f'{{"text": "{text}", "results": ["{result}"]}}' for text, result in statements
    )
    try:
        dialogue.send(Reply(f'{{"statements": [{said}], "missing": []}}'))
    except StopIteration as done:
        value: Answer = done.value
        return value
    raise AssertionError("one question was to be enough")


def test_a_sunset_stated_of_the_other_city_is_caught() -> None:
    answer = _answered(
        ("The sun sets in Oslo at 22:43.", "r3"), ("The sun sets in Lisbon at 22:43.", "r3")
    )
    right, wrong = answer.statements
    assert right.support == "supported"
    assert wrong.support in ("unsupported", "mended")
    assert "Lisbon at 22:43." not in answer.text or wrong.support == "unsupported"


def test_both_right_sunsets_stand() -> None:
    answer = _answered(
        ("The sun sets in Oslo at 22:43.", "r3"), ("The sun sets in Lisbon at 21:05.", "r4")
    )
    assert [s.support for s in answer.statements] == ["supported", "supported"]
