"""Writes to what a request names only where it forbids something."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.agent.leading.forbidden import find_forbidden, find_left
from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import StepContext
from callwright.nouns.types import READ, WRITE, Tool, ToolCall, ToolResult
from callwright.testing import FixedPlan
from tests.agent.leading.rounds import calls, lead_with, left, play

TOOLS = (Tool("list_bills", "Bills.", effects=READ), Tool("pay", "Pays.", effects=WRITE))
BILLS = [
    {"id": "I-1", "name": "Electricity", "status": "open"},
    {"id": "I-2", "name": "Water", "status": "open"},
    {"id": "I-3", "name": "电费", "status": "open"},
    {"id": "I-4", "name": "水费", "status": "open"},
    {"id": "I-5", "name": "Versicherung", "status": "open"},
    {"id": "I-6", "name": "المطبخ", "status": "open"},
    {"id": "I-7", "name": "الممر", "status": "open"},
    {"id": 8, "name": "Phone", "status": "open", "late": True},
]


def find(query: str, **arguments: Any) -> str:
    result = ToolResult("r1", "list_bills", {}, BILLS)
    facts = RunFacts(RunState(Asked(query), TOOLS, results=[result]))
    made = StepContext(query=query, tools=TOOLS, planner=FixedPlan([]), facts=facts, mode="schema")
    return find_forbidden(ToolCall("c", "pay", arguments), made)


@pytest.mark.parametrize(
    ("query", "wrong", "right"),
    [
        ("Pay the water bill, but not the electricity bill.", "I-1", "I-2"),
        ("Pay all bills except the one for water.", "I-2", "I-1"),
        ("Bezahl den Strom, aber die Versicherung noch nicht.", "I-5", "I-1"),
        ("只付水费，电费先不要付。", "I-3", "I-4"),
        ("لا تطفئ مصباح المطبخ، أطفئ مصباح الممر فقط.", "I-6", "I-7"),
    ],
)
def test_a_record_that_is_named_only_where_something_is_forbidden_is_found(
    query: str, wrong: str, right: str
) -> None:
    assert find(query, id=wrong)
    assert not find(query, id=right)


def test_a_record_may_have_a_number_as_its_identifier() -> None:
    query = "Pay the water bill, but not the phone bill."
    assert find(query, id=8)
    assert not find(query, id="I-2")
    assert not find(query, id=9)
    assert not find(query, id=True), "a yes is no identifier"


def test_what_a_call_says_itself_is_found() -> None:
    assert find("Put butter on the list, but not milk.", item="milk") == "but not milk"
    assert not find("Put butter on the list, but not milk.", item="butter")


@pytest.mark.parametrize(
    "query",
    ["Pay the water bill. Not late, please.", "Pay water now, not electricity before water."],
)
def test_what_another_clause_names_is_not_forbidden(query: str) -> None:
    assert not find(query, id="I-2")


SWITCH = Tool(
    "switch_lamp",
    "Switches a lamp.",
    {"properties": {"lamp_id": {"type": "string"}, "on": {"type": "boolean"}}},
    effects=WRITE,
)
LIST = Tool("list_lamps", "Lists lamps.", effects=READ)


def list_lamps(*names: str, off: str = "") -> ToolResult:
    lamps = [{"lamp_id": f"L-{n}", "name": one, "on": one != off} for n, one in enumerate(names, 1)]
    return ToolResult("r1", "list_lamps", {}, lamps)


def find_left_ids(query: str, *results: ToolResult) -> list[Any]:
    tools = (LIST, SWITCH)
    facts = RunFacts(RunState(Asked(query), tools, results=results))
    left = find_left(StepContext(query, tools, FixedPlan([]), facts, "schema"))
    return [one["lamp_id"] for one in left.records] if left is not None else []


def switched(lamp: str, **content: Any) -> ToolResult:
    return ToolResult(f"w{lamp}", "switch_lamp", {"lamp_id": lamp, "on": False}, content or None)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Switch off all lamps except the one in the kitchen.", ("Kitchen", "Hall", "Study")),
        ("Switch off everything but the kitchen lamp.", ("Kitchen lamp", "Hall lamp", "Desk lamp")),
        ("Schalte alle Lampen aus, außer der in der Küche.", ("Küche", "Flur", "Bad")),
        ("Apaga todas las lámparas menos la de la cocina.", ("Cocina", "Pasillo", "Baño")),
        ("除了厨房的灯，把所有的灯都关掉。", ("厨房", "走廊", "客厅")),
        ("أطفئ جميع المصابيح باستثناء مصباح المطبخ.", ("المطبخ", "الممر", "الحمام")),
    ],
)
def test_all_but_one_of_a_list_are_left_once_one_was_served(
    query: str, names: tuple[str, ...]
) -> None:
    lamps = list_lamps(*names)
    assert find_left_ids(query, lamps) == [], "nothing was written yet"
    assert find_left_ids(query, lamps, switched("L-2")) == ["L-3"]
    assert find_left_ids(query, lamps, switched("L-2"), switched("L-3")) == []


def test_what_is_already_as_the_write_makes_it_is_not_left() -> None:
    query = "Switch off all lamps except the one in the kitchen."
    lamps = list_lamps("Kitchen", "Hall", "Study", "Bath", off="Study")
    assert find_left_ids(query, lamps, switched("L-2")) == ["L-4"]
    assert find_left_ids(query, lamps, switched("L-3")) == ["L-2", "L-4"], "it was off before"


@pytest.mark.parametrize(
    "query",
    [
        "Switch off the hall, but not the kitchen.",  # one is named, and it was served
        "Switch off all lamps.",  # nothing is left out
        "Switch off all lamps except the one on the roof.",  # none of the list
        "Switch one off, but not the kitchen and not the hall and not the study.",
    ],
)
def test_without_all_but_some_of_the_list_nothing_is_left(query: str) -> None:
    assert find_left_ids(query, list_lamps("Kitchen", "Hall", "Study"), switched("L-2")) == []


def test_bills_that_a_payment_changed_are_told_from_those_that_were_paid() -> None:
    pay = Tool("pay", "Pays.", effects=WRITE)
    bills = [
        {"id": f"I-{n}", "name": name, "status": status}
        for n, (name, status) in enumerate(
            [("Water", "open"), ("Phone", "open"), ("Dentist", "paid"), ("Insurance", "open")]
        )
    ]
    query = "Pay all open bills except the one for the insurance."
    results = (
        ToolResult("r1", "list_bills", {}, bills),
        ToolResult("w1", "pay", {"id": "I-0"}, {**bills[0], "status": "paid"}),
    )
    facts = RunFacts(RunState(Asked(query), (*TOOLS[:1], pay), results=results))
    left = find_left(StepContext(query, (*TOOLS[:1], pay), FixedPlan([]), facts, "schema"))
    assert left is not None
    assert [one["id"] for one in left.records] == ["I-1"]
    assert left.holds(ToolCall("", "pay", {"id": "I-1"}))
    assert not left.holds(ToolCall("", "pay", {"id": "I-2"}))
    assert not left.holds(ToolCall("", "list_bills", {"id": "I-1"}))


def test_records_of_another_kind_are_not_left() -> None:
    """The request is for Friday: what is on another day is not meant."""
    cancel = Tool("cancel", "Cancels.", effects=WRITE)
    days = [("Dentist", "13"), ("Review", "13"), ("Lunch", "13"), ("Plan", "16"), ("Golf", "17")]
    rows = [
        {"id": f"E-{n}", "title": title, "date": f"2026-03-{day}"}
        for n, (title, day) in enumerate(days)
    ]
    results = (
        ToolResult("r1", "list_events", {}, rows),
        ToolResult("w1", "cancel", {"id": "E-1"}, {"cancelled": "E-1"}),
    )
    query = "Cancel everything on Friday except the dentist."
    facts = RunFacts(RunState(Asked(query), (cancel,), results=results))
    found = find_left(StepContext(query, (cancel,), FixedPlan([]), facts, "schema"))
    assert found is not None
    assert [one["id"] for one in found.records] == ["E-2"]


def test_the_model_is_asked_for_the_calls_for_what_is_left() -> None:
    tools = (LIST, SWITCH)
    query = "Switch off all lamps except the one in the kitchen."
    results = (list_lamps("Kitchen", "Hall", "Study", "Bath"), switched("L-2"))
    made = lead_with(tools, query, *results)
    lamps = [("switch_lamp", {"lamp_id": f"L-{n}", "on": False}) for n in (1, 3, 4)]
    _, sent, asked = play(made, [calls(*lamps)], left("switch_lamp", "switch_lamp"))
    assert sent == [
        'switch_lamp{"lamp_id": "L-3", "on": false} switch_lamp{"lamp_id": "L-4", "on": false}'
    ]
    assert "Study" in asked[-1]
    assert "Kitchen" not in asked[-1].partition("Nothing serves this part yet")[2]
