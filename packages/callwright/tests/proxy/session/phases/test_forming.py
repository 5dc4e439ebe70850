"""A client that asks for JSON of a form gets it: over every API, with tools and without."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.nouns.errors import Failure
from callwright.proxy.session.events import UpstreamData, UpstreamFailed, UpstreamHead
from callwright.proxy.session.phases.forming import STREAMED
from tests.proxy.playbook import (
    JSON,
    SSE,
    USER,
    WEATHER,
    Playbook,
    call,
    native_stream,
    text_stream,
    whole,
)
from tests.proxy.session.answers.test_form import OSLO, SCHEMA

BROKEN = '```json\n{"city": "Oslo", "people": "7",}\n```'
RIGHT = '{ "city" : "Oslo",\n "people" : 7 }'
FORMAT = {"type": "json_schema", "json_schema": {"name": "city", "schema": SCHEMA}}


def asked(**more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [USER], "response_format": FORMAT, **more}


def marks(book: Playbook) -> dict[str, str]:
    assert book.head is not None
    return {k: v for k, v in book.head.headers if k.startswith("x-callwright")}


@pytest.mark.parametrize("tools", [[], [WEATHER]])
def test_broken_json_is_repaired_and_the_edits_are_counted(tools: list[Any]) -> None:
    book = Playbook().ask(asked(**({"tools": tools} if tools else {})))
    book.answer(whole(BROKEN), JSON)
    said = json.loads(book.out)["choices"][0]["message"]["content"]
    assert json.loads(said) == OSLO
    assert marks(book)["x-callwright-outcome"] == "edited"
    assert marks(book)["x-callwright-edits"] == "2"
    assert book.head is not None
    assert dict(book.head.headers)["content-length"] == str(len(book.out))
    assert [edit.rule for edit in book.logs[0].record.edits] == ["mend_json", "text_to_number"]


@pytest.mark.parametrize("tools", [[], [WEATHER]])
def test_right_json_passes_byte_for_byte(tools: list[Any]) -> None:
    raw = json.dumps(asked(**({"tools": tools} if tools else {})), indent=1).encode()
    book = Playbook().ask(raw)
    assert book.asked[0].body == raw
    came = whole(RIGHT)
    book.answer(came, JSON)
    assert book.out == came
    assert marks(book)["x-callwright-outcome"] == "untouched"
    assert marks(book)["x-callwright-edits"] == "0"


def test_what_cannot_be_repaired_passes_and_the_record_says_why() -> None:
    came = whole("I do not know.")
    book = Playbook().ask(asked()).answer(came, JSON)
    assert book.out == came
    assert book.record.notes == ["the answer is no JSON"]


def test_a_stream_passes_as_it_comes_and_the_record_says_so() -> None:
    came = text_stream('{"city": "Oslo", ', '"people": "7",}')
    book = Playbook().ask(asked(stream=True)).answer(came, cut=50)
    assert book.out == came
    assert book.record.notes == [STREAMED]
    assert "x-callwright-outcome" not in marks(book)


@pytest.mark.parametrize("cut", [1, 7, 50, 10_000])
@pytest.mark.parametrize(
    "pieces", [("```js", 'on\n{"city": "Oslo",', ' "people": "7",}\n```'), (BROKEN,)]
)
def test_a_stream_that_begins_otherwise_is_held_and_repaired(
    pieces: tuple[str, ...], cut: int
) -> None:
    book = Playbook().ask(asked(stream=True)).answer(text_stream(*pieces), cut=cut)
    assert json.loads(read_stream(book.out)) == OSLO
    assert book.out.endswith(b"data: [DONE]\n\n")
    assert [edit.rule for edit in book.record.edits] == ["mend_json", "text_to_number"]
    assert book.record.outcome == "edited"


@pytest.mark.parametrize("cut", [1, 50, 10_000])
@pytest.mark.parametrize(
    "text", [RIGHT, '{"city": "Oslo", "people": "7"', "I do not know.", "  \n", ""]
)
def test_a_stream_that_is_right_or_cannot_be_repaired_passes_byte_for_byte(
    text: str, cut: int
) -> None:
    came = text_stream(text)
    assert Playbook().ask(asked(stream=True)).answer(came, cut=cut).out == came


def test_a_held_stream_that_breaks_off_is_sent_as_far_as_it_came() -> None:
    came = text_stream(BROKEN)[:200]
    book = Playbook().ask(asked(stream=True))
    book.tell(UpstreamHead(200, SSE))
    book.tell(UpstreamData(came))
    book.tell(UpstreamFailed(Failure("unavailable", "the connection broke")))
    assert book.out.startswith(came)


def test_a_streamed_call_passes_as_it_comes() -> None:
    came = native_stream(("c1", "get_weather", '{"city": "Oslo"}'))
    assert Playbook().ask(asked(stream=True)).answer(came, cut=9).out == came


def read_stream(out: bytes) -> str:
    events = [line[6:] for line in out.decode().splitlines() if line.startswith("data: {")]
    chunks = [json.loads(event)["choices"] for event in events]
    return "".join(c[0]["delta"].get("content") or "" for c in chunks if c)


def test_an_error_of_the_upstream_passes() -> None:
    book = Playbook().ask(asked()).answer(b'{"error": "no"}', JSON, status=400)
    assert (book.out, book.record.status) == (b'{"error": "no"}', 400)


def test_a_call_is_no_json_answer() -> None:
    came = whole(None, [call("get_weather", {"city": "Oslo"})], "tool_calls")
    book = Playbook().ask(asked(tools=[WEATHER])).answer(came, JSON)
    assert book.out == came


def test_an_answer_that_breaks_off_is_an_error() -> None:
    book = Playbook().ask(asked())
    book.tell(UpstreamHead(200, JSON))
    book.tell(UpstreamData(whole(BROKEN)[:30]))
    book.tell(UpstreamFailed(Failure("unavailable", "the connection broke")))
    assert book.head is not None
    assert book.head.status == 502


def test_a_request_that_asks_for_no_form_is_not_read() -> None:
    came = whole(BROKEN)
    book = Playbook().ask({"model": "m", "messages": [USER]}).answer(came, JSON)
    assert book.out == came
    assert not marks(book)
    assert not book.logs


REQUESTS = {
    "/v1/responses": {
        "model": "m",
        "input": "How many?",
        "text": {"format": {"type": "json_schema", "name": "city", "schema": SCHEMA}},
    },
    "/api/chat": {"model": "m", "messages": [USER], "format": SCHEMA, "stream": False},
}


def read_text(path: str, answer: dict[str, Any]) -> str:
    if path == "/api/chat":
        return str(answer["message"]["content"])
    message = next(item for item in answer["output"] if item["type"] == "message")
    return str(message["content"][0]["text"])


@pytest.mark.parametrize("path", [*REQUESTS])
def test_every_api_that_has_a_form_is_served(path: str) -> None:
    book = Playbook(path=path).ask(REQUESTS[path])
    sent = json.loads(book.asked[0].body)["response_format"]["json_schema"]["schema"]
    assert sent == SCHEMA
    book.answer(whole(BROKEN), JSON)
    assert json.loads(read_text(path, json.loads(book.out))) == OSLO
    assert marks(book)["x-callwright-edits"] == "2"
