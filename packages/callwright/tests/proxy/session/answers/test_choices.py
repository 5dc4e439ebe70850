from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.proxy.session.answers.choices import StreamedChoices, WholeChoices
from tests.proxy.playbook import call, cut_at, whole

ENDS = ("stop", "tool_calls")
RIGHT = call("get_weather", {"city": "Paris"})


def document(*messages: Any, **more: Any) -> bytes:
    """A chat completion with these choices."""
    choices = [
        {"index": n, "message": said, "finish_reason": ENDS[bool(said and "tool_calls" in said)]}
        for n, said in enumerate(messages)
    ]
    return json.dumps({"id": "x1", "model": "m", "choices": choices, **more}).encode()


def event(*choices: tuple[int, Any, str | None], **more: Any) -> bytes:
    """An event with (index, delta, finish reason) for each of its choices."""
    made = [{"index": n, "delta": delta, "finish_reason": end} for n, delta, end in choices]
    head = {"id": "x1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**head, "choices": made, **more}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def read(*pieces: bytes, cut: int | None = None) -> StreamedChoices:
    made = StreamedChoices()
    for piece in cut_at(b"".join(pieces), cut):
        made.feed(piece)
    return made


def test_each_choice_is_a_completion_of_its_own_and_the_others_stay() -> None:
    data = document({"content": "a"}, {"content": "b"}, usage={"total_tokens": 3})
    choices = WholeChoices(data)
    parts = choices.parts
    assert list(parts) == [0, 1]
    alone = json.loads(parts[1])
    assert [c["index"] for c in alone["choices"]] == [0]
    assert alone["choices"][0]["message"] == {"content": "b"}
    made = json.loads(choices.write({1: whole("c")}))
    assert [c["message"]["content"] for c in made["choices"]] == ["a", "c"]
    assert [c["index"] for c in made["choices"]] == [0, 1]
    assert made["usage"] == {"total_tokens": 3}


@pytest.mark.parametrize("data", [b"", b"<html>", b'{"choices": 3}', b'{"choices": [3]}'])
def test_what_is_no_completion_has_no_choices(data: bytes) -> None:
    assert WholeChoices(data).parts == {}


TWO = [
    event((0, {"role": "assistant", "content": ""}, None)),
    event((1, {"role": "assistant", "content": None}, None)),
    event((0, {"content": "It "}, None), (1, {"tool_calls": [{"index": 0, **RIGHT}]}, None)),
    event((0, {"content": "rains."}, None)),
    event((1, {}, "tool_calls"), usage={"total_tokens": 7}),
    event((0, {}, "stop")),
    b": comment\n\n",
    event(usage={"total_tokens": 9}),
    DONE,
]


@pytest.mark.parametrize("cut", [None, 0, 333])
def test_the_choices_of_a_stream_are_gathered(cut: int | None) -> None:
    choices = read(*TWO, cut=cut)
    assert choices.is_complete
    first, second = (json.loads(part)["choices"][0] for part in choices.parts.values())
    assert first["message"] == {"role": "assistant", "content": "It rains."}
    assert first["finish_reason"] == "stop"
    assert second["message"]["tool_calls"] == [RIGHT]
    assert (second["index"], second["finish_reason"]) == (0, "tool_calls")


def test_only_the_events_of_a_changed_choice_are_written_again() -> None:
    out = read(*TWO).write({1: whole("No.")})
    assert TWO[0] in out
    assert TWO[1] not in out
    assert TWO[3] in out
    assert out.startswith(TWO[0] + b"data: {"), "what is new stands where the other began"
    assert out.endswith(b"".join(TWO[5:]))
    made = read(out)
    assert made.is_complete
    found = [json.loads(part)["choices"][0] for part in made.parts.values()]
    assert [c["message"]["content"] for c in found] == ["It rains.", "No."]
    assert [c["finish_reason"] for c in found] == ["stop", "stop"]
    assert not any("tool_calls" in c["message"] for c in found)
    assert out.count(b'"total_tokens"') == 2, "counts that came with an event stay"


def test_calls_of_a_changed_choice_have_their_places() -> None:
    calls = [call("get_weather", {"city": city}, city) for city in ("Rome", "Bern")]
    out = read(*TWO).write({0: whole(None, calls, "tool_calls"), 1: whole("x")})
    first = json.loads(read(out).parts[0])["choices"][0]
    assert first["message"]["tool_calls"] == calls
    assert first["finish_reason"] == "tool_calls"


def test_a_stream_is_complete_with_every_finish_or_its_mark() -> None:
    assert read(*TWO[:6]).is_complete
    assert not read(*TWO[:5]).is_complete
    assert not read().is_complete
    marked = read(*TWO[:4], DONE)
    assert marked.is_complete
    ends = [json.loads(part)["choices"][0]["finish_reason"] for part in marked.parts.values()]
    assert ends == ["stop", "tool_calls"]


def test_an_error_is_kept_and_the_answer_is_none() -> None:
    error = b'data: {"error": {"message": "out of memory"}}\n\n'
    choices = read(*TWO[:4], error, DONE)
    assert not choices.is_complete
    assert choices.error == error


def test_a_custom_call_is_gathered_as_one() -> None:
    first = {"index": 0, "id": "k1", "type": "custom", "custom": {"name": "patch", "input": "a"}}
    rest = {"index": 0, "custom": {"input": "b"}}
    choices = read(
        event((0, {"tool_calls": [first]}, None)), event((0, {"tool_calls": [rest]}, "tool_calls"))
    )
    message = json.loads(choices.parts[0])["choices"][0]["message"]
    assert message["tool_calls"][0]["custom"] == {"name": "patch", "input": "ab"}
