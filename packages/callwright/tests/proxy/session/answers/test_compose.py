from __future__ import annotations

import json

from callwright.nouns.types import Reply, ToolCall, Usage
from callwright.proxy.session.answers import compose
from callwright.proxy.session.decide import Decision, Sent
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
