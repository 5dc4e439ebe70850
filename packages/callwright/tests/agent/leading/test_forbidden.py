"""Writes to what a request names only where it forbids something."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.agent.leading.forbidden import find_forbidden
from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import StepContext
from callwright.nouns.types import READ, WRITE, Tool, ToolCall, ToolResult
from callwright.testing import FixedPlan

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
