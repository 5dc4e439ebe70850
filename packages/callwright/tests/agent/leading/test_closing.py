"""What a turn of our own ends with; whole runs are in ``strategies/test_guided.py``."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from callwright.agent.leading.closing import close_turn, say_freely
from callwright.agent.leading.led_context import LedContext
from callwright.agent.run_facts import RunFacts
from callwright.agent.safety.held_call import HeldCall
from callwright.agent.state import Asked, RunState
from callwright.grounding import Words, WrittenAnswer
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import (
    WRITE,
    Answer,
    Failure,
    Message,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
)
from callwright.testing import FixedPlan

ORDER = Tool("order", "Orders.", {"properties": {"code": {}, "pieces": {}}}, effects=WRITE)
HELD = HeldCall(ToolCall("", "order", {"code": "A"}), "unstated_value", "why", missing=("pieces",))
DONE = ToolResult("r1", "order", {"code": "B", "pieces": 5}, {"id": "O-5"})


class _Own(LedContext):
    def build_prefix(self) -> tuple[Message, ...]:
        return Message("system", "form"), Message("user", self.query)


def led(*results: ToolResult, query: str = "Order some A", **more: Any) -> LedContext:
    facts = RunFacts(RunState(Asked(query), (ORDER,), results=results))
    return _Own(
        query=query, tools=(ORDER,), planner=FixedPlan([]), facts=facts, mode="schema", **more
    )


def write(words: Words) -> Generator[ChatRequest, Reply, WrittenAnswer]:
    reply = yield ChatRequest((Message("user", f"answer {words.has_written}"),), "answer")
    return WrittenAnswer(Answer(reply.text))


def close(made: LedContext, *replies: str) -> tuple[Answer, list[ChatRequest]]:
    steps, left, asked = close_turn(made, write), [*replies], []
    try:
        request = next(steps)
        while True:
            asked.append(request)
            request = steps.send(Reply(left.pop(0)))
    except StopIteration as end:
        return end.value.join().answer, asked


def test_the_answer_stands_behind_the_conversation() -> None:
    answer, asked = close(led(DONE), "It is O-5.")
    assert answer.text == "It is O-5."
    assert [m.content for m in asked[0].messages] == ["form", "Order some A", "answer True"]


def test_a_value_that_only_the_user_knows_is_asked_for_alone_or_behind_what_was_done() -> None:
    question = '{"question": "How many pieces?"}'
    answer, asked = close(led(held=[HELD]), question)
    assert answer.text.startswith("How many pieces?")
    assert answer.missing == ("order: why",)
    assert "form" not in [m.content for m in asked[0].messages]
    answer, asked = close(led(DONE, held=[HELD]), "It is O-5.", question)
    assert answer.text.startswith("It is O-5.\n\nHow many pieces?")
    assert len(asked) == 2


def test_where_the_model_has_no_question_the_answer_says_what_is_missing() -> None:
    answer, asked = close(led(held=[HELD]), "", "Nothing was done.")
    assert answer.text == "Nothing was done."
    assert len(asked) == 2


def test_a_write_that_failed_is_told_without_the_model() -> None:
    failed = ToolResult("r1", "order", {"code": "B"}, failure=Failure("tool_error", "no stock"))
    answer, asked = close(led(failed))
    assert "no stock" in answer.text
    assert asked == []


def test_a_write_that_failed_is_told_before_the_user_is_asked() -> None:
    failed = ToolResult("r1", "order", {"code": "B"}, failure=Failure("tool_error", "no stock"))
    answer, asked = close(led(failed, held=[HELD]), '{"question": "How many pieces?"}')
    assert "no stock" in answer.text.split("\n\n")[0]
    assert answer.text.split("\n\n")[1].startswith("How many pieces?")
    assert len(asked) == 1


def test_small_talk_is_answered_in_words() -> None:
    steps = say_freely(led(query="Good morning!"))
    assert [m.content for m in next(steps).messages] == ["Good morning!"]
    with pytest.raises(StopIteration) as end:
        steps.send(Reply(" Good morning. "))
    assert end.value.value == Answer("Good morning.")
