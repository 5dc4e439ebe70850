"""Requests to a model in each way."""

from __future__ import annotations

import json

from callwright_lab.benchmarks.acebench.asking import (
    DIRECT,
    PROXY,
    RAW,
    build_body,
    compute_prompt_digest,
    list_native_messages,
    map_tools,
    read_native_calls,
)
from tests.benchmarks.invented_ace import ORDER, row

HISTORY = (
    "user: Order bolts.\nsystem: [shop.order(item='red bolts', gift=true), weather(city='Oslo')]\n"
    "system: Both are done.\nuser: Make it 7.\n"
)


def test_the_suites_own_prompt_shows_the_tools_as_python_writes_them() -> None:
    system, user = build_body(row(time="It is noon."), RAW, "m")["messages"]
    assert str(ORDER) in system["content"]
    assert "\n\nIt is noon.\n\n" in system["content"]
    assert "The output should start with a square bracket" in system["content"]
    assert user["content"] == f"Conversation history 1..t:\n{row().question}"
    assert "tools" not in build_body(row(), RAW)
    assert "model" not in build_body(row(), RAW)


def test_special_rows_profiles_and_chinese_have_their_own_prompts() -> None:
    def system(**of: str) -> str:
        made: str = build_body(row(**of), RAW)["messages"][0]["content"]  # type: ignore[arg-type]
        return made

    special = system(category="special_incomplete")
    assert "Missing necessary parameters (key1, key2, ...)" in special
    assert "Character Profile:\nlikes tea" in system(
        category="normal_preference", profile="likes tea"
    )
    assert "你是一个AI助手" in system(language="zh")


def test_native_rows_have_two_sentences_and_tools() -> None:
    body = build_body(row(time="It is noon.", profile="likes tea"), DIRECT, "m")
    system = body["messages"][0]["content"]
    assert system.endswith("\nIt is noon.\nAbout the user: likes tea")
    assert [tool["function"]["name"] for tool in body["tools"]] == ["shop_order", "weather"]
    assert body == build_body(row(time="It is noon.", profile="likes tea"), PROXY, "m")
    assert body["temperature"] == 0.0


def test_calls_of_the_history_are_tool_calls_with_their_result() -> None:
    messages = list_native_messages(row(question=HISTORY))
    assert [m["role"] for m in messages] == [
        "system", "user", "assistant", "tool", "tool", "user",
    ]  # fmt: skip
    calls = messages[2]["tool_calls"]
    assert [c["function"]["name"] for c in calls] == ["shop_order", "weather"]
    assert json.loads(calls[0]["function"]["arguments"]) == {"item": "red bolts", "gift": True}
    assert [m["tool_call_id"] for m in messages[3:5]] == [c["id"] for c in calls]
    assert messages[3]["content"] == "Both are done."


def test_a_question_of_the_assistant_stays_a_text() -> None:
    asked = row(question="user: Hi.\nsystem: [which one?]\nuser: This.\n")
    assert [m["content"] for m in list_native_messages(asked)[1:]] == [
        "Hi.", "[which one?]", "This.",
    ]  # fmt: skip
    unanswered = row(question="user: Hi.\nsystem: [weather(city='Oslo')]\nuser: And?\n")
    assert [m["content"] for m in list_native_messages(unanswered)[2:]] == [None, "", "And?"]


def test_calls_come_back_under_the_tools_own_names() -> None:
    message = {
        "tool_calls": [
            {"function": {"name": "shop_order", "arguments": '{"item": "x"}'}},
            {"function": {"name": "weather", "arguments": "{broken"}},
            {"function": {"name": "other", "arguments": {"a": 1}}},
        ]
    }
    assert read_native_calls(row(), message) == [
        {"shop.order": {"item": "x"}},
        {"weather": {"": "{broken"}},
        {"other": {"a": 1}},
    ]
    assert read_native_calls(row(), {"content": "none"}) == []


def test_no_two_tools_are_sent_under_one_name() -> None:
    dotted, plain = {**ORDER, "name": "a.b"}, {**ORDER, "name": "a_b"}
    one = row()
    both = type(one)("i", one.category, "en", one.question, (dotted, plain, plain), one.gold)
    found = {name: tool["name"] for name, tool in map_tools(both).items()}
    assert found == {"a_b_1": "a.b", "a_b": "a_b"}
    assert [*found.values()] == ["a.b", "a_b"]


def test_the_prompts_are_those_of_the_rows_that_are_kept() -> None:
    assert compute_prompt_digest() == "17319f5ad5bd", "rows of other prompts do not compare"
