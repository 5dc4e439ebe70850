"""The questions of the Finish step, as they are put."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.grounding.answer.questions import Questions, Words
from callwright.grounding.answer.reply import WORDS, Draft
from callwright.grounding.grounding_result import GroundingResult
from callwright.grounding.index import facts_of
from callwright.nouns.types import Reply, ToolResult
from callwright.prompts.run_prompt import RunPrompt

QUERY = "How many people live in Paris?"
PARIS = ToolResult("r1", "population", {"city": "Paris"}, {"people": 2_102_650})
EMPTY = ToolResult("r2", "population", {"city": "Atlantis"}, {})
FACTS = facts_of(QUERY, [PARIS, EMPTY], ())
RUN = RunPrompt(QUERY, ("- population(city: string)",), ("r1: population() -> 2",))
DRAFT, WRONG = Draft("Paris has 9 mayors."), GroundingResult("unsupported", ["9 stands nowhere"])
HEARD = Reply("Paris has 9 mayors.")


@pytest.mark.parametrize("mode", ["schema", "native", "text"])
def test_alone_a_question_holds_its_own_summary(mode: Any) -> None:
    asked = Questions(FACTS, mode).ask_answer(6_000)
    assert "2102650" in asked.messages[-1].content.replace(",", "")
    schema = asked.schema or (asked.tools[0].input_schema if asked.tools else None)
    if schema is not None:
        cited = schema["properties"]["statements"]["items"]["properties"]["results"]
        assert cited["items"]["enum"] == ["r1", "r2"]


def test_of_a_run_every_question_stands_behind_what_all_questions_share() -> None:
    questions = Questions(FACTS, "schema", RUN)
    first = questions.ask_answer(6_000)
    for asked, mark in (
        (first, "you cannot call tools any more"),
        (questions.ask_plainly(200), "State the answer as a fact"),
        (questions.ask_again(first, Reply("{}")), "it holds no statement"),
        (questions.ask_restatement(DRAFT, WRONG, first, HEARD), "9 stands nowhere"),
    ):
        assert mark in asked.messages[-1].content
        head = asked.messages[1].content
        assert head.startswith(f"User request: {QUERY}\n\nTools:\n- population(city: string)")
        assert "EXECUTION SUMMARY" not in head


@pytest.mark.parametrize("has_written", [True, False])
def test_in_words_the_language_is_named_and_what_was_only_looked_up(has_written: bool) -> None:
    questions = Questions(FACTS, "schema", words=Words("Arabic", has_written))
    asked = questions.ask_answer(6_000)
    told = asked.messages[-1].content
    assert "in Arabic" in told
    assert "What was found: " in told, "a call came back with nothing"
    assert ("lookups" in told) is not has_written
    assert asked.schema == WORDS
    again = questions.ask_restatement(DRAFT, WRONG, asked, HEARD)
    assert (again.schema, again.stop) == (WORDS, ())
    text = Questions(FACTS, "text", words=Words("Arabic", has_written))
    assert text.ask_answer(6_000).schema is None
    assert text.ask_restatement(DRAFT, WRONG, asked, HEARD).stop == ("\n\n",)
