"""The question about an optional value of a client's call."""

from __future__ import annotations

import json
from typing import Any

from callwright.agent.leading.option_support import find_options
from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.leading.option_support import build_body
from callwright.proxy.session.settings import Settings

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "item": {"type": "string"},
        "speed": {"enum": ["slow", "express"], "description": "How fast it goes."},
        "gift": {"type": "boolean"},
        "plain": {"type": "boolean", "default": True},
        "size": {"enum": [1, 2, 3]},
        "many": {"enum": [*range(40)]},
    },
    "required": ["item"],
}
TOOL = {"type": "function", "function": {"name": "order", "parameters": SCHEMA}}


def context(text: str, *before: Any) -> Context:
    messages = [*before, {"role": "user", "content": text}]
    body = {"model": "m", "messages": messages, "tools": [TOOL], "stream": True, "temperature": 1}
    found = read_context(body, b"x", Toolsets(), Settings())
    assert found is not None
    return found


def test_the_question_is_put_once_with_the_conversation_and_once_without_it() -> None:
    system = {"role": "system", "content": "You sell lamps."}
    asked = context("Order a lamp.", system)
    asked.instructions = "Tools: order(item)"
    (tool,) = asked.toolset.tools
    (option,) = find_options({"gift": True}, tool)
    told, untold = (build_body(option, asked, is_told=is_told) for is_told in (True, False))
    for body in (told, untold):
        assert (body["max_tokens"], body["logprobs"], body["temperature"]) == (1, True, 0)
        assert {"tools", "stream"}.isdisjoint(body)
        assert body["messages"][0]["content"] == "You sell lamps.\n\nTools: order(item)"
        assert "A) true\nB) false\nC) the user does not say" in body["messages"][-1]["content"]
    assert "Order a lamp." in json.dumps(told)
    assert "Order a lamp." not in json.dumps(untold)
