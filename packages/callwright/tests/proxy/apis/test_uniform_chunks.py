from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.jsontext import parse
from callwright.proxy.apis.uniform_chunks import Alike, uniform_chunks
from tests.proxy.playbook import chunk


def learned(event: bytes) -> Alike:
    found = uniform_chunks(event, parse(event[6:]))
    assert found is not None
    return found


@given(st.lists(st.text(), min_size=1, max_size=8), st.booleans(), st.binary(max_size=20))
def test_events_are_read_as_a_json_parser_reads_them_or_not_at_all(
    texts: list[str], escaped: bool, rest: bytes
) -> None:
    known = learned(chunk({"content": "It "}))
    made = [chunk({"content": text}) for text in texts]
    if escaped:
        made = [b"data: " + json.dumps(parse(e[6:])).encode() + b"\n\n" for e in made]
    size, read, raws = known.read(b"".join(made) + rest)
    assert read == texts[: len(read)]
    events = known.events(raws)
    assert events == made[: len(read)]
    assert size == sum(map(len, events))


def test_everything_up_to_the_first_event_that_differs_is_taken() -> None:
    known = learned(chunk({"content": "a"}))
    words = [chunk({"content": w}) for w in ("b", 'q"\\\n', "")]
    other = chunk({"tool_calls": []})
    size, texts, raws = known.read(b"".join([*words, other, *words]))
    assert (texts, known.events(raws)) == (["b", 'q"\\\n', ""], words)
    assert size == len(b"".join(words))
    assert known.read(b"".join(words)[:-1])[1] == [
        "b",
        'q"\\\n',
    ], "an event whose end has not come is not taken"
    assert known.read(other) == (0, [], [])


def test_reasoning_is_told_from_text() -> None:
    assert learned(chunk({"reasoning_content": "hm"})).reasoning
    assert not learned(chunk({"role": "assistant", "content": "hm"})).reasoning


@pytest.mark.parametrize(
    "event",
    [
        chunk({"content": "x"}, "stop"),
        chunk({"content": "x", "reasoning_content": "y"}),
        chunk({"content": "x", "tool_calls": [{"index": 0}]}),
        chunk({"content": ""}),
        chunk({"refusal": "x"}),
        chunk({"content": "x"}, error={"message": "m"}),
        chunk({"content": "x"}, content="y"),
        b'data: {"choices": [{"index": 0, "delta": {"content": "\\u00e9"}}]}\n\n',
        b'data: {"content": "x", "choices": [{"index": 0, "delta": {"c\\u006fntent": "x"}}]}\n\n',
    ],
)
def test_an_event_that_is_more_than_text_teaches_nothing(event: bytes) -> None:
    # (A text written with \\u is one that other events may have without; it is simply not learned
    # from.)
    assert uniform_chunks(event, parse(event[6:])) is None


def test_bytes_that_are_no_utf8_are_left_to_others() -> None:
    known = learned(chunk({"content": "a"}))
    assert known.read(chunk({"content": "Z"}).replace(b"Z", b"\xff"))[1] == []
