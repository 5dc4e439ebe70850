"""Calls that do not reach the client."""

from __future__ import annotations

import pytest

from callwright.agent.safety.held_call import HeldCall
from callwright.nouns.types import Edit, Reply, ToolCall
from callwright.proxy.session.decision.decide import decide_calls
from callwright.proxy.session.decision.decision import Found
from callwright.proxy.session.decision.dropped import list_withheld
from tests.proxy.session.decision.test_decide import RIGHT, context, settled, weak


def test_a_call_that_nobody_asked_for_becomes_an_answer_in_words() -> None:
    invented = Found(ToolCall("", "get_weather", {"city": "London"}), dialect="fenced")
    made, asked = settled([invented], weak("Say hello in one word."), Reply("Hello"))
    assert asked == 1
    assert made.calls == []
    assert made.text == ["Hello"]
    assert [e.rule for e in made.edits] == ["unasked_call"]


def test_words_beside_a_call_that_nobody_asked_for_are_answer_enough() -> None:
    invented = Found(ToolCall("", "get_weather", {"city": "London"}), dialect="fenced")
    work = decide_calls([invented], "Hello!", "stop", weak("Say hello in one word."))
    with pytest.raises(StopIteration) as end:
        next(work)
    assert end.value.value.calls == []


def test_a_demanded_call_is_never_unasked() -> None:
    invented = Found(ToolCall("", "get_weather", {"city": "London"}), dialect="fenced")
    made, asked = settled([invented], weak("Say hello in one word.", tool_choice="required"))
    assert asked == 0
    assert [c.call.tool for c in made.calls] == ["get_weather"]


def test_the_clients_choice_decides_which_calls_stay() -> None:
    calls = [Found(RIGHT, 0), Found(ToolCall("c2", "send_mail", {"to": "a", "text": "b"}), 1)]
    for choice, left in (
        ("none", []),
        ({"type": "function", "function": {"name": "send_mail"}}, ["send_mail"]),
        ("auto", ["get_weather", "send_mail"]),
    ):
        made, _ = settled(calls, context(0, tool_choice=choice))
        assert [one.call.tool for one in made.calls] == left
    made, _ = settled(calls, context(0, parallel_tool_calls=False))
    assert [one.call.tool for one in made.calls] == ["get_weather"]
    assert [edit.rule for edit in made.edits] == ["no_parallel_calls"]


def test_what_was_kept_back_before_is_listed_unless_it_was_sent() -> None:
    held = [HeldCall(RIGHT, "repeated_write", "why", is_sent=sent) for sent in (False, True)]
    shown = {"name": "get_weather", "arguments": {"city": "Paris"}}
    assert list_withheld(held) == [Edit("", shown, None, "repeated_write")]
