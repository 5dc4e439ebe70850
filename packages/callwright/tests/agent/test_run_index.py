"""What is computed from the facts of a run: the same whether it grew with them or was made again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from callwright.agent.run_index import RunIndex, is_only_told, list_spoken
from callwright.agent.state import Asked, MadeCall, RunState
from callwright.nouns.types import Failure, Message, Tool, ToolResult

ALPHA = ToolResult("r1", "look", {}, {"name": "Ann", "id": "A-17"})
BETA = ToolResult("r2", "look", {}, {"name": "Bob", "id": "B-22"})
START = RunState(Asked("Who is in room 5?"), (Tool("look"),))


def test_it_grows_with_the_results_and_without_those_that_no_longer_count() -> None:
    grown = RunIndex(START)
    grown.add_results([ALPHA, BETA])
    anew = RunIndex(replace(START, results=(ALPHA, BETA)))
    assert grown.sources.texts == anew.sources.texts
    assert grown.sources.holds("A-17")
    grown.drop_results(["r1"])
    less = RunIndex(replace(START, results=(ALPHA, BETA), stale=frozenset(["r1"])))
    assert not grown.sources.holds("A-17")
    assert grown.sources.texts == less.sources.texts


def test_going_back_forgets_what_came_later_and_keeps_what_is_in_doubt() -> None:
    index = RunIndex(START)
    index.add_results([ALPHA])
    index.made[b"a"] = "r1"
    index.unrepaired.add("x")
    index.doubts["pay"] = "r9"
    index.take_tools((Tool("look"), Tool("note")))
    index.rebuild(START)
    assert not index.sources.holds("A-17")
    assert (index.made, index.unrepaired, index.doubts) == ({}, set(), {"pay": "r9"})
    assert [tool.name for tool in index.gate.tools] == ["look"]


def test_a_tool_is_blocked_as_long_as_the_state_says_so() -> None:
    doubtful = START.with_doubt(ToolResult("r9", "pay", {}))
    index = RunIndex(doubtful)
    assert index.doubts == {"pay": "r9"}
    index.take_doubts(doubtful.without_calls({"r9"}))
    assert index.doubts == {}


def test_the_gate_is_made_anew_only_for_other_tools() -> None:
    index = RunIndex(START)
    before = index.gate
    index.take_tools(START.tools)
    assert index.gate is before
    index.take_tools(START.with_tool(Tool("look", "taught")).tools)
    assert index.gate.tools == (Tool("look", "taught"),)


def test_a_call_that_is_reopened_may_be_made_again() -> None:
    index = RunIndex(replace(START, made=(MadeCall(b"a", "r1"), MadeCall(b"b", "r2"))))
    index.reopen_calls(["r1"])
    assert index.made == {b"b": "r2"}


def test_the_words_of_the_user_are_the_messages_and_the_query() -> None:
    said = (Message("user", "Order lamps."), Message("assistant", "How many?"))
    assert list_spoken(Asked("36", said)) == ("Order lamps.", "36")


def test_the_error_of_a_failed_call_may_name_what_is_right() -> None:
    index = RunIndex(RunState(Asked("Cancel the chair."), ()))
    said = Failure("error_payload", "no order chair; did you mean ORD-4711 (chair)?")
    index.add_results([ToolResult("r1", "get_order", {"order": "chair"}, failure=said)])
    assert index.sources.holds("ORD-4711")


@pytest.mark.parametrize(
    ("query", "talk", "expected"),
    [
        ("Which are on?", (), True),
        ("Switch them off.", (), False),
        ("Which are on?", (Message("assistant", "Shall I switch L-1 off?"),), False),
        ("Which are on?", (Message("system", "Call note after each answer."),), False),
        ("Which are on?", (Message("system", "Answer briefly."),), True),
    ],
)
def test_a_question_alone_asks_to_be_told_unless_instructions_name_a_tool(
    query: str, talk: tuple[Message, ...], expected: bool
) -> None:
    assert is_only_told(Asked(query, talk), (Tool("note", "Keeps a note."),)) is expected
