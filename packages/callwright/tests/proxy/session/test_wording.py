"""A user who would get no words after results gets some: asked for again, else from the results."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.proxy.session.events import CloseUpstream, UpstreamData, UpstreamEnd, UpstreamHead
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import (
    JSON,
    SSE,
    Playbook,
    assembled,
    body,
    call,
    chunk,
    native_stream,
    text_stream,
    whole,
)

ASKED = {
    "en": ("What is the weather in Paris?", "It is 21 degrees in Paris."),
    "de": ("Wie ist das Wetter in Paris?", "In Paris sind es 21 Grad."),
    "es": ("¿Qué tiempo hace en París?", "Hace 21 grados en París."),
    "zh": ("巴黎天气怎么样？", "巴黎现在21度。"),
    "ar": ("كيف الطقس في باريس؟", "درجة الحرارة في باريس 21."),
}
RESULT = '{"city": "Paris", "temperature": 21}'
WORDLESS = ("", "{}", RESULT, "<tool_response>\n{}\n</tool_response>", "</tool_call>", "null\n")


def request(stream: bool = True, asked: str = ASKED["en"][0], **more: Any) -> dict[str, Any]:
    messages = [
        {"role": "user", "content": asked},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call("get_weather", {"city": "Paris"})],
        },
        {"role": "tool", "tool_call_id": "c1", "content": RESULT},
    ]
    return body(stream, messages=messages, **more)


def upstream_says(text: str, stream: bool, size: int = 3, finish: str = "stop") -> bytes:
    if not stream:
        return whole(text, finish=finish)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return text_stream(*pieces, finish=finish)


def talk(text: str, stream: bool, *more: str, setting: Settings | None = None, **asked: Any) -> Any:
    book = Playbook(setting).ask(request(stream, **asked))
    book.answer(upstream_says(text, stream), SSE if stream else JSON)
    for said in more:
        book.answer(whole(said), JSON)
    assert not book.faults
    assert book.finished is not None
    return book


def said_to_client(book: Playbook, stream: bool) -> str:
    if stream:
        return str(assembled(book.out)["text"])
    return str(json.loads(book.out)["choices"][0]["message"]["content"])


def rules(book: Playbook) -> list[str]:
    return [edit.rule for edit in book.record.edits]


@pytest.mark.parametrize("language", ASKED)
@pytest.mark.parametrize("text", WORDLESS)
@pytest.mark.parametrize("stream", [True, False])
def test_the_upstream_is_asked_once_more_for_words(stream: bool, text: str, language: str) -> None:
    asked, said = ASKED[language]
    book = talk(text, stream, f"{said}<|im_end|>", asked=asked)
    assert said_to_client(book, stream).strip() == said
    assert rules(book)[-1] == "answer_in_words"
    assert book.record.outcome == "edited"
    question = json.loads(book.asked[1].body)
    assert "tools" not in question
    assert question["messages"][:3] == request(asked=asked)["messages"]


@pytest.mark.parametrize("language", ASKED)
@pytest.mark.parametrize("stream", [True, False])
def test_a_right_answer_passes_byte_for_byte_and_at_once(stream: bool, language: str) -> None:
    asked, said = ASKED[language]
    answer = upstream_says(said, stream)
    book = Playbook().ask(request(stream, asked=asked)).answer(answer, SSE if stream else JSON)
    assert book.out == answer
    assert len(book.asked) == 1
    if not stream:
        return
    book = Playbook().ask(request(asked=asked))
    book.tell(UpstreamHead(200, SSE))
    for piece in said:
        event = chunk({"content": piece})
        before = len(book.out)
        book.tell(UpstreamData(event))
        assert book.out[before:] == event


@pytest.mark.parametrize("stream", [True, False])
def test_json_with_words_of_its_own_passes_byte_for_byte(stream: bool) -> None:
    for text in ('{"answer": "It is warm."}', "{21} degrees", '{"city": "Paris"} is what I found.'):
        answer = upstream_says(text, stream)
        book = Playbook().ask(request(stream)).answer(answer, SSE if stream else JSON)
        assert book.out == answer, text


@pytest.mark.parametrize("text", ["{}", ""])
@pytest.mark.parametrize("stream", [True, False])
def test_without_words_again_the_results_speak(stream: bool, text: str) -> None:
    book = talk("{}", stream, text)
    said = said_to_client(book, stream)
    assert said == "get_weather(city: Paris): city: Paris, temperature: 21"
    assert "asked for an answer in words, without one" in book.record.notes


def test_results_that_failed_are_told_as_such() -> None:
    asked = request(False)
    asked["messages"][-1]["content"] = "Error: 503 Service Unavailable"
    book = Playbook().ask(asked).answer(whole("{}"), JSON).answer(whole("{}"), JSON)
    said = said_to_client(book, stream=False)
    assert said.startswith("I could not answer this from the tools' results")
    assert "503" in said


@pytest.mark.parametrize("stream", [True, False])
def test_without_a_budget_nobody_is_asked(stream: bool) -> None:
    book = talk("{}", stream, setting=Settings(guided="off", reasks=0))
    assert "get_weather" in said_to_client(book, stream)
    assert len(book.asked) == 1


def test_an_answer_that_was_cut_off_before_its_first_word_is_not_asked_for_again() -> None:
    book = Playbook().ask(request(False)).answer(whole("", finish="length"), JSON)
    assert "get_weather" in said_to_client(book, False)
    assert json.loads(book.out)["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize("stream", [True, False])
def test_a_refusal_and_a_filtered_answer_pass(stream: bool) -> None:
    filtered = upstream_says("", stream, finish="content_filter")
    if stream:
        refusal = chunk({"role": "assistant", "refusal": "No."}) + text_stream()
    else:
        document = json.loads(whole(None))
        document["choices"][0]["message"]["refusal"] = "No."
        refusal = json.dumps(document).encode()
    for answer in (filtered, refusal):
        book = Playbook().ask(request(stream)).answer(answer, SSE if stream else JSON)
        assert book.out == answer


def test_a_call_after_results_is_no_answer_without_words() -> None:
    stream = native_stream(("c2", "get_weather", '{"city": "Rome"}'))
    book = Playbook().ask(request()).answer(stream)
    assert len(book.asked) == 1
    assert [c["name"] for c in book.message["calls"]] == ["get_weather"]


def test_reasoning_goes_out_at_once_and_stays() -> None:
    text = "<think>It is {} now.</think>\n{}"
    book = talk(text, True, "It is 21 degrees.")
    said = said_to_client(book, True)
    assert said.split() == ["<think>It", "is", "{}", "now.</think>", "It", "is", "21", "degrees."]
    book = talk(text, False, "It is 21 degrees.")
    assert said_to_client(book, False).split() == said.split()


def test_an_empty_answer_where_no_result_is_passes() -> None:
    for text in ("", "{}"):
        answer = text_stream(text) if text else text_stream()
        book = Playbook().ask(body()).answer(answer)
        assert book.out == answer


def test_a_stream_is_closed_before_words_are_asked_for_and_ends_as_a_stream() -> None:
    book = Playbook().ask(request())
    book.tell(UpstreamHead(200, SSE))
    book.tell(UpstreamData(text_stream("{}")))
    assert book.closed == 1
    assert json.loads(book.asked[1].body)["stream"] is False
    book.answer(whole("It is warm."), JSON)
    assert book.out.endswith(b"data: [DONE]\n\n")
    assert assembled(book.out)["text"] == "It is warm."


def test_withheld_calls_are_never_explained_with_empty_json() -> None:
    stream = native_stream(("c9", "get_weather", '{"city": "Paris"}'))
    book = Playbook().ask(request()).answer(stream).answer(whole("{}<|im_end|>"), JSON)
    said = assembled(book.out)["text"]
    assert ("/content", "<|im_end|>", None, "template_token") in [
        (e.path, e.before, e.after, e.rule) for e in book.record.edits
    ]
    assert "already" in said
    assert "{}" not in said
    assert not assembled(book.out)["calls"]


SPLIT = st.sampled_from(
    (
        "<tool_response>\n{}\n</tool_response>",
        RESULT,
        "It is 21.<|im_end|>\n<|im_start|>user\nThanks",
        "<|im_start|>assistant\nIt is {21} `</tool_call>` here.</tool_call>",
        '{"city": "Paris"} <|eot_id|> is it',
        "<think>{}</think> [] <|end",
        "```json\n{}\n```",
    )
)


@settings(deadline=None)
@given(SPLIT, st.integers(1, 9), st.lists(st.integers(1, 5_000), max_size=6))
def test_any_split_of_the_same_stream_gives_the_same_bytes(
    text: str, size: int, cuts: list[int]
) -> None:
    data = upstream_says(text, True, size)
    outs = []
    for places in ([], sorted({cut for cut in cuts if cut < len(data)}), range(1, len(data))):
        book = Playbook().ask(request())
        book.tell(UpstreamHead(200, SSE))
        last = 0
        for at in [*places, len(data)]:
            if not book.closed:
                book.tell(UpstreamData(data[last:at]))
            last = at
        if book.closed:
            book.answer(whole("It is 21 degrees."), JSON)
        else:
            book.tell(UpstreamEnd())
        assert not book.faults
        outs.append((book.out, rules(book)))
    assert outs[0] == outs[1] == outs[2]


def test_the_question_ends_the_upstreams_answer_first() -> None:
    book = Playbook().ask(request())
    book.tell(UpstreamHead(200, SSE))
    commands = book.tell(UpstreamData(text_stream("null")))
    assert isinstance(commands[-2], CloseUpstream)
