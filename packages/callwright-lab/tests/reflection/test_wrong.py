"""What an action that is unlike the verified one is: pure rules over what came back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from callwright.nouns.errors import Failure
from callwright.nouns.types import CheckedCall, ToolCall, ToolResult
from callwright.repair.gate import Gate
from callwright_lab.reflection.learner import Point
from callwright_lab.reflection.wrong import (
    Wrong,
    check_call,
    classify_failure,
    classify_planning_error,
    find_needed_values,
    is_empty_outcome,
    is_same_action,
    judge_results,
)

RIGHT = {"iata": "OSL", "day": "2024-12-25"}


def gate(world: Any) -> Gate:
    return Gate([tool.tool for tool in world.tools])


def came(content: Any, failure: Failure | None = None, tool: str = "forecast") -> ToolResult:
    return ToolResult("w1", tool, {}, content, failure)


def test_what_is_repaired_without_loss_is_no_error_and_a_renamed_key_is_one(world: Any) -> None:
    text = ToolCall("w1", "find_airport", '{"city": "Oslo"}')
    assert isinstance(check_call(gate(world), text), CheckedCall)
    near = check_call(gate(world), ToolCall("w1", "find_airport", {"City": "Oslo"}))
    assert isinstance(near, Wrong)
    assert (near.error, near.refused) == ("wrong argument name", True)
    assert "City" in near.feedback


def test_the_same_call_is_told_in_whatever_order_and_form(world: Any) -> None:
    one = ToolCall("a", "forecast", RIGHT)
    other = ToolCall("b", "forecast", '{"day": "2024-12-25", "iata": "OSL"}')
    assert is_same_action([one], [other], gate(world))
    assert not is_same_action([one], [other, other], gate(world))
    assert not is_same_action(
        [one], [ToolCall("b", "forecast", {**RIGHT, "iata": "FCO"})], gate(world)
    )
    assert not is_same_action(
        [one], [ToolCall("b", "forecast", {**RIGHT, "color": 1})], gate(world)
    )


def test_a_failure_is_the_actions_only_where_its_arguments_may_be_to_blame(world: Any) -> None:
    tools = gate(world).tools
    assert classify_failure([came({"sky": "sun"})], tools) == ""
    assert classify_failure([came([])], tools) == "", "nothing found is another question"
    blamed = classify_failure(
        [came(None, Failure("tool_error", "no such station", status=404))], tools
    )
    assert blamed == Wrong("calling", "execution failure", "no such station")
    told = classify_failure([came({"success": False, "error": "no such station"})], tools)
    assert isinstance(told, Wrong), "status 200 with an error inside"
    for kind in ("auth", "rate_limit", "unavailable", "timeout"):
        assert "another reason" in str(classify_failure([came(None, Failure(kind, "no"))], tools))  # type: ignore[arg-type]
    assert str(classify_failure([came(None, Failure("not_executable", "no"))], tools)).startswith(
        "not carried out"
    )
    assert is_empty_outcome([came([])], tools)
    assert not is_empty_outcome([came([]), came(1)], tools)
    assert not is_empty_outcome([], tools)


def test_what_is_taken_is_what_later_rounds_use_and_nothing_else_had_said(world: Any) -> None:
    t = world.trajectory
    assert find_needed_values(Point(t, 0)) == ("OSL",)
    assert set(find_needed_values(Point(t, 1))) == {"snow", -14}
    asked = replace(t, query=t.query + " Is it OSL?")
    assert find_needed_values(Point(asked, 0)) == (), "the request had said it"
    assert find_needed_values(Point(replace(t, answer="Cold."), 1)) == ()
    text = replace(
        t,
        answer="Ground staff in Gardermoen count 7 planes and 14 buses.",
        steps=(
            t.steps[0],
            replace(
                t.steps[1], results=(came("In Gardermoen " + "there is much to see, " * 5 + "14"),)
            ),
        ),
    )
    assert set(find_needed_values(Point(text, 1))) == {"Gardermoen", "14"}


def test_a_result_serves_where_it_is_equal_or_holds_what_is_taken(world: Any) -> None:
    point = Point(world.trajectory, 1)
    needed = find_needed_values(point)
    assert judge_results([came({"sky": "snow", "high": -14})], point, needed) == "equal"
    assert judge_results([came({"text": "snow at -14"})], point, needed) == "serves"
    assert judge_results([came({"sky": "sun", "high": -14})], point, needed) == "lacks"
    assert judge_results([came({"sky": "sun"})], point, ()) == "untold"
    assert judge_results([came(None, Failure("tool_error", "snow -14"))], point, needed) == "lacks"


def test_a_planning_error_is_another_tool_nothing_found_or_other_values(world: Any) -> None:
    point = Point(world.trajectory, 1)
    mine = (ToolCall("w1", "forecast", {}),)
    assert (
        classify_planning_error((ToolCall("w1", "news", {}),), point, False).error == "another tool"
    )
    assert classify_planning_error(mine, point, True).error == "nothing found"
    assert classify_planning_error(mine, point, False).error == "other argument values"
