"""Optional values that the conversation makes likelier, by the probabilities of one letter."""

from __future__ import annotations

import json
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Reply
from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.leading.option_support import (
    Option,
    build_body,
    compute_gain,
    find_options,
    read_share,
    read_shares,
)
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
REQUESTS = (
    "Order a lamp.",
    "Bestelle eine Lampe.",
    "Pide una lámpara.",
    "订一盏灯。",
    "اطلب مصباحا.",
)


def context(text: str, *before: Any) -> Context:
    messages = [*before, {"role": "user", "content": text}]
    body = {"model": "m", "messages": messages, "tools": [TOOL], "stream": True, "temperature": 1}
    found = read_context(body, b"x", Toolsets(), Settings())
    assert found is not None
    return found


def test_optional_values_of_a_list_are_judged() -> None:
    (tool,) = context("Order a lamp.").toolset.tools
    left = {"speed": "express", "gift": True, "size": 2, "item": "lamp"}
    options = find_options(left, tool)
    assert [(one.key, one.value) for one in options] == [
        ("speed", "express"), ("gift", True), ("size", 2),
    ]  # fmt: skip
    assert options[0].letters == "ABC"
    assert not find_options({"gift": False, "many": 7, "other": True}, tool)


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


OPTION = Option(context("x").toolset.tools[0], "gift", True, (True, False))


def test_shares_count_the_letters_alone() -> None:
    likely = {"A": 0.3, " A": 0.1, "B": 0.1, "Hello": 0.4, "C": 0.1}
    shares = read_shares(Reply("", first_token=likely), OPTION)
    assert shares == pytest.approx((4 / 6, 1 / 6))
    assert read_share(Reply("", first_token=likely), OPTION) == pytest.approx(4 / 6)
    assert read_share(Reply("A"), OPTION) is None
    assert compute_gain(0.4, 0.2) == pytest.approx(log(2))


@given(st.dictionaries(st.sampled_from("A B C x".split()), st.floats(1e-9, 1.0)))
def test_shares_are_shares_whatever_is_likely(likely: dict[str, float]) -> None:
    shares = read_shares(Reply("", first_token=likely), OPTION)
    assert len(shares) in (0, 2)
    assert all(0 < share < 1 for share in shares)
    assert sum(shares) < 1
