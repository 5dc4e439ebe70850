"""A call under another tool's name is known by its arguments; only a tool that reads gets it."""

from __future__ import annotations

from dataclasses import replace

from callwright.nouns.types import READ, Tool, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.rules.argument_matching import (
    find_better_asked_tool,
    find_intended_tool,
    find_passed_over_tool,
)
from tests.repair.ruled_calls import apply_rules


def tool(name: str, about: str, *keys: str) -> Tool:
    parts = {k: {"type": "string"} for k in keys}
    return Tool(name, about, {"type": "object", "properties": parts, "required": list(keys)})


ALARM = tool("set_alarm", "Set an alarm.", "alarm_time", "label")
TIMER = tool("set_countdown", "Start a countdown.", "duration")
ARGUMENTS = {"alarm_time": "07:00", "label": "work"}
ASKED = "Set an alarm at 07:00 called work"


def test_arguments_that_one_other_tool_takes_are_that_tools() -> None:
    assert find_intended_tool(ARGUMENTS, TIMER, RepairContext([ALARM, TIMER], ASKED)) is ALARM


def test_arguments_that_the_named_tool_or_two_others_take_tell_nothing() -> None:
    assert (
        find_intended_tool({"duration": "5"}, TIMER, RepairContext([ALARM, TIMER], ASKED)) is None
    )
    twin = replace(ALARM, name="create_alarm")
    assert find_intended_tool(ARGUMENTS, TIMER, RepairContext([ALARM, TIMER, twin], ASKED)) is None


def test_a_call_is_not_given_to_a_tool_that_may_write_nor_rewritten_to_fit_its_own() -> None:
    call = ToolCall("1", "set_countdown", ARGUMENTS)
    found = apply_rules([call], RepairContext([ALARM, TIMER], ASKED))
    assert found.calls == [call]
    assert found.edits == []
    assert found.abstained[0].candidate == "set_alarm"
    assert found.violations


def test_a_call_is_given_to_a_tool_that_only_reads() -> None:
    tools = [replace(t, effects=READ) for t in (ALARM, TIMER)]
    found = apply_rules([ToolCall("1", "set_countdown", ARGUMENTS)], RepairContext(tools, ASKED))
    assert found.calls == [ToolCall("1", "set_alarm", ARGUMENTS)]
    assert [(e.path, e.rule) for e in found.edits] == [("/0/name", "tool_by_arguments")]


def test_a_tool_the_request_speaks_much_more_of_is_named() -> None:
    train, plane = (
        tool("book_train", "Book a train.", "city"),
        tool("book_plane", "Book a plane.", "city"),
    )
    situation = RepairContext([train, plane], "Book me a train to Rome")
    assert find_better_asked_tool({"city": "Rome"}, plane, situation) is train
    assert find_better_asked_tool({"city": "Rome"}, train, situation) is None


SCORES = [
    tool(f"{sport}_scores", f"Scores of a {sport} team.", "team")
    for sport in ("basketball", "soccer")
]
BOTH = "The soccer scores of United and the basketball scores of the Lakers"


def test_a_tool_the_request_names_and_nobody_calls_is_reported_where_another_is_called_twice() -> (
    None
):
    calls = [
        ToolCall("1", "soccer_scores", {"team": "United"}),
        ToolCall("2", "soccer_scores", {"team": "Lakers"}),
    ]
    assert find_passed_over_tool(calls[1], calls, RepairContext(SCORES, BOTH)) is SCORES[0]
    found = apply_rules(calls, RepairContext(SCORES, BOTH))
    assert found.calls == calls
    assert {a.candidate for a in found.abstained} == {"basketball_scores"}


def test_a_tool_is_passed_over_only_where_the_request_tells_it_from_the_one_that_is_called() -> (
    None
):
    call = ToolCall("1", "soccer_scores", {"team": "Lakers"})
    assert (
        find_passed_over_tool(
            call, [call], RepairContext(SCORES, "basketball: what did the Lakers score?")
        )
        is SCORES[0]
    )
    assert (
        find_passed_over_tool(call, [call], RepairContext(SCORES, "What did the Lakers score?"))
        is None
    )
    assert find_passed_over_tool(call, [call], RepairContext(SCORES, BOTH)) is None
    both = [call, ToolCall("2", "basketball_scores", {"team": "Lakers"})]
    assert find_passed_over_tool(call, both, RepairContext(SCORES, "basketball scores")) is None
    assert (
        find_passed_over_tool(call, [call], RepairContext(SCORES[1:], "basketball scores")) is None
    )
    assert (
        find_passed_over_tool(
            ToolCall("1", "soccer_scores", "{"), [call], RepairContext(SCORES, "basketball")
        )
        is None
    )
