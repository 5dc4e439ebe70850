"""Right and spoiled replies, what is proposed for them, and the split by tool."""

from __future__ import annotations

from dataclasses import replace

from callwright.nouns.types import READ, Message, Tool, ToolCall
from callwright_lab.benchmarks.harm.gold import GoldCase
from callwright_lab.benchmarks.harm_bound.calibration import Outcome
from callwright_lab.benchmarks.harm_bound.proposals import (
    is_sound,
    iter_made,
    judge_proposal,
    keep_once,
    leave_out_tools,
    list_tools,
    propose_spoiled,
    see_right,
    see_spoiled,
    split_cases,
    write_reply,
)


def make_case(number: int, tool: str = "") -> GoldCase:
    """One call of a tool with two values, both in the request."""
    name = tool or f"tool_{number}"
    text = {"type": "string"}
    schema = {"type": "object", "properties": {"city": text, "day": text}, "required": ["city"]}
    call = ToolCall("call_1", name, {"city": f"Town{number}", "day": "Monday"})
    query = f"What is on in Town{number} on Monday?"
    other = Tool("other", "", {"type": "object", "properties": {"city": text}}, effects=READ)
    return GoldCase(
        f"case-{number}", "made", query, (Tool(name, "", schema, effects=READ), other), (call,)
    )


CASE = make_case(1)


def test_a_right_reply_that_is_changed_is_a_harm_and_the_way_back_a_help() -> None:
    seen = see_right(CASE)
    other = ToolCall("call_1", "tool_1", {"city": "Monday", "day": "Town1"})
    harmed = judge_proposal(seen, write_reply([other]))
    assert (harmed.is_harm, harmed.is_help) == (True, False)
    assert harmed.features is not None
    assert harmed.features["lost"] == harmed.features["sound"] == 1
    assert judge_proposal(seen, write_reply(seen.gold)) == Outcome(True, True)
    spoiled = see_spoiled(CASE)
    assert spoiled is not None
    helped = judge_proposal(spoiled, write_reply(spoiled.gold))
    assert (helped.is_harm, helped.was_right) == (False, False)


def test_what_a_limit_holds_back_is_neither() -> None:
    strange = ToolCall("call_1", "tool_9", {})
    assert judge_proposal(see_right(CASE), write_reply([strange])) == Outcome(True, True)


def test_another_order_harms_only_where_one_call_uses_another() -> None:
    calls = (CASE.calls[0], ToolCall("call_2", "other", {"city": "Town1"}))
    seen = see_right(GoldCase("c", "made", CASE.query, CASE.tools, calls))
    assert judge_proposal(seen, write_reply(calls[::-1])).is_right
    linked = (CASE.calls[0], ToolCall("call_2", "other", {"city": "$call_1.city$"}))
    seen = see_right(GoldCase("c", "made", CASE.query, CASE.tools, linked))
    assert judge_proposal(seen, write_reply(linked)).is_right


def test_what_says_nothing_and_what_the_gate_converts_is_no_harm() -> None:
    schema = {
        "type": "object",
        "properties": {
            "age": {"type": "integer"},
            "full": {"type": "boolean", "default": False},
            "day": {"type": ["string", "null"]},
        },
        "required": ["age"],
    }
    tool = Tool("look", "", schema, effects=READ)
    gold = ToolCall("call_1", "look", {"age": "49", "full": False, "day": None})
    seen = see_right(GoldCase("c", "made", "Look at 49.", (tool,), (gold,)))
    for given, is_right in (
        ({"age": 49}, True), ({"age": 49, "full": False}, True), ({"age": 49, "full": True}, False),
        ({"age": 50}, False), ({"age": 49, "day": "Monday"}, False),
    ):  # fmt: skip
        made = judge_proposal(seen, write_reply([ToolCall("call_1", "look", given)]))
        assert made.is_right is is_right or made.features is None, given


def test_a_reply_that_the_gate_refuses_is_not_a_right_one() -> None:
    assert is_sound(CASE)
    linked = (CASE.calls[0], ToolCall("call_2", "other", {"city": "$call_1.city$"}))
    assert is_sound(replace(CASE, calls=linked))
    for given in ({}, {"city": {"name": "Town1"}}):
        assert not is_sound(replace(CASE, calls=(ToolCall("call_1", "tool_1", given),)))
    for text, is_right in (('[{"name": "Ann"', False), ('[{"name": "Ann"}]', True), ("[a-z", True)):
        call = ToolCall("call_1", "tool_1", {"city": text})
        assert is_sound(replace(CASE, calls=(call,))) is is_right


def test_the_conversation_before_the_request_is_seen() -> None:
    case = GoldCase(
        "c", "made", "And on Monday?", CASE.tools, CASE.calls, (Message("user", "Town1"),)
    )
    assert see_right(case).upstream.query == "USER: Town1\nAnd on Monday?"


def test_proposals_without_a_model_are_the_same_every_time() -> None:
    cases = [make_case(n) for n in range(40)]
    made = list(iter_made(cases))
    assert made == list(iter_made(cases))
    assert any(one.is_help for one in made)
    assert any(one.was_right for one in made)
    answers = [propose_spoiled(see_right(case), 0.3) for case in cases]
    changed = sum(
        answer != write_reply(case.calls) for answer, case in zip(answers, cases, strict=True)
    )
    assert 0 < changed < len(cases)
    assert propose_spoiled(see_right(CASE), 0.0) == write_reply(CASE.calls)


def test_no_tool_and_no_request_is_on_both_sides() -> None:
    cases = [make_case(n, f"tool_{n % 30}") for n in range(120)]
    fit, right = split_cases([*cases, *cases])
    assert fit
    assert right
    assert list_tools(fit).isdisjoint(list_tools(right))
    assert len({case.query for case in (*fit, *right)}) == len(fit) + len(right) <= 120


def test_cases_are_kept_once_and_without_tools() -> None:
    assert keep_once([CASE, CASE, make_case(2)]) == [CASE, make_case(2)]
    assert leave_out_tools([CASE, make_case(2)], {"tool_2"}) == [CASE]
