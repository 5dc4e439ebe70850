"""Three turns, three passages, the refiner only where there is no answer."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message, Reply, Usage
from callwright_lab.benchmarks.search.corpus import Corpus, Passage, Question
from callwright_lab.benchmarks.search.protocol import (
    QueryRefiner,
    Searched,
    close_tag,
    extract_strict_query,
    model_query,
    normalise_answer,
    rules_query,
    run_protocol,
    score_answer,
)

CORPUS = Corpus([Passage(f"P{n}", f"graz fact number {n}") for n in range(5)])


def play(
    replies: list[str | Reply], refiner: QueryRefiner | None = None
) -> tuple[Searched, list[ChatRequest]]:
    talk, asked = run_protocol("Where is Graz?", CORPUS, refiner), []
    left = list(replies)
    try:
        asked.append(next(talk))
        while True:
            said = left.pop(0)
            asked.append(talk.send(said if isinstance(said, Reply) else Reply(said)))
    except StopIteration as done:
        assert not left
        return done.value, asked


def by_rules(text: str, history: str = "") -> str:
    try:
        next(rules_query("Where is Graz?", history, text))
    except StopIteration as done:
        return str(done.value)
    raise AssertionError("the rules ask no model")


def test_a_search_brings_the_three_best_passages_and_the_next_turn() -> None:
    found, asked = play(["<think>?</think><search> graz fact", "<answer> In Styria"])
    assert (found.answer, found.queries, found.turns, found.repaired) == (
        "In Styria",
        ("graz fact",),
        2,
        0,
    )
    shown = asked[1].messages[-1].content
    assert shown.count("Doc ") == 3
    assert "<search> graz fact</search>\n<information>" in shown
    assert asked[0].stop == ("</search>", "</answer>")
    assert "Question: Where is Graz?" in asked[0].messages[0].content


def test_after_the_third_turn_there_is_no_answer() -> None:
    found, asked = play([f"<search>graz {n}" for n in range(3)])
    assert (found.answer, found.turns, len(found.queries), len(asked)) == (None, 3, 3, 3)


def test_without_a_refiner_a_malformed_search_ends_the_conversation() -> None:
    found, _ = play(["[search] graz"])
    assert (found.answer, found.queries, found.turns) == (None, (), 1)


def test_the_refiner_is_not_asked_where_there_is_an_answer() -> None:
    def never(question: str, history: str, text: str) -> Generator[ChatRequest, Reply, str]:
        raise AssertionError("asked")
        yield

    assert play(["<answer>Styria</answer>"], never)[0].answer == "Styria"


def test_a_refiner_may_ask_a_model_and_sees_the_history_and_the_first_tokens_of_a_reply_that_ran_on() -> (
    None
):
    seen: list[tuple[str, str]] = []

    def model(question: str, history: str, text: str) -> Generator[ChatRequest, Reply, str]:
        seen.append((history, text))
        reply = yield ChatRequest((Message("user", "better query?"),))
        return reply.text

    long = Reply("x" * 9000, finish_reason="length", usage=Usage(10, 5))
    found, _ = play([long, Reply("graz fact", usage=Usage(3, 1)), "<answer>here"], model)
    assert (found.answer, found.queries, found.repaired) == ("here", ("graz fact",), 1)
    assert (found.usage.total, found.refiner_usage.total) == (15, 4)
    assert seen == [("", "x" * 2000)]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("<search> graz </search>", "graz"),
        ('{"name": "search", "arguments": {"query": "graz"}}', "graz"),
        ("I will look it up.\n[search] graz\nthen tell.", "graz"),
        ("< search > graz", "graz"),
        ("Search query: graz population", "graz population"),
        ("I do not know.", "Where is Graz?"),
        ("", "Where is Graz?"),
    ],
)
def test_the_rules_find_the_query_however_it_is_written(text: str, query: str) -> None:
    assert by_rules(text) == query


def test_a_query_that_was_searched_before_is_not_searched_again() -> None:
    assert (
        by_rules("<search> graz </search>", "<search> graz </search>\n<information>…")
        == "Where is Graz?"
    )


def test_tags_are_closed_where_a_stop_word_took_the_closer() -> None:
    assert close_tag("<search> a") == "<search> a</search>"
    assert close_tag("<search> a</search><answer> b") == "<search> a</search><answer> b</answer>"
    assert close_tag("plain") == "plain"
    assert extract_strict_query("<search> a</search> <search>b</search>") == "b"


@pytest.mark.parametrize(
    ("answer", "em", "contains"),
    [
        ("The Sundholm!", 1, 1),
        ("It is Sundholm.", 0, 1),
        ("Sund", 0, 1),
        ("Brezova", 0, 0),
        (None, 0, 0),
        ("", 0, 0),
    ],
)
def test_exact_match_and_containment_in_normal_form(
    answer: str | None, em: int, contains: int
) -> None:
    assert score_answer(Question("q", "?", ("Sundholm",)), Searched(answer)) == {
        "em": em,
        "contains": contains,
    }
    assert normalise_answer("The  Quick, (brown) fox") == "quick brown fox"


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("<search> better graz", "better graz"),
        ("<think>hm <search> no </search></think><search>better graz</search>", "better graz"),
        ('{"name": "search", "arguments": {"query": "better graz"}}', "better graz"),
        ("I cannot help.", "graz fact"),
    ],
)
def test_the_papers_refiner_writes_the_query_or_the_rules_do(said: str, query: str) -> None:
    found, _ = play(["<search> graz fact", said, "<answer> Styria"], model_query)
    assert found.queries == (query,)
    assert found.repaired == (query != "graz fact")
