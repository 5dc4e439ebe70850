"""Leftovers of a chat template in an answer, and answers that are no words."""

from __future__ import annotations

import json

import pytest

from callwright.grounding import LiveAnswer, Words, write_answer
from callwright.grounding.answer.cleaning import DraftCleaner
from callwright.grounding.answer.reply import Draft
from callwright.grounding.index import facts_of
from callwright.nouns.types import Answer, Reply, ToolResult

RESULTS = [ToolResult("r1", "get_weather", {"city": "Paris"}, {"city": "Paris", "celsius": 21})]
ASKED = {
    "How warm is it in Paris?": "It is 21 degrees in Paris.",
    "Wie warm ist es in Paris?": "In Paris sind es 21 Grad.",
    "¿Qué temperatura hace en París?": "En París hace 21 grados.",
    "巴黎现在多少度？": "巴黎现在21度。",
    "كم درجة الحرارة في باريس؟": "درجة الحرارة في باريس 21.",
}


def finish(query: str, reply: str, *, in_words: bool) -> Answer:
    words = Words("English", has_written=False) if in_words else None
    steps, left = write_answer(query, RESULTS, mode="schema", words=words), [reply] * 4
    try:
        next(steps)
        while True:
            steps.send(Reply(left.pop()))
    except StopIteration as end:
        return end.value.answer


def form(text: str, *, in_words: bool) -> str:
    if in_words:
        return json.dumps({"final_answer": text})
    return json.dumps({"statements": [{"text": text, "results": ["r1"]}], "missing": []})


@pytest.mark.parametrize("in_words", [True, False])
@pytest.mark.parametrize(
    "leftover",
    ["<|im_end|>", "<|im_end|>\n<|im_start|>user\nThanks!", "<|eot_id|>", "</tool_call>"],
)
@pytest.mark.parametrize("query", ASKED)
def test_leftovers_are_removed_and_listed(query: str, leftover: str, *, in_words: bool) -> None:
    said = ASKED[query]
    answer = finish(query, form(f"{said}{leftover}", in_words=in_words), in_words=in_words)
    assert answer.text == said
    assert {edit.rule for edit in answer.edits} == {"template_token"}


@pytest.mark.parametrize("in_words", [True, False])
@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "null", '{"city": "Paris", "celsius": 21}', "<tool_response>{}</tool_response>"],
)
@pytest.mark.parametrize("query", ASKED)
def test_data_is_no_answer_and_what_was_found_is_quoted(
    query: str, text: str, *, in_words: bool
) -> None:
    answer = finish(query, form(text, in_words=in_words), in_words=in_words)
    assert "get_weather(city: Paris): city: Paris, celsius: 21" in answer.text
    assert "{" not in answer.text


def test_who_asks_for_json_gets_it() -> None:
    asked = "Give me the weather of Paris as JSON."
    text = '{"city": "Paris", "celsius": 21}'
    assert text in finish(asked, form(text, in_words=True), in_words=True).text


def test_a_token_that_somebody_names_is_meant() -> None:
    said = "The token <|im_end|> ends a turn."
    draft = Draft(said)
    cleaner = DraftCleaner(facts_of("What does <|im_end|> do?", RESULTS, ()))
    assert cleaner.clean_draft(draft) is draft
    assert cleaner.list_edits() == []


def test_what_is_given_while_it_is_written_is_clean_too() -> None:
    query, said = next(iter(ASKED.items()))
    reply = form(f"{said}<|im_end|>\n<|im_start|>user\nMore.", in_words=False)
    live = LiveAnswer(query, RESULTS)
    given = "".join(live.read(reply[:end]) for end in range(1, len(reply) + 1))
    assert given == said


@pytest.mark.parametrize("in_words", [True, False])
@pytest.mark.parametrize("query", ASKED)
def test_a_sentence_is_said_once_however_often_it_is_written(query: str, *, in_words: bool) -> None:
    said = ASKED[query]
    answer = finish(query, form(" ".join([said] * 30), in_words=in_words), in_words=in_words)
    assert answer.text == said
    assert [(edit.rule, edit.before) for edit in answer.edits] == [("answer.repeated", said)]


def test_statements_that_are_alike_are_one_and_lines_that_are_alike_stay() -> None:
    one = {"text": "It is 21 degrees in Paris.", "results": ["r1"]}
    reply = json.dumps({"statements": [one, one, one], "missing": []})
    assert finish("How warm is it in Paris?", reply, in_words=False).text == one["text"]
    cleaner = DraftCleaner(facts_of("Sing!", RESULTS))
    lines = [Draft("Row, row, row your boat", (), glue) for glue in ("", "\n", "\n", " ")]
    assert [cleaner.clean_draft(line) is not None for line in lines] == [True, True, True, False]


def test_while_it_is_written_a_sentence_is_said_once_as_well() -> None:
    said = "It is 21 degrees in Paris."
    live = LiveAnswer("How warm is it in Paris?", RESULTS)
    whole = json.dumps({"final_answer": f"{said} {said} {said}"})
    shown = "".join(live.read(whole[:end]) for end in range(1, len(whole) + 1))
    assert shown == said
