from __future__ import annotations

import json

from callwright.proxy.session.answers.completion import Whole
from callwright.proxy.session.context import Toolsets, read_context
from callwright.proxy.session.decision.decide import decide_calls
from callwright.proxy.session.decision.decision import Decision
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import body, call, whole

CONTEXT = read_context(body(), b"x", Toolsets(), Settings())


def through(data: bytes) -> bytes:
    assert CONTEXT is not None
    answer = Whole(data, CONTEXT)
    if not answer.readable:
        return data
    try:
        next(decide_calls(answer.found(), answer.text_beside_calls, answer.finish, CONTEXT))
    except StopIteration as end:
        settled: Decision = end.value
    return answer.write(settled)


def test_words_and_right_calls_are_the_same_bytes() -> None:
    for data in (
        whole("Hi {x} <b>"),
        whole(None, [call("get_weather", {"city": "Paris"})], "tool_calls"),
        whole(""),
    ):
        assert through(data) == data


def test_only_the_call_is_taken_out_of_the_text() -> None:
    text = 'A\n<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
    made = json.loads(through(whole(text)))
    assert made["choices"][0]["message"]["content"].strip() == "A"
    assert made["usage"] == {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}


def test_what_is_no_completion_is_not_readable() -> None:
    assert CONTEXT is not None
    for data in (b"", b"[]", b'{"choices": []}', b'{"choices": [{"message": "x"}]}', b"<html>"):
        assert not Whole(data, CONTEXT).readable


def test_a_call_left_in_the_reasoning_is_found() -> None:
    document = json.loads(whole(""))
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
    document["choices"][0]["message"]["reasoning_content"] = text
    made = json.loads(through(json.dumps(document).encode()))
    assert made["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "get_weather"


def test_leftovers_of_a_template_are_removed_and_the_rest_of_the_document_stays() -> None:
    assert CONTEXT is not None
    data = whole("<|im_start|>assistant\n<think>{x}</think>Hi `<|im_end|>`.<|im_end|>")
    answer = Whole(data, CONTEXT)
    assert answer.removed == ("<|im_start|>assistant\n", "<|im_end|>")
    assert answer.text_in_words == "Hi `<|im_end|>`."
    made = json.loads(answer.write(Decision()))
    assert made["choices"][0]["message"]["content"] == "<think>{x}</think>Hi `<|im_end|>`."
    assert {**made, "choices": 0} == {**json.loads(data), "choices": 0}


def test_what_is_said_by_other_means_is_no_text() -> None:
    assert CONTEXT is not None
    document = json.loads(whole(None))
    document["choices"][0]["message"]["refusal"] = "No."
    assert Whole(json.dumps(document).encode(), CONTEXT).text_in_words is None


def test_a_call_of_the_older_form_is_one_of_the_upstreams_own() -> None:
    given = {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    document = json.loads(whole(None, finish="function_call"))
    (choice,) = document["choices"]
    choice["message"]["function_call"] = given
    (made,) = json.loads(through(json.dumps(document).encode()))["choices"]
    assert made["finish_reason"] == "tool_calls"
    assert "function_call" not in made["message"]
    (entry,) = made["message"]["tool_calls"]
    assert json.loads(entry["function"]["arguments"]) == {"city": "Paris"}
    choice["message"]["tool_calls"] = [{"id": "c1", "type": "function", "function": given}]
    choice["finish_reason"] = "tool_calls"
    twice = json.dumps(document).encode()
    assert through(twice) == twice, "the same call, said twice"
    choice["message"]["tool_calls"].insert(0, call("get_weather", {"city": "Paris", "days": "2"}))
    changed = through(json.dumps(document).encode())
    assert b"function_call" not in changed, "a call that was decided on stands in one place"
