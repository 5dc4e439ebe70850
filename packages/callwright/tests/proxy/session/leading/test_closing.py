"""The questions that end a client's turn: bodies out, the ending in."""

from __future__ import annotations

import json
from typing import Any

from callwright.agent.leading.closing import Ending
from callwright.agent.leading.led_context import LedContext
from callwright.agent.safety.held_call import HeldCall
from callwright.nouns.types import Reply, ToolCall
from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.decision.decision import Question
from callwright.proxy.session.leading.closing import Closing
from callwright.proxy.session.leading.lead import build_context
from callwright.proxy.session.settings import GuidedPart, Settings

ORDER = {
    "name": "create_order",
    "description": "Orders a part.",
    "parameters": {
        "type": "object",
        "properties": {"part": {"type": "string"}, "quantity": {"type": "integer"}},
        "required": ["part", "quantity"],
    },
    "annotations": {"readOnlyHint": False},
}
CANCEL = {**ORDER, "name": "cancel_order", "description": "Cancels an order."}
HELD = HeldCall(
    ToolCall("c2", "create_order", {"part": "C-330"}),
    "unstated_value",
    "nothing states a quantity",
    missing=("quantity",),
)
ANSWER = '{"statements": [{"text": "The order is O-1.", "results": []}], "missing": []}'
QUESTION = '{"question": "How many of the C-330?"}'


def open_context(result: str = "", **more: Any) -> Context:
    messages: list[Any] = [{"role": "user", "content": "Order 5 of A-100 and some of C-330."}]
    if result:
        function = {"name": "create_order", "arguments": '{"part": "A-100", "quantity": 5}'}
        call = {"id": "c1", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": result},
        ]
    tools = [{"type": "function", "function": one} for one in (ORDER, CANCEL)]
    without: frozenset[GuidedPart] = more.pop("without", frozenset())
    body = {"model": "m", "messages": messages, "tools": tools, "stream": True, **more}
    found = read_context(body, b"x", Toolsets(), Settings(without=without))
    assert found is not None
    found.native, found.schema = False, True
    return found


def close(context: Context, *replies: str, **more: Any) -> tuple[Ending, list[Question]]:
    led = build_context(context, LedContext)
    led.held, asked = [HELD], []
    steps = Closing(context, led, shown=context.toolset.tools).close(may_ask=True, **more)
    try:
        question = next(steps)
        for text in replies:
            asked.append(question)
            question = steps.send(Reply(text))
        raise AssertionError(f"one question too many: {question.body}")
    except StopIteration as end:
        return end.value, asked


def test_the_answer_is_streamed_and_the_question_stands_behind_it() -> None:
    ending, asked = close(open_context('{"id": "O-1"}'), ANSWER, QUESTION)
    assert ending.written is not None
    assert (ending.written.answer.text, ending.asked[:22]) == (
        "The order is O-1.",
        "How many of the C-330?",
    )
    assert [question.read is not None for question in asked] == [True, False]
    assert all({"tools", "stream"}.isdisjoint(question.body) for question in asked)


def test_the_question_shows_the_conversation_without_our_instructions() -> None:
    context = open_context()
    ending, asked = close(context, QUESTION)
    assert (ending.written, ending.unstated) == (None, (HELD,))
    assert asked[0].body["messages"][:-1] == context.body["messages"]
    assert "quantity" in json.dumps(asked[0].body["messages"][-1])


def test_where_the_client_wants_json_of_its_own_nothing_is_answered_for_it() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}
    ending, _ = close(open_context('{"id": "O-1"}', response_format=form), QUESTION)
    assert ending.written is None
    assert ending.asked


def test_words_in_the_place_of_the_schema_leave_the_answer_to_the_upstream() -> None:
    ending, _ = close(open_context('{"id": "O-1"}'), "It is done.", QUESTION)
    assert ending.written is None


def test_a_write_that_failed_is_told_without_the_upstream() -> None:
    ending, asked = close(open_context('{"error": "no stock"}'), QUESTION)
    assert ending.written is not None
    assert "no stock" in ending.written.answer.text
    assert len(asked) == 1
