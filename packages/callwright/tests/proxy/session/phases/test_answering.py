"""The client's own request, asked as it came: streams, whole answers, and what passes."""

from __future__ import annotations

import json

import pytest

from callwright.proxy.session.events import (
    CloseUpstream,
    Finish,
    Probed,
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamHead,
)
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import JSON, SSE, Playbook, body, call, native_stream, text_stream, whole

RIGHT = ("c1", "get_weather", '{"city": "Paris"}')
WRONG = ("c1", "send_mail", '{"to": "bob"}')


@pytest.mark.parametrize("stream", [False, True])
def test_a_right_answer_passes_byte_for_byte(stream: bool) -> None:
    calls = [call("get_weather", {"city": "Paris"})]
    answer = native_stream(RIGHT) if stream else whole(None, calls, "tool_calls")
    book = Playbook().ask(body(stream)).answer(answer, SSE if stream else JSON)
    assert book.out == answer
    assert book.record.outcome == "untouched"


def test_what_follows_a_complete_answer_is_still_sent() -> None:
    book = Playbook().ask(body())
    book.tell(UpstreamHead(200, SSE))
    book.tell(UpstreamData(native_stream(RIGHT)))
    assert book.finished is None
    book.tell(UpstreamData(b": the end\n\n"))
    book.tell(UpstreamEnd())
    assert book.out == native_stream(RIGHT) + b": the end\n\n"
    assert book.finished == Finish()


def test_a_question_closes_the_stream_that_it_is_about_also_after_a_guided_answer() -> None:
    book = Playbook(Settings()).ask(body())
    book.tell(Probed(native=False, schema=True))
    book.answer(whole('{"no_call": "chat"}'), JSON)
    book.tell(UpstreamHead(200, SSE))
    commands = book.tell(UpstreamData(native_stream(WRONG)))
    assert [type(c) for c in commands[-2:]] == [CloseUpstream, SendUpstream]


def test_a_request_is_asked_in_words_only_after_its_tools_were_refused() -> None:
    book = Playbook(Settings(guided="text")).ask(body())
    book.tell(Probed(native=False, schema=True))
    book.answer(b"{}", JSON, status=400).answer(whole('{"no_call": "chat"}'), JSON)
    assert ["tools" in json.loads(asked.body) for asked in book.asked] == [True, False, False]
    book.answer(text_stream("Hello"), status=400)
    assert book.head is not None
    assert book.head.status == 400


@pytest.mark.parametrize("stream", [False, True])
def test_what_is_left_out_of_the_text_is_listed(stream: bool) -> None:
    said = "It rains.<|im_end|>"
    answer = text_stream(said) if stream else whole(said)
    book = Playbook().ask(body(stream)).answer(answer, SSE if stream else JSON)
    assert [(e.path, e.before, e.rule) for e in book.record.edits] == [
        ("/content", "<|im_end|>", "template_token")
    ]
    assert book.record.outcome == "edited"
    assert b"im_end" not in book.out
