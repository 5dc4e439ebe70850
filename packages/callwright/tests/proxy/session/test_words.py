"""What has words after results, and what of a stream waits for that."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.proxy.session import words
from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import USER, body, call

RESULT = '{"city": "Paris", "temperature": 21.0, "sky": {"rain": false, "wind": "5 m/s"}}'
ASKED = {
    "en": ("What is the weather in Paris?", "It is 21 degrees in Paris."),
    "de": ("Wie ist das Wetter in Paris?", "In Paris sind es 21 Grad."),
    "es": ("¿Qué tiempo hace en París?", "Hace 21 grados en París."),
    "zh": ("巴黎天气怎么样？", "巴黎现在21度。"),
    "ar": ("كيف الطقس في باريس؟", "درجة الحرارة في باريس 21."),
}


def after_results(asked: str = "Weather?", **more: Any) -> Context:
    messages = [
        {"role": "user", "content": asked},
        {"role": "assistant", "content": None, "tool_calls": [call("get_weather", {"days": 3})]},
        {"role": "tool", "tool_call_id": "c1", "content": RESULT},
    ]
    messages[:0] = more.pop("before", [])
    found = read_context(body(messages=messages, **more), b"x", Toolsets(), Settings())
    assert found is not None
    return found


def test_a_conversation_that_ends_in_a_result_awaits_words() -> None:
    assert words.is_after_results(after_results())
    found = read_context(body(), b"x", Toolsets(), Settings())
    assert found is not None
    assert not words.is_after_results(found)


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ({"role": "user", "content": "<system-reminder>Keep your list.</system-reminder>"}, True),
        ({"role": "system", "content": "Be brief."}, True),
        ({"role": "user", "content": "And in Rome?"}, False),
    ],
)
def test_what_a_client_adds_behind_results_opens_no_turn(last: Any, *, expected: bool) -> None:
    found = after_results()
    found.body["messages"].append(last)
    assert words.is_after_results(found) is expected


def test_a_result_whose_call_was_trimmed_awaits_words() -> None:
    lost = {"role": "user", "content": f"Earlier tool result of get_weather: {RESULT}"}
    asked = {"role": "user", "content": "And in Rome?"}
    for messages, expected in (([USER, lost], True), ([USER, lost, asked], False)):
        found = read_context(body(messages=messages), b"x", Toolsets(), Settings())
        assert found is not None
        assert words.is_after_results(found) is expected


@pytest.mark.parametrize("text", ["{}{}", "[]\n\n[]", '""', "{", "```"])
def test_marks_without_a_word_wait_to_the_end_of_a_stream(text: str) -> None:
    watch = words.WordsWatch()
    for place, sign in enumerate(text):
        watch.feed(sign, place)
    assert not watch.has_words
    assert watch.held_from == 0
    watch.feed(" Hello", len(text))
    assert watch.has_words


@pytest.mark.parametrize("language", ASKED)
@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "{}",
        "[]",
        "null",
        "{",
        "```",
        "```json\n{}\n```",
        '{"result": {}}',
        '{"answer": ""}',
        RESULT,
        '{"temperature": 21}',
        '[{"wind": "5 m/s"}]',
        "{'city': 'Paris'}",
        '{"name": "get_weather", "arguments": {"days": 3}}',
    ],
)
def test_empty_json_and_echoes_of_results_and_calls_are_no_words(text: str, language: str) -> None:
    assert words.is_wordless(text, after_results(ASKED[language][0]))


@pytest.mark.parametrize("language", ASKED)
def test_sentences_are_words_in_every_language(language: str) -> None:
    asked, said = ASKED[language]
    assert not words.is_wordless(said, after_results(asked))
    assert not words.is_wordless(f'{{"answer": "{said}"}}', after_results(asked))


@pytest.mark.parametrize("text", ["21", '"5 m/s"', "[1] says so", "{x} {y}", '{"a": 1, "b', "👍"])
def test_what_may_be_an_answer_is_left_alone(text: str) -> None:
    assert not words.is_wordless(text, after_results())


def test_who_asks_for_json_gets_json() -> None:
    wanted = {"response_format": {"type": "json_object"}}
    for text in (RESULT, "{}", ""):
        assert not words.is_wordless(text, after_results(**wanted))
    assert not words.is_wordless(RESULT, after_results("Give me the raw JSON."))
    assert not words.is_wordless("{}", after_results("只要JSON"))
    system = {"before": [{"role": "system", "content": "Answer as JSON."}]}
    assert not words.is_wordless(RESULT, after_results(**system))
    assert words.is_wordless("{}", after_results(**system))
    assert words.is_wordless(RESULT, after_results(response_format={"type": "text"}))


def test_a_token_that_others_wrote_is_named_and_the_models_own_is_not() -> None:
    context = after_results("What does <|IM_start|> mean?")
    assert words.is_named("<|im_start|>", context)
    assert words.is_named("<|im_start|>assistant", context)
    assert not words.is_named("<|im_end|>", context)
    before = [USER, {"role": "assistant", "content": "Done.<|im_end|>"}]
    assert not words.is_named("<|im_end|>", after_results(before=before))


def test_a_cleaned_text_lists_what_was_removed() -> None:
    shown, edits = words.clean_text("Done.<|im_end|>", after_results())
    assert shown == "Done."
    assert [(e.path, e.before, e.after, e.rule) for e in edits] == [
        ("/content", "<|im_end|>", None, "template_token")
    ]


def watched(*pieces: str) -> words.WordsWatch:
    watch, place = words.WordsWatch(), 0
    for piece in pieces:
        watch.feed(piece, place)
        place += len(piece)
    return watch


@pytest.mark.parametrize("first", ["It", "21", "¿", "巴", "د", "*", "nu m", "[Note", "{x", "[1"])
def test_words_wait_for_nothing(first: str) -> None:
    watch = watched(" ", first)
    assert watch.has_words
    assert watch.held_from is None


@pytest.mark.parametrize(
    "text", ["{", '{"a": "}{', "{}", '{"a": [1]}\n', "```json\n{", "[", '["\\"]', "nul", "``"]
)
def test_json_waits_from_its_beginning(text: str) -> None:
    for watch in (watched("\n ", text), watched("\n ", *text)):
        assert watch.held_from == 2
        assert not watch.has_words


@pytest.mark.parametrize("text", ['{"a": 1} is it.', "```json\n{}\n```\nSo", "[]x", "{} [1]"])
def test_json_before_words_waits_until_they_come(text: str) -> None:
    assert watched(*text).has_words


@given(st.text(alphabet='{}[]",:\\ `\na1null', max_size=30), st.integers(0, 30))
def test_what_waits_does_not_depend_on_the_pieces(text: str, cut: int) -> None:
    by_char, in_two = watched(*text), watched(text[:cut], text[cut:])
    if not by_char.has_words:
        assert in_two.held_from == by_char.held_from


JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner)),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=4), JSON_VALUES, max_size=3), st.integers(0, 60))
def test_an_object_waits_to_its_end_wherever_it_is_cut(value: Any, cut: int) -> None:
    for text in (json.dumps(value), json.dumps(value, indent=2, ensure_ascii=False)):
        assert not watched(text[:cut], text[cut:]).has_words
        assert not watched(*text).has_words
        assert watched(*text, "\nSo").has_words


@given(
    st.lists(
        st.sampled_from(
            [
                "Which",
                " date?",
                "\n",
                "  ",
                "{",
                "}",
                "<|im_",
                "end|>",
                "<tool_response>",
                "你好",
                "null",
            ]
        )
        | st.just(
            '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
        ),
        max_size=8,
    )
)
def test_words_that_are_given_begin_the_whole_text(pieces: list[str]) -> None:
    found = read_context(body(), b"x", Toolsets(), Settings())
    assert found is not None
    live, said, so_far = words.LiveWords(found), "", ""
    for sign in "".join(pieces):
        so_far += sign
        said += live.read(so_far)
    assert said == live.said
    assert live.close(so_far).startswith(said)
    assert "get_weather" not in said
    if "<tool_call>" not in so_far:  # else the halves of a token may stand around a call
        assert "im_end" not in said


def test_words_are_given_at_once_and_what_may_be_none_is_not() -> None:
    found = read_context(body(), b"x", Toolsets(), Settings())
    assert found is not None
    live = words.LiveWords(found)
    assert [live.read(text) for text in ("Which", "Which date", "Which date?")] == [
        "Which",
        " date",
        "?",
    ]
    empty = words.LiveWords(found)
    assert [empty.read(text) for text in ("{", "{}")] == ["", ""]
