from __future__ import annotations

from callwright.proxy.apis.anthropic import Messages
from callwright.proxy.apis.translated import (
    Delta,
    Translated,
    chunk_delta,
    read_token_counts,
    whole_delta,
)
from tests.proxy.playbook import text_stream, whole


def test_a_stream_is_translated_the_same_wherever_it_is_cut() -> None:
    stream = text_stream("Hello ", "there")
    results = set()
    for cut in range(0, len(stream), 17):
        writer = Translated(Messages({"stream": True}))
        writer.head(200, {"content-type": "text/event-stream"})
        results.add(writer.feed(stream[:cut]) + writer.feed(stream[cut:]) + writer.end())
    assert len(results) == 1


def test_a_whole_answer_to_a_streaming_client_becomes_a_stream() -> None:
    writer = Translated(Messages({"stream": True}))
    assert writer.head(200, {"content-type": "application/json"})["content-type"].startswith(
        "text/event-stream"
    )
    writer.feed(whole("Hi"))
    made = writer.end()
    assert made.startswith(b"event: message_start")
    assert made.endswith(b"\n\n")
    assert b"message_stop" in made


def test_an_error_page_is_told_in_words() -> None:
    writer = Translated(Messages({}))
    writer.head(502, {"content-type": "text/html"})
    writer.feed(b"<h1>Bad gateway</h1>")
    assert b"Bad gateway" in writer.end()


def test_tokens_are_counted_where_they_are_given() -> None:
    assert read_token_counts(
        {"prompt_tokens": 3, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 2}}
    ) == (
        3,
        4,
        2,
    )
    assert read_token_counts(None) == (0, 0, 0)


def test_what_is_not_there_is_empty() -> None:
    assert chunk_delta({"choices": []}).text == ""
    assert whole_delta({}).finish == "stop"


def test_a_refusal_is_read_whole_and_streamed() -> None:
    said = {"content": None, "refusal": "No."}
    for read, key in ((whole_delta, "message"), (chunk_delta, "delta")):
        made = read({"choices": [{"index": 0, key: said}]})
        assert (made.text, made.refusal, made.shown_text) == ("", "No.", "No.")
    assert Delta(text="Well.", refusal="No.").shown_text == "Well.\n\nNo."
