"""Calls asked for by schema: answered as the client asked, or left to the client's own request."""

from __future__ import annotations

import json

import pytest

from callwright.nouns.errors import Failure
from callwright.proxy.session.events import (
    Learned,
    Probed,
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
    UpstreamHead,
)
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import JSON, SEND, SSE, Playbook, body, chunk, whole

CALLS = json.dumps({"calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}]})


@pytest.mark.parametrize("stream", [False, True])
def test_the_answer_has_the_form_that_the_client_asked_for(stream: bool) -> None:
    book = Playbook(Settings(guided="on")).ask(body(stream))
    book.answer(whole(CALLS), JSON)
    if stream:
        (made,) = book.message["calls"]
        assert json.loads(made["arguments"]) == {"city": "Paris"}
    else:
        (given,) = json.loads(book.out)["choices"][0]["message"]["tool_calls"]
        assert json.loads(given["function"]["arguments"]) == {"city": "Paris"}
    assert (book.record.guided, book.record.outcome) == (True, "edited")


def test_the_upstreams_cookies_reach_the_client() -> None:
    book = Playbook(Settings(guided="on")).ask(body(False))
    book.tell(UpstreamHead(200, JSON, ("a=1",)))
    book.tell(UpstreamData(whole(CALLS)))
    book.tell(UpstreamEnd())
    assert book.head is not None
    assert [v for k, v in book.head.headers if k == "set-cookie"] == ["a=1"]


def test_an_upstream_without_schemas_is_remembered_and_asked_as_the_client_did() -> None:
    raw = json.dumps(body(False)).encode()
    book = Playbook(Settings(guided="on")).ask(raw)
    book.tell(UpstreamHead(422, JSON))
    learned, asked = book.tell(UpstreamEnd())
    assert learned == Learned("m", False)
    assert isinstance(asked, SendUpstream)
    assert asked.body == raw
    assert not book.record.guided


def test_an_upstream_that_fails_is_told() -> None:
    book = Playbook(Settings(guided="on")).ask(body(False))
    book.tell(UpstreamFailed(Failure("timeout", "late")))
    assert book.head is not None
    assert book.head.status == 504


def test_words_in_place_of_a_call_that_is_kept_back_begin_the_answer() -> None:
    send = {**SEND["function"], "annotations": {"readOnlyHint": False, "destructiveHint": False}}  # type: ignore[dict-item]
    send["parameters"] = {
        "type": "object",
        "properties": {"to": {"type": "string", "format": "email"}},
        "required": ["to"],
    }
    asked = {**body(True), "tools": [{"type": "function", "function": send}]}
    book = Playbook(Settings(guided="text")).ask(asked)
    book.tell(Probed(native=False, schema=True))
    book.answer(b'{"error": "tools are not known here"}', JSON, status=400)
    wrong = {"calls": [{"name": "send_mail", "arguments": {"to": "ann@example.com"}}]}
    book.answer(whole(json.dumps(wrong)), JSON)
    book.tell(UpstreamHead(200, SSE))
    book.tell(UpstreamData(chunk({"content": "Write to"})))
    assert book.message["text"] == "Write to"
    book.tell(UpstreamData(chunk({"content": " whom?"})))
    book.tell(UpstreamEnd())
    assert (book.message["text"], book.message["finish"]) == ("Write to whom?", "stop")
    assert [edit.rule for edit in book.record.edits] == ["unasked_call"]
