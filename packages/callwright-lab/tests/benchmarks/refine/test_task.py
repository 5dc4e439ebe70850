"""The nouns of the refine bench."""

from __future__ import annotations

from callwright.nouns.types import Message, ToolCall
from callwright_lab.benchmarks.refine.task import Found, Recorded, Score, Task


def test_the_query_is_the_last_thing_the_user_said() -> None:
    messages = (Message("user", "first"), Message("assistant", "hm"), Message("user", "second"))
    assert Task("1", "s", "c", messages, ()).query == "second"
    assert Task("1", "s", "c", (Message("system", "x"),), ()).query == ""


def test_a_reply_without_text_has_the_empty_text() -> None:
    assert Recorded("1", "m", {"role": "assistant", "content": None}).text == ""
    assert Recorded("1", "m", {"content": "hello"}).text == "hello"


def test_a_score_without_a_mistake_is_right() -> None:
    assert Score({"x": 1.0}).right
    assert not Score({"x": 0.0}, "wrong_value").right
    assert Found((ToolCall("a", "t", {"x": 1}),)).to_json() == [
        {"name": "t", "arguments": {"x": 1}}
    ]
