from __future__ import annotations

import json

from callwright.nouns.types import Reply, ToolCall, Usage
from callwright.proxy.session.answers import compose
from callwright.proxy.session.decision.decision import Decision, Sent
from callwright.proxy.session.record import Record
from tests.proxy.playbook import assembled

SETTLED = Decision([Sent(ToolCall("c1", "t", {"a": 1}), '{"a":1}')])
REPLY = Reply("", usage=Usage(3, 4), model="m")


def test_a_composed_stream_is_a_chat_completion() -> None:
    made = compose.compose_stream(SETTLED, REPLY, Record("1", "/"), True)
    message = assembled(made)
    assert message["calls"] == [{"id": "c1", "name": "t", "arguments": '{"a":1}'}]
    assert message["finish"] == "tool_calls"
    assert b'"total_tokens":7' in made


def test_a_composed_answer_says_the_same() -> None:
    made = json.loads(compose.compose_completion(SETTLED, REPLY, Record("1", "/")))
    assert made["choices"][0]["message"]["tool_calls"][0]["id"] == "c1"
    assert made["choices"][0]["finish_reason"] == "tool_calls"
    words = json.loads(compose.compose_completion(Decision(text=["no"]), REPLY, Record("1", "/")))
    assert words["choices"][0] | {"message": None} == {
        "index": 0, "message": None, "logprobs": None, "finish_reason": "stop",
    }  # fmt: skip


def test_errors_have_openais_shape() -> None:
    assert json.loads(compose.compose_error(400, "no"))["error"]["type"] == "invalid_request_error"
    assert json.loads(compose.compose_error(502, "no"))["error"]["message"] == "no"
    assert compose.encode_error("x").startswith(b'data: {"error"')


def test_usage_goes_out_where_it_was_asked_for() -> None:
    assert compose.wants_usage({"stream_options": {"include_usage": True}})
    assert not compose.wants_usage({"stream_options": None})


def test_an_answer_that_is_said_in_pieces_is_one_chat_completion() -> None:
    live = compose.LiveCompletion(REPLY, Record("1", "/"))
    begun = live.say("It ") + live.say("rains")
    whole = Decision(text=["It rains today."])
    message = assembled(begun + live.end(whole, REPLY, False))
    assert (message["text"], message["finish"]) == ("It rains today.", "stop")
    calls = compose.LiveCompletion(REPLY, Record("1", "/"))
    message = assembled(calls.say("It rains.") + calls.end(SETTLED, REPLY, False))
    assert (message["text"], len(message["calls"])) == ("It rains.", 1)


def test_what_is_left_of_a_text_stands_alone_where_it_is_another() -> None:
    assert compose.find_rest("It rains.", "It ") == "rains."
    assert compose.find_rest("It snows.", "It rains.") == "\nIt snows."
    assert compose.find_rest("", "It rains.") == ""
    assert compose.find_rest("It rains.", "") == "It rains."
