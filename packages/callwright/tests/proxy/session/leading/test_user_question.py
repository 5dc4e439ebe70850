"""A question to the user names what is missing; small talk is answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.nouns.types import ToolCall
from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.guarding import HeldCall
from callwright.proxy.session.leading.user_question import (
    build_question,
    is_request,
    read_question,
)
from callwright.proxy.session.settings import Settings

QUANTITY = {"type": "integer", "description": "Pieces to order."}
PARAMETERS = {
    "type": "object",
    "properties": {"part": {"type": "string"}, "quantity": QUANTITY},
    "required": ["part", "quantity"],
}
ORDER = {"name": "create_order", "description": "Orders a part.", "parameters": PARAMETERS}
HELD = [
    HeldCall(
        ToolCall("c1", "create_order", {"part": "A-100", "quantity": 7}),
        "unstated_value",
        "nothing states 7",
        missing=("quantity",),
    )
]
VAGUE, CLEAR = '{"question": "Could you tell me more?"}', '{"question": "How many pieces?"}'


def asked(text: str) -> Context:
    body: Any = {
        "model": "m",
        "messages": [{"role": "user", "content": text}],
        "tools": [{"type": "function", "function": ORDER}],
    }
    found = read_context(body, b"x", Toolsets(), Settings())
    assert found is not None
    found.native, found.schema = False, True
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Please order some of the A-100 for us.", True), ("Good morning! How are you?", False)],
)
def test_where_the_message_is_a_request_only_a_question_is_let_through(
    text: str, expected: bool
) -> None:
    found = asked(text)
    assert is_request(found, HELD) is expected
    form = json.dumps(build_question(found, HELD)["response_format"])
    assert ('"reply"' in form) is not expected


@pytest.mark.parametrize(
    ("text", "reply", "told"),
    [
        (
            "Please order some of the A-100 for us.",
            VAGUE,
            "Could you tell me more?\n- quantity (Pieces to order.)",
        ),
        ("Please order some of the A-100 for us.", CLEAR, "How many pieces?"),
        ("Bestelle uns bitte noch ein paar von den A-100.", VAGUE, "Could you tell me more?"),
        ("Good morning! How are you?", '{"reply": "Fine, and you?"}', "Fine, and you?"),
        ("Please order some of the A-100 for us.", "How many?", "How many?\n- quantity"),
        ("Please order some of the A-100 for us.", '{"question": 5}', ""),
    ],
)
def test_what_a_question_does_not_name_follows_it(text: str, reply: str, told: str) -> None:
    said = read_question(reply, asked(text), HELD)
    assert said.startswith(told) if told.endswith("quantity") else said == told
