from __future__ import annotations

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message, Reply, ToolCall
from callwright.proxy.session import followup as again
from callwright.proxy.session.context import Toolsets, read_context
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import body

FOUND = read_context(body(temperature=0.5, stop=["x"], user="u"), b"x", Toolsets(), Settings())
assert FOUND is not None
CONTEXT = FOUND


def test_a_question_of_our_own_keeps_the_sampling_and_nothing_of_the_calls() -> None:
    made = again.build_question_body(
        ChatRequest((Message("user", "repair"),), schema={"type": "object"}), CONTEXT
    )
    assert made == {
        "model": "m",
        "temperature": 0.5,
        "user": "u",
        "messages": [{"role": "user", "content": "repair"}],
        "max_tokens": 512,
    }
    CONTEXT.schema = True
    assert "response_format" in again.build_question_body(
        ChatRequest((), schema={"type": "object"}), CONTEXT
    )


def test_asking_again_keeps_the_conversation_and_says_why() -> None:
    made = again.build_followup("You must call.", "No.", CONTEXT)
    assert [m["role"] for m in made["messages"]] == ["user", "assistant", "user"]
    assert "You must call." in made["messages"][-1]["content"]
    assert made["tools"] == CONTEXT.body["tools"]


def test_calls_of_a_reply_are_native_or_in_its_text_and_offered() -> None:
    assert again.read_calls(Reply("", (ToolCall("a", "t", {}),)), CONTEXT)[0].tool == "t"
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "A"}}</tool_call>'
    assert [c.tool for c in again.read_calls(Reply(text), CONTEXT)] == ["get_weather"]
    assert again.read_calls(Reply(text.replace("get_weather", "rocket_9")), CONTEXT) == ()
    assert again.read_calls(Reply(text[:60]), CONTEXT) == ()
    assert len(again.read_calls(Reply(f"{text} {text[:60]}"), CONTEXT)) == 1
    assert len(again.read_calls(Reply(f"I look. {text}</think>"), CONTEXT)) == 1
    assert again.read_calls(Reply(f"I could {text}, but no.</think>"), CONTEXT) == ()


def test_what_is_no_completion_is_an_empty_reply() -> None:
    assert again.parse_completion(None).text == ""
    assert again.parse_completion({"error": "x"}).tool_calls == ()
