"""Questions to the upstream: asked once more where a connection broke, answered with a reply."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

import pytest

from callwright.nouns.errors import Failure
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Reply
from callwright.proxy.session.decision.decision import Question
from callwright.proxy.session.events import (
    AskRefiner,
    CloseUpstream,
    Command,
    Event,
    Learned,
    Refined,
    SendUpstream,
    Tick,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
    UpstreamHead,
)
from callwright.proxy.session.phases.asking import answer_questions, ask_upstream, wait_for_head
from callwright.proxy.session.phases.transaction import Steps, Transaction
from callwright.proxy.session.record import Record
from callwright.proxy.session.settings import Settings
from callwright.repair.rule import UNANSWERED
from tests.proxy.playbook import JSON, whole

BROKE = UpstreamFailed(Failure("unavailable", "broke", outcome_unknown=True))
LATE = UpstreamFailed(Failure("timeout", "late"))


def begun() -> Transaction:
    return Transaction(record=Record("t1", ""), settings=Settings())


def drive(
    made: Transaction, steps: Steps[Any], events: Iterable[Event]
) -> tuple[Any, list[Command]]:
    """What the steps return when they are sent these events, and their commands."""
    commands = list(next(steps))
    try:
        for event in events:
            made.commands = []
            commands += steps.send(event)
    except StopIteration as end:
        return end.value, [*commands, *made.commands]
    raise AssertionError("more is awaited")


def answer(said: str, status: int = 200) -> list[Event]:
    return [UpstreamHead(status, JSON), UpstreamData(whole(said)), UpstreamEnd()]


def ask(kind: Any, events: Iterable[Event]) -> tuple[Reply, list[Command], Transaction]:
    made = begun()
    reply, commands = drive(made, ask_upstream(made, Question(kind, {"model": "m"})), events)
    return reply, commands, made


def test_a_reply_is_read_from_the_whole_answer() -> None:
    reply, commands, made = ask("repair", answer("It rains."))
    assert reply.text == "It rains."
    assert [type(c) for c in commands] == [SendUpstream]
    assert (made.asking, made.record.questions, made.record.guided) == ("repair", 1, False)
    assert made.head == UpstreamHead(200, JSON)


def test_an_answer_under_way_is_closed_first() -> None:
    made = begun()
    made.progress.under_way = "own"
    first = next(ask_upstream(made, Question("words", {})))
    assert [type(c) for c in first] == [CloseUpstream, SendUpstream]


def test_no_answer_is_an_empty_reply() -> None:
    assert ask("again", [LATE])[0] == Reply("")
    assert ask("again", [UpstreamHead(200, JSON), UpstreamData(b"{"), BROKE])[0] == Reply("")


def test_an_upstream_that_does_not_follow_schemas_is_remembered() -> None:
    reply, commands, made = ask("guided", answer("no", 400))
    assert reply == Reply("")
    assert commands[-1] == Learned("", False)
    assert made.record.guided


def test_a_request_is_sent_once_more_before_its_answer_began() -> None:
    made = begun()
    asked = SendUpstream("POST", "/", "", (), b"")
    events = [BROKE, UpstreamHead(200, JSON)]
    head, commands = drive(made, wait_for_head(made, asked), events)
    assert (head, commands) == (events[1], [asked, asked])
    for tries, failing in ((2, [BROKE, BROKE]), (1, [BROKE]), (2, [LATE])):
        given, commands = drive(made, wait_for_head(made, asked, tries=tries), failing)
        assert given == failing[-1].failure
        assert len(commands) == len(failing)
        made.commands = []


def test_any_generator_of_questions_is_answered() -> None:
    def wonder() -> Generator[Question, Reply, list[str]]:
        first = yield Question("words", {"n": 1})
        second = yield Question("words", {"n": 2})
        return [first.text, second.text]

    made = begun()
    events = [*answer("one"), *answer("two")]
    given, commands = drive(made, answer_questions(made, wonder()), events)
    assert given == ["one", "two"]
    assert len(commands) == made.record.questions == 2


def test_a_generator_without_questions_asks_nothing() -> None:
    def know() -> Generator[Question, Reply, int]:
        return 7
        yield

    made = begun()
    with pytest.raises(StopIteration) as end:
        next(answer_questions(made, know()))
    assert end.value.value == 7
    assert made.commands == []


def test_a_question_that_broke_off_leaves_nothing_to_the_next() -> None:
    def wonder() -> Generator[Question, Reply, str]:
        yield Question("words", {})
        return (yield Question("words", {})).text

    made = begun()
    broken = [UpstreamHead(200, JSON), UpstreamData(whole("half")[:9]), BROKE]
    given, _ = drive(made, answer_questions(made, wonder()), [*broken, *answer("all of it")])
    assert given == "all of it"


def test_a_question_for_the_refiner_goes_to_it_and_not_upstream() -> None:
    asked = ChatRequest((), purpose="refine")
    question = Question("refine", {}, request=asked)
    for said, reply in ((Reply("Yes."), Reply("Yes.")), (None, UNANSWERED)):
        made = begun()
        made.progress.under_way = "own"
        found, commands = drive(made, ask_upstream(made, question), [Tick(), Refined(said)])
        assert found == reply
        assert commands == [CloseUpstream(), AskRefiner(asked)]
        assert (made.asking, made.record.questions) == ("refine", 1)
    assert found is UNANSWERED
