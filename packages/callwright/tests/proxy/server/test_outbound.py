"""Whatever goes upstream goes to the request's path, with its query and its key."""

from __future__ import annotations

import json

from callwright.proxy.server.outbound import CHAT, Outbound
from callwright.proxy.session.events import Request

ASKED = Request(
    "POST", "/chat/completions", "v=2", (("authorization", "Bearer k"), ("host", "here")), b"{}"
)


def test_an_unchanged_request_is_the_same_request() -> None:
    sent = Outbound(ASKED).unchanged()
    assert (sent.method, sent.path, sent.query, sent.body) == (
        "POST",
        "/chat/completions",
        "v=2",
        b"{}",
    )
    assert dict(sent.headers)["authorization"] == "Bearer k"
    assert "host" not in dict(sent.headers)


def test_a_question_of_our_own_is_wanted_whole() -> None:
    sent = Outbound(ASKED).question({"model": "m", "stream": True})
    assert json.loads(sent.body) == {"model": "m", "stream": False}
    assert sent.path == "/chat/completions"


def test_a_question_whose_answer_is_read_while_it_comes_is_streamed() -> None:
    sent = Outbound(ASKED).live_question({"model": "m"})
    assert json.loads(sent.body) == {"model": "m", "stream": True}


def test_another_api_is_asked_as_chat_completions_with_its_key_as_a_bearer_token() -> None:
    asked = Request("POST", "/v1/messages", "", (("x-api-key", "k"),), b"{}")
    sent = Outbound(asked, translated=True).chat(b"{}")
    assert sent.path == CHAT
    assert dict(sent.headers)["authorization"] == "Bearer k"
