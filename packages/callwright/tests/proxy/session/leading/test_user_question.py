"""The request that asks an upstream for a question to the client's user."""

from __future__ import annotations

import json
from typing import Any

from callwright.agent.safety.held_call import HeldCall
from callwright.nouns.types import ToolCall
from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.leading.user_question import ask_about, build_body
from callwright.proxy.session.settings import Settings

PARAMETERS = {
    "type": "object",
    "properties": {"part": {"type": "string"}, "quantity": {"type": "integer"}},
    "required": ["part", "quantity"],
}
ORDER = {"name": "create_order", "description": "Orders a part.", "parameters": PARAMETERS}
HELD = HeldCall(
    ToolCall("c1", "create_order", {"part": "A-100", "quantity": 7}),
    "unstated_value",
    "nothing states 7",
    missing=("quantity",),
)


def asked(text: str) -> Context:
    body: Any = {
        "model": "m",
        "messages": [{"role": "user", "content": text}],
        "tools": [{"type": "function", "function": ORDER}],
        "stream": True,
    }
    found = read_context(body, b"x", Toolsets(), Settings())
    assert found is not None
    found.native, found.schema = False, True
    return found


def test_it_stands_behind_the_conversation_and_offers_no_tool() -> None:
    context = asked("Bestelle uns bitte noch ein paar von den A-100.")
    body = build_body(ask_about([HELD], context), context)
    assert {"tools", "stream"}.isdisjoint(body)
    assert body["messages"][0] == context.body["messages"][0]
    assert "quantity" in body["messages"][-1]["content"]
    assert "in German" in body["messages"][-1]["content"]


def test_a_request_is_answered_by_a_question_alone() -> None:
    order, talk = asked("Please order some of the A-100 for us."), asked("Good morning!")
    forms = [
        json.dumps(build_body(ask_about([HELD], one), one)["response_format"])
        for one in (order, talk)
    ]
    assert ['"reply"' in form for form in forms] == [False, True]
