"""Where the calls of an answer are found, streamed or whole."""

from __future__ import annotations

import pytest

from callwright.nouns.types import ToolCall
from callwright.parsing import CallPiece
from callwright.proxy.session.answers.answer import collect_calls, find_reasoning_calls
from callwright.proxy.session.answers.native import NativeCalls
from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import body, call

WRITTEN = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'


def context(**more: object) -> Context:
    found = read_context(body(**more), b"x", Toolsets(), Settings())
    assert found is not None
    return found


def test_the_upstreams_own_calls_come_first_and_keep_their_places() -> None:
    native = NativeCalls()
    entries = [call("get_weather", {"city": "Rome"}), call("get_weather", {"city": "Bern"}, "")]
    native.add_message({"tool_calls": entries})
    found = collect_calls(
        native, [CallPiece(ToolCall("", "get_weather", {"city": "Oslo"}), WRITTEN, "hermes")]
    )
    assert [f.call.arguments for f in found] == [
        {"city": "Rome"},
        {"city": "Bern"},
        {"city": "Oslo"},
    ]
    assert [(f.native, f.sound, f.raw, f.dialect) for f in found] == [
        (0, True, "", ""),
        (1, False, "", ""),
        (-1, True, WRITTEN, "hermes"),
    ]


@pytest.mark.parametrize(
    ("reasoning", "more", "cities"),
    [
        (f"I must look. {WRITTEN}", {}, ["Oslo"]),
        (WRITTEN + '<tool_call>{"name": "get_weather", "arguments": {"city": "Ro', {}, ["Oslo"]),
        (WRITTEN.replace("get_weather", "stranger"), {}, []),
        (WRITTEN, {"tool_choice": "none"}, []),
        ("It rains.", {}, []),
        ("", {}, []),
    ],
)
def test_whole_calls_of_offered_tools_are_found_in_the_reasoning(
    reasoning: str, more: dict[str, str], cities: list[str]
) -> None:
    found = find_reasoning_calls(reasoning, context(**more))
    assert [p.call.arguments for p in found] == [{"city": city} for city in cities]
    assert {p.dialect for p in found} <= {"hermes"}


SEND = '{"name": "send_mail", "arguments": {"to": "ann@example.org", "text": "Hi"}}'


@pytest.mark.parametrize(
    ("reasoning", "called"),
    [
        (f"I could send {SEND}. But I must ask first.", []),
        (f"So I send it: {SEND}", ["send_mail"]),
        (f"I send it.\n```json\n{SEND}\n```\n", ["send_mail"]),
        (f"<tool_call>{SEND}</tool_call>\n<|im_end|>", ["send_mail"]),
        (f"I could send {SEND}. First I look. {WRITTEN}", ["get_weather"]),
        (f"{WRITTEN}\n<tool_call>{SEND}</tool_call>", ["get_weather", "send_mail"]),
        (f"I look. {WRITTEN} Then I go on.", []),
    ],
    ids=["draft", "end", "fence", "token", "another", "both", "undeclared"],
)
def test_a_tool_that_may_write_is_called_only_where_the_reasoning_ends_with_it(
    reasoning: str, called: list[str]
) -> None:
    found = find_reasoning_calls(reasoning, context())
    assert [piece.call.tool for piece in found] == called
