"""The answer's text while it is written: always its beginning, from whatever thread, and its end."""

from __future__ import annotations

from typing import Any

from callwright.agent.answer_text import AnswerText
from callwright.agent.run_events import AnswerDelta, AnswerRestarted
from callwright.grounding import LiveAnswer
from callwright.nouns.types import ToolResult
from callwright.tools.python.functions import run_in_thread

RESULTS = (ToolResult("r1", "population", {}, {"city": "Oslo", "people": 717710}),)
FIRST = '{"statements": [{"text": "717710 people live in Oslo.", "results": ["r1"]}'


def begun(redact: Any = lambda text: text) -> tuple[AnswerText, list[Any]]:
    told: list[Any] = []
    text = AnswerText(told.append, redact)
    text.begin(LiveAnswer("How many people live in Oslo?", RESULTS))
    return text, told


async def test_a_statement_is_told_when_it_is_whole() -> None:
    text, told = begun()
    with text.reading() as take:
        take(FIRST[:40])
        assert told == []
        take(FIRST[40:])
        assert told == [AnswerDelta("717710 people live in Oslo.")]
    text.end("717710 people live in Oslo. More.")
    assert told[1:] == [AnswerDelta(" More.")]
    text.end("717710 people live in Oslo. More.")
    assert len(told) == 2


async def test_pieces_of_another_thread_are_told_in_this_one() -> None:
    text, told = begun()
    with text.reading() as take:
        await run_in_thread(lambda: take(FIRST))
        await run_in_thread(lambda: None)  # what the loop was handed has run
        assert told == [AnswerDelta("717710 people live in Oslo.")]


async def test_another_answer_takes_the_place_of_what_was_told() -> None:
    text, told = begun()
    with text.reading() as take:
        take(FIRST)
    text.end("Nothing is known.")
    assert told[1:] == [AnswerRestarted(), AnswerDelta("Nothing is known.")]
    text.begin(LiveAnswer("?", RESULTS))
    assert told[-1] == AnswerRestarted()


async def test_a_secret_is_removed_before_anything_is_told() -> None:
    text, told = begun(lambda said: said.replace("Oslo", "[secret]"))
    with text.reading() as take:
        take(FIRST)
    assert "Oslo" not in str(told)
