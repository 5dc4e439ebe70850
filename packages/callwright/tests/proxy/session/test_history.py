from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from callwright.agent.call_key import make_call_key
from callwright.agent.fold import NO_RESULT
from callwright.nouns.types import Message, ToolCall
from callwright.proxy.session.history import (
    count_questions,
    find_loops,
    pair_messages,
)


def entry(called: str) -> dict[str, Any]:
    return {"id": called, "type": "function", "function": {"name": "t", "arguments": "{}"}}


def assistant(*called: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [entry(c) for c in called]}


def result(called: str, text: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": called, "content": text}


USER = {"role": "user", "content": "hi"}


def test_paired_history_is_left_alone() -> None:
    history = [USER, assistant("a", "b"), result("b"), result("a"), USER]
    assert pair_messages(history) == (history, ())


def test_a_call_without_result_gets_one_that_says_so() -> None:
    made, edits = pair_messages([USER, assistant("a", "b"), result("a"), USER])
    assert made[3] == {"role": "tool", "tool_call_id": "b", "content": NO_RESULT}
    assert [(e.path, e.rule) for e in edits] == [("/messages/1", "unpaired_call")]


def test_a_result_without_call_becomes_what_the_user_says_and_nothing_is_lost() -> None:
    made, edits = pair_messages([USER, assistant("a"), result("x", "from x"), result("a"), USER])
    assert [m["role"] for m in made] == ["user", "assistant", "tool", "user", "user"]
    assert "from x" in made[3]["content"]
    assert [e.rule for e in edits] == ["unpaired_result"]


@pytest.mark.parametrize("between", [[USER], [USER, {"role": "assistant", "content": "Wait."}]])
def test_a_late_result_moves_to_its_call(between: list[Any]) -> None:
    made, edits = pair_messages([USER, assistant("a", "b"), result("b"), *between, result("a")])
    assert made == [USER, assistant("a", "b"), result("b"), result("a"), *between]
    assert [(e.path, e.rule) for e in edits] == [(f"/messages/{3 + len(between)}", "late_result")]


def test_a_result_that_follows_a_later_call_under_the_same_id_is_that_ones() -> None:
    made, edits = pair_messages([assistant("a"), USER, assistant("a"), result("a"), result("a")])
    assert [m["content"] for m in made if m["role"] == "tool"] == [NO_RESULT, "ok"]
    assert [e.rule for e in edits] == ["unpaired_call", "repeated_result"]


def test_many_calls_without_results_are_paired_at_once() -> None:
    made, edits = pair_messages([m for n in range(20_000) for m in (assistant("a"), USER)])
    assert len(made) == 60_000
    assert len(edits) == 20_000


def test_of_a_lost_result_nobody_is_told_that_the_call_was_not_made() -> None:
    assert "not known" in NO_RESULT


def test_a_second_result_of_the_same_call_is_dropped() -> None:
    made, edits = pair_messages([USER, assistant("a"), result("a", "1"), result("a", "2")])
    assert [m["content"] for m in made if m["role"] == "tool"] == ["1"]
    assert [e.rule for e in edits] == ["repeated_result"]


def test_no_result_of_calls_that_share_an_id_is_lost() -> None:
    history = [USER, assistant("a", "a", "b"), result("a", "1"), result("a", "2"), result("b")]
    assert pair_messages(history) == (history, ())


def test_calls_without_ids_are_not_judged() -> None:
    history = [USER, assistant(""), {"role": "tool", "content": "ok"}]
    assert pair_messages(history) == (history, ())


def talk(*results: str, arguments: str = '{"a": 1}') -> list[Message]:
    made = [Message("user", "go")]
    for n, text in enumerate(results):
        made.append(Message("assistant", "", (ToolCall(f"c{n}", "t", arguments),)))
        made.append(Message("tool", text, tool_call_id=f"c{n}"))
    return made


def test_identical_failing_calls_in_a_row_are_a_loop() -> None:
    (loop,) = find_loops(talk("Error: no", "Error: no", "Error: no"), 3)
    assert loop.call == make_call_key(ToolCall("", "t", {"a": 1}))
    assert loop.times == 3
    assert "no" in loop.said


def test_a_success_or_a_new_word_of_the_user_ends_a_loop() -> None:
    assert find_loops(talk("Error: no", "Error: no", "fine", "Error: no"), 3) == ()
    again = [*talk("Error: no", "Error: no"), Message("user", "go on"), *talk("Error: no")]
    assert find_loops(again, 3) == ()
    assert find_loops(talk(*["Error: no"] * 5), 0) == (), "0 switches it off"


def test_a_reminder_that_recurs_behind_results_ends_no_loop() -> None:
    reminder, tries = Message("user", "Denk daran: antworte kurz."), talk(*["Error: no"] * 3)
    told = [one for m in tries for one in ([m, reminder] if m.role != "assistant" else [m])]
    (loop,) = find_loops(told, 3)
    assert (loop.call[0], loop.times) == ("t", 3)


def test_a_call_whose_arguments_are_no_json_is_a_loop_too() -> None:
    (loop,) = find_loops(talk(*["Error: no"] * 3, arguments="{"), 3)
    assert loop.call == ("t", "{")


def test_questions_are_counted_by_message() -> None:
    asked = assistant("cwr000001", "cwr000002")
    odd: list[Any] = ["x", {"tool_calls": [3, {}]}, {"tool_calls": None}]
    assert count_questions([asked, assistant("cwp000001"), *odd, asked]) == 2


@pytest.mark.parametrize(
    "called",
    [
        "call_9pw8XkZmqHkD2nLrV4sT6bYe",  # OpenAI, SGLang, LiteLLM …
        "call_x7k2m9qz",  # Ollama
        "call_96200374",  # xAI
        "call_0_1f0e2b34-5c6d-4e7f-8a9b-0c1d2e3f4a5b",  # DeepSeek
        "chatcmpl-tool-5a1f0c9d8e7b46a3b2c1d0e9f8a7b6c5",  # vLLM
        "toolu_01A09q90qw90lq917835lq9",
        "tooluse_kZJMlvQmRJ6eAyJE_w-I_g",  # Bedrock
        "functions.look:0",  # Kimi
        "Xk29dLwQa",  # Mistral
        "XkTldLwQa",
        "oP2mJ7Qn0XbVtC4rYs9LkH1dGfEwAzUi",  # llama.cpp
        "1f0e2b34-5c6d-4e7f-8a9b-0c1d2e3f4a5b",  # MLX
    ],
)
def test_calls_under_the_ids_of_an_upstream_cost_no_question(called: str) -> None:
    assert count_questions([USER, assistant(called), result(called)] * 9) == 0


@pytest.mark.parametrize(
    "called", ["", "0", "call_3", "call00003", "call_000003", "toolu_000003", "look", "get_weather"]
)
def test_answers_count_as_questions_where_the_client_replaced_the_ids(called: str) -> None:
    history = [USER, assistant(called, called), result(called), assistant(called), USER]
    assert count_questions(history) == 2
    drawn = assistant("call_x7k2m9qz")
    assert count_questions([*history, drawn]) == 2
    own = assistant("cwp000001")
    assert count_questions([*history, own]) == 0, "a client that keeps our ids keeps the upstream's"


def test_an_id_of_any_length_is_read_at_once() -> None:
    began = process_time()
    count_questions([assistant("a_-0" * 250_000)])
    assert process_time() - began < 2.0
