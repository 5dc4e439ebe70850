from __future__ import annotations

import pytest

from callwright.parsing.formats.react import final_answer, iter_steps


@pytest.mark.parametrize(
    ("text", "name", "arguments", "closed"),
    [
        ('Action: f\nAction Input: {"a": 1}', "f", '{"a": 1}', True),
        ('Thought: x\n\nAction 1: f\nAction Input 1: {"a": 1}\n', "f", '{"a": 1}', True),
        ('**Action:** f\n**Action Input:** {"a": {"b": "}"}}', "f", '{"a": {"b": "}"}}', True),
        ("Action: `f`\nAction Input: ```json\n{}\n```", "f", "{}", True),
        ('Action: f\nAction Input: {"a": 1', "f", '{"a": 1', False),
        ("Action: f\nAction Input: plain words\nObservation: x", "f", "plain words", True),
        ("Action: f\nAction Input: plain", "f", "plain", False),
        ('Action: f({"a": 1})', "f", '{"a": 1}', True),
        ("Action: f\n", "f", "", False),
        ('Action: f\nAction Input: {"a": 1}Human:', "f", '{"a": 1}', True),
    ],
)
def test_an_action_is_read(text: str, name: str, arguments: str, closed: bool) -> None:
    (step,) = iter_steps(text)
    assert (step.name, step.arguments, step.closed) == (name, arguments, closed)


def test_several_actions_come_in_order_with_their_places() -> None:
    text = "Action: f\nAction Input: {}\nAction: g\nAction Input: {}\n"
    found = list(iter_steps(text))
    assert [s.name for s in found] == ["f", "g"]
    assert text[found[0].start : found[0].end] == "Action: f\nAction Input: {}"


def test_the_word_action_in_prose_is_no_action() -> None:
    assert list(iter_steps("I take action: none. The Action is over.")) == []


def test_a_final_answer_is_found_with_its_place() -> None:
    assert final_answer("Thought: ok\nFinal Answer: 42\nor so") == (12, "42\nor so")
    assert final_answer("no answer") is None
