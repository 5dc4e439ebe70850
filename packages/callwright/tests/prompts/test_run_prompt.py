"""All questions of a run begin alike, and what came before stays as it was when results come."""

from __future__ import annotations

from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Message
from callwright.prompts.run_prompt import RunPrompt, add_instructions

TOOLS = ("- find(q: string): Finds.", "- drop(): Drops.")
LINES = st.lists(st.text(min_size=1, max_size=30), max_size=5)


def select(prompt: RunPrompt) -> tuple[Message, ...]:
    return prompt.ask("ask_select", notes="", tools="- find", format="As JSON.")


def plain(prompt: RunPrompt) -> tuple[Message, ...]:
    return prompt.ask("ask_plain", skipped="", query=prompt.query)


def test_the_question_stands_last_behind_request_tools_and_results() -> None:
    prompt = RunPrompt("Find x", TOOLS, ("r1: find() -> 1",), (Message("user", "Hello."),))
    system, earlier, asked = select(prompt)
    assert (system.role, earlier.content, asked.role) == ("system", "Hello.", "user")
    parts = ("Find x", *TOOLS, "r1: find() -> 1", "As JSON.")
    places = [asked.content.index(part) for part in parts]
    assert places == sorted(places)
    assert asked.content.endswith("As JSON.")


@given(LINES, LINES)
def test_a_later_question_begins_with_all_that_the_earlier_one_knew(
    results: list[str], more: list[str]
) -> None:
    """Whichever questions they are, they part only behind the results that both show."""
    before = RunPrompt("Find x", TOOLS, tuple(results))
    after = RunPrompt("Find x", TOOLS, (*results, *more))
    first, second = select(before), plain(after)
    assert first[:-1] == second[:-1], "the system prompt and the conversation are the same"
    pairs = zip(first[-1].content, second[-1].content, strict=False)
    shared = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    known = "\n".join(results)
    assert shared.rstrip("\n").startswith(f"User request: Find x\n\nTools:\n{TOOLS[0]}\n{TOOLS[1]}")
    assert known in shared


def test_a_value_that_the_question_lacks_is_an_error() -> None:
    with pytest.raises(ConfigError, match="missing"):
        RunPrompt("Find x").ask("ask_select", notes="")


def test_without_tools_and_results_it_says_so() -> None:
    asked = plain(RunPrompt("Find x"))[-1].content
    assert "(named with each question)" in asked
    assert "(none yet)" in asked


@pytest.mark.parametrize("instructions", ["", "Be brief.", "{{query}}"])
def test_instructions_stand_behind_the_system_message_word_for_word(instructions: str) -> None:
    messages = select(RunPrompt("Find x", TOOLS))
    system, *rest = add_instructions(messages, instructions)
    assert system.content == messages[0].content + (f"\n\n{instructions}" if instructions else "")
    assert tuple(rest) == messages[1:]


def test_where_no_system_message_stands_none_is_added() -> None:
    messages = (Message("user", "Hello."),)
    assert add_instructions(messages, "Be brief.") == messages
    assert add_instructions((), "Be brief.") == ()
