"""Questions about an answer's calls: what is asked, and what of the reply is taken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.nouns.types import Reply, ToolCall
from callwright.proxy.session.decision.decision import Found
from tests.proxy.session.decision.test_decide import RIGHT, context, settled, weak

NOTHING_SAID = "the model gave no answer"


def test_nothing_is_asked_beyond_the_budget() -> None:
    _, asked = settled([], context(0, tool_choice="required"))
    assert asked == 0
    _, asked = settled([], context(1, tool_choice="required"), Reply("no"))
    assert asked == 1


def test_a_second_answer_is_taken_only_if_the_gate_lets_it_through() -> None:
    bad = Reply("", (ToolCall("a", "send_mail", {"to": "x"}),))
    made, _ = settled([], context(tool_choice="required"), bad)
    assert made.calls == []
    good = Reply("", (RIGHT,))
    made, _ = settled([], context(tool_choice="required"), good)
    assert [c.call.tool for c in made.calls] == ["get_weather"]


ORDER: dict[str, Any] = {
    "name": "create_order",
    "description": "Orders pieces of a part.",
    "parameters": {
        "type": "object",
        "properties": {"part": {"type": "string"}, "quantity": {"type": "integer"}},
        "required": ["part", "quantity"],
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": False},
}


def order(quantity: int) -> ToolCall:
    return ToolCall("", "create_order", {"part": "D-415", "quantity": quantity})


def test_a_write_with_an_argument_that_its_tool_lacks_is_asked_about() -> None:
    tools = [{"type": "function", "function": ORDER}]
    arguments = {"part": "D-415", "quantity": 4, "dry_run": True}
    rehearsal = Found(ToolCall("c1", "create_order", arguments), 0)
    messages = [{"role": "user", "content": "Please order 4 of D-415."}]
    given = context(1, tools=tools, messages=messages)
    meant = json.dumps({"tool_calls": [{"name": "create_order", "arguments": order(4).arguments}]})
    made, asked = settled([rehearsal], given, Reply(meant))
    assert (asked, [c.call.arguments for c in made.calls]) == (1, [order(4).arguments])
    given = context(0, tools=tools, messages=messages)
    made, _ = settled([rehearsal], given)
    assert [c.call.arguments for c in made.calls] == [arguments], "the client's own check says so"
    assert [v.message for v in made.violations] == [
        "Unknown key 'dry_run'. Known keys: 'part', 'quantity'."
    ]


def test_a_number_in_words_is_asked_about_by_schema() -> None:
    tools = [{"type": "function", "function": ORDER}]
    given = weak("Please order four dozen of D-415 for us.", tools=tools)
    again = Reply(
        json.dumps({"calls": [{"name": "create_order", "arguments": order(48).arguments}]})
    )
    nothing = Reply('{"no_call": "all is there"}')  # to the second reading
    made, asked = settled([Found(order(16), dialect="fenced")], given, nothing, again)
    assert asked == 2
    assert [c.call.arguments for c in made.calls] == [{"part": "D-415", "quantity": 48}]


def test_in_the_place_of_a_write_that_is_kept_back_stands_a_question() -> None:
    tools = [{"type": "function", "function": ORDER}]
    given = weak("Please order some more of D-415 for us.", tools=tools)
    question = Reply('{"question": "Which quantity do you need?"}')
    made, asked = settled([Found(order(16), dialect="fenced")], given, question)
    assert asked == 1
    assert (made.calls, made.text) == ([], ["Which quantity do you need?"])


def test_a_repaired_call_is_noted_as_it_was_written_and_one_that_stays_refused_is_not() -> None:
    bad = Found(ToolCall("c1", "send_mail", {"to": "bob"}), 0)
    repaired = Reply(
        '{"tool_calls":[{"name":"send_mail","arguments":{"to":"bob","text":"Rain?"}}]}'
    )
    made, _ = settled([bad, Found(RIGHT, 1)], context(), repaired)
    (one,) = made.repaired
    assert (one.id, one.wrong) == (made.calls[0].call.id, bad.call)
    assert "text" in one.refusal
    for reply in (
        Reply("no"),
        Reply('{"tool_calls":[{"name":"send_mail","arguments":{"to":"bob"}}]}'),
    ):
        assert settled([bad], context(), reply)[0].repaired == []
    assert settled([Found(RIGHT, 0)], context())[0].repaired == []


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply("It is 21 degrees."), "It is 21 degrees."),
        (Reply('{"name": "get_weather", "arguments": {"city": "Paris"}}'), NOTHING_SAID),
        (Reply("", (RIGHT,)), NOTHING_SAID),
        (Reply(""), NOTHING_SAID),
    ],
)
def test_where_no_call_may_be_made_the_client_gets_words_and_no_call(
    reply: Reply, expected: str
) -> None:
    written = Found(RIGHT, -1, "as text")
    made, asked = settled([written], context(1, tool_choice="none"), reply)
    assert (made.calls, made.text, asked) == ([], [expected], 1)
    made, asked = settled([written], context(0, tool_choice="none"))
    assert (made.text, asked) == ([NOTHING_SAID], 0)
