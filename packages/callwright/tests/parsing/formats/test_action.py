from __future__ import annotations

from typing import Any

import pytest

from tests.parsing.reading import calls, found, one, rest


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('Action: f\nAction Input: {"a": 1}', {"a": 1}),
        ('Thought: x\n\nAction 1: f\nAction Input 1: {"a": 1}\n', {"a": 1}),
        ('**Action:** f\n**Action Input:** {"a": {"b": "}"}}', {"a": {"b": "}"}}),
        ("Action: `f`\nAction Input: ```json\n{}\n```", {}),
        ('  Action: f\n  Action_Input: {"a": 1}', {"a": 1}),
        ('Action: f({"a": 1})', {"a": 1}),
        ('Action: f{"a": 1}', {"a": 1}),
        ("Action: f(a='x')", {"a": "x"}),
        ('Action: f (does things)\nAction Input: {"a": 1}', {"a": 1}),
        ('Action: f\nAction Input: {"a": 1}Human:', {"a": 1}),
        ('Action:\n{"name": "f", "arguments": {"a": 1}, "extra": 2}', {"a": 1}),
        ('Action:\n```json\n{"name": "f", "arguments": {"a": 1}}\n```', {"a": 1}),
    ],
)
def test_an_action_is_read(text: str, arguments: dict[str, Any]) -> None:
    assert calls(text) == [("f", arguments)]
    assert not one(text).problems


def test_a_name_that_nobody_offered_counts_if_an_input_follows() -> None:
    assert calls('Action: nobody\nAction Input: {"a": 1}') == [("nobody", {"a": 1})]
    assert calls("Action: nobody\n") == []
    assert calls("Action: nobody\n", unknown=True) == [("nobody", "")]


@pytest.mark.parametrize(
    ("text", "arguments", "truncated"),
    [
        ("Action: f\nAction Input: {'a': 1}", "{'a': 1}", False),
        ("Action: f\nAction Input: plain words\nObservation: x", "plain words", False),
        ("Action: f\nAction Input:\nObservation: x", "", False),
        ("Action: f\n", "", False),
        ('Action: f\nAction Input: {"a": 1', '{"a": 1', True),
        ('Action: f({"a": 1', '{"a": 1', True),
    ],
)
def test_input_that_is_no_object_stays_text_and_that_is_listed(
    text: str, arguments: str, truncated: bool
) -> None:
    piece = one(text)
    assert (piece.call.arguments, piece.truncated) == (arguments, truncated)
    assert piece.problems


def test_several_actions_in_order_with_what_stands_between() -> None:
    text = (
        "Thought: a\nAction: f\nAction Input: {}\nObservation: 1\nThought: b\nAction: g\nAction"
        " Input: {}\n"
    )
    assert [p.call.tool for p in found(text)] == ["f", "g"]
    assert rest(text) == "Thought: a\n\nObservation: 1\nThought: b\n\n"


@pytest.mark.parametrize(
    "text",
    [
        "I take Action: f\n",
        "Action",
        "Actions: f",
        "Action: Click the button (twice).",
        "Action:\nf",
    ],
)
def test_prose_is_no_action(text: str) -> None:
    assert rest(text) == text
