"""What is given of an answer while it is written is the beginning of the answer that is made of the
whole reply.
"""

from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.grounding import LiveAnswer, finish
from callwright.nouns.protocols import ReplyMode
from callwright.nouns.types import Answer, Reply, ToolResult

QUERY = "How many people live in Paris and in London?"
RESULTS = [
    ToolResult("r1", "city", {"q": "Paris"}, {"name": "Paris", "population": 2_102_650}),
    ToolResult("r2", "city", {"q": "London"}, {"name": "London", "population": 8_866_180}),
]
TEXTS = [
    "Paris has 2,102,650 inhabitants.",
    "London has about 8.9 million. That is more.",
    "In Paris leben 2102650 Menschen.",
    "巴黎有2102650人。",
    'The "city of light", Paris,\nhas 2102650 people.',
    "Paris has 2,102,651 inhabitants.",
    "The mayor is Anne.",
    QUERY,
    "How many people live in Paris",
    "and in London",
    "",
]
_SAID = st.lists(
    st.tuples(st.sampled_from(TEXTS), st.sampled_from([["r1"], ["r2"], [], ["r9"]])),
    min_size=1,
    max_size=4,
)
_Mode = Literal["schema", "text", "words"]


def write(said: list[tuple[str, list[str]]], mode: _Mode, indent: int | None = None) -> str:
    if mode == "text":
        text = " ".join(f"{text} [{', '.join(r)}]" if r else text for text, r in said)
        value = json.dumps({"return_type": "give_answer", "final_answer": text})
        return f"Action: Finish\nAction Input: {value}"
    if mode == "words":
        words = " ".join(text for text, _ in said)
        return json.dumps({"final_answer": words, "missing": []}, indent=indent)
    rows = [{"text": text, "results": r} for text, r in said]
    return json.dumps({"statements": rows, "missing": []}, ensure_ascii=False, indent=indent)


def answer(reply: str, mode: _Mode, facts: LiveAnswer | None = None) -> Answer:
    known = facts.facts if facts is not None else None
    form: ReplyMode = "text" if mode == "text" else "schema"
    dialogue = finish(QUERY, RESULTS, mode=form, facts=known)
    try:
        next(dialogue)
        dialogue.send(Reply(reply))
        while True:
            dialogue.send(Reply("NOT KNOWN"))
    except StopIteration as done:
        made: Answer = done.value
        return made


@given(
    said=_SAID, mode=st.sampled_from(["schema", "text", "words"]), indent=st.sampled_from([None, 1])
)
def test_whatever_is_given_begins_the_answer(
    said: list[tuple[str, list[str]]], mode: _Mode, indent: int | None
) -> None:
    reply, live = write(said, mode, indent), LiveAnswer(QUERY, RESULTS)
    given_ = "".join(live.read(reply[:end]) for end in range(len(reply) + 1))
    assert answer(reply, mode, live).text.startswith(given_)
    assert answer(reply, mode) == answer(reply, mode, live)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("schema", [('ts": ["r1"]}', TEXTS[0]), ('ts": ["r2"]}', f" {TEXTS[1]}")]),
        (
            "text",
            [
                ("habitants. L", TEXTS[0]),
                ("9 million. T", " London has about 8.9 million."),
                ('t is more."}', " That is more."),
            ],
        ),
        (
            "words",
            [
                ("habitants. L", TEXTS[0]),
                ("9 million. T", " London has about 8.9 million."),
                ('t is more.",', " That is more."),
            ],
        ),
    ],
)
def test_a_sentence_is_given_as_soon_as_it_is_whole(
    mode: _Mode, expected: list[tuple[str, str]]
) -> None:
    cited = ["r1"] if mode == "schema" else []
    reply = write([(TEXTS[0], cited), (TEXTS[1], ["r2"] if cited else [])], mode)
    live = LiveAnswer(QUERY, RESULTS)
    came = [(reply[max(0, n - 12) : n], live.read(reply[:n])) for n in range(len(reply) + 1)]
    assert [(end, said) for end, said in came if said] == expected


def test_a_statement_that_the_model_is_asked_about_waits_with_all_behind_it() -> None:
    reply = write(
        [(TEXTS[0], ["r1"]), ("The mayor is Anne.", ["r1"]), (TEXTS[1], ["r2"])], "schema"
    )
    live = LiveAnswer(QUERY, RESULTS)
    assert live.read(reply) == TEXTS[0]
    assert live.read(reply) == ""


def test_a_value_that_is_repaired_without_a_question_is_given_repaired() -> None:
    live = LiveAnswer(QUERY, RESULTS)
    reply = write([("Paris has 2,102,651 inhabitants.", ["r1"])], "schema")
    said = live.read(reply)
    assert "2,102,651" not in said
    assert answer(reply, "schema").text.startswith(said)


@pytest.mark.parametrize("reply", ["Paris is large.", '{"answer": "x"}', '{"statements": "x"}', ""])
def test_nothing_is_given_of_another_form(reply: str) -> None:
    assert LiveAnswer(QUERY, RESULTS).read(reply) == ""


def test_it_knows_what_day_the_conversation_tells() -> None:
    yoga = ToolResult("r1", "list_events", {}, [{"title": "Yoga", "start": "2026-03-13T18:00:00"}])
    live = LiveAnswer("When is yoga?", [yoga], said=["Today is 2026-03-11."])
    reply = json.dumps({"statements": [{"text": "Yoga is in two days.", "results": ["r1"]}]})
    assert live.read(reply) == "Yoga is in two days."
