"""Asks the upstream, and waits for its answer. Questions of ours are asked with
:func:`ask_upstream`; :func:`answer_questions` drives whatever yields them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TypeVar

from callwright.models.chat import Gathered
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Reply
from callwright.proxy.session.answers.collected import Collected
from callwright.proxy.session.answers.sse import EventSplitter, extract_data, json_object
from callwright.proxy.session.decision.decision import Question
from callwright.proxy.session.events import (
    AskRefiner,
    CloseUpstream,
    Learned,
    Refined,
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
    UpstreamHead,
)
from callwright.proxy.session.followup import parse_completion
from callwright.proxy.session.phases.transaction import Steps, Transaction
from callwright.repair.rule import UNANSWERED

T = TypeVar("T")

UNSUPPORTED = frozenset({400, 404, 415, 422, 501})  # what servers say to what they do not do


def wait_for_head(
    transaction: Transaction, request: SendUpstream, *, tries: int = 2
) -> Steps[UpstreamHead | Failure]:
    """Send a request upstream and return the head of its answer.

    It is sent again if its connection breaks: most likely the upstream had closed that after the
    answer before.
    """
    failure = None
    while failure is None or (tries and failure.kind == "unavailable" and failure.outcome_unknown):
        transaction.commands.append(request)
        tries -= 1
        while not isinstance(event := (yield transaction.commands), UpstreamFailed):
            if isinstance(event, UpstreamHead):
                return event
        failure = event.failure
    return failure


def collect_body(transaction: Transaction) -> Steps[bytes | Failure]:
    """Return the body that follows a head; of one that is too long, its beginning."""
    collected = Collected(transaction.settings.budget.read_bytes)
    while not isinstance(event := (yield transaction.commands), UpstreamEnd):
        if isinstance(event, UpstreamData):
            collected.add(event.data)
        elif isinstance(event, UpstreamFailed):
            return event.failure
    return collected.take()


def fetch_reply(
    transaction: Transaction, request: SendUpstream
) -> Steps[tuple[int, Reply] | Failure]:
    """Send a request upstream and return the status and the whole of its answer; an empty reply
    where that is no chat completion.
    """
    head = yield from wait_for_head(transaction, request)
    return head if isinstance(head, Failure) else (yield from _collect_reply(transaction, head))


def _collect_reply(
    transaction: Transaction, head: UpstreamHead
) -> Steps[tuple[int, Reply] | Failure]:
    transaction.head = head
    body = yield from collect_body(transaction)
    if isinstance(body, Failure):
        return body
    return head.status, parse_completion(json_object(body))


def fetch_live_reply(
    transaction: Transaction, request: SendUpstream, read: Callable[[str], str]
) -> Steps[tuple[int, Reply] | Failure]:
    """The same of a reply that is streamed: what ``read`` makes of its text so far goes to the
    client meanwhile. Where the reply breaks off after that, it counts as cut off.
    """
    head = yield from wait_for_head(transaction, request)
    if isinstance(head, Failure):
        return head
    if head.status != 200 or not head.is_stream:
        return (yield from _collect_reply(transaction, head))
    transaction.head = head
    splitter, gathered, room = EventSplitter(), Gathered(), transaction.settings.budget.read_bytes
    while not isinstance(event := (yield transaction.commands), UpstreamEnd | UpstreamFailed):
        if not isinstance(event, UpstreamData) or room < 0:
            continue
        room -= len(event.data)
        if _gather_events(gathered, splitter.feed(event.data)) and (said := read(gathered.text)):
            transaction.say(said, Reply("", model=gathered.model))
    if isinstance(event, UpstreamFailed) and transaction.live is None:
        return event.failure
    gathered.close()
    reply = gathered.reply(prompt="")
    is_cut = isinstance(event, UpstreamFailed) or room < 0
    return head.status, replace(reply, finish_reason="length") if is_cut else reply


def _gather_events(gathered: Gathered, events: list[bytes]) -> bool:
    """Add events to a reply. Return True if its text has grown."""
    before = len(gathered.text)
    for event in events:
        document = json_object(extract_data(event))
        if document is not None:
            gathered.feed(document)
    return len(gathered.text) > before


def ask_upstream(transaction: Transaction, question: Question) -> Steps[Reply]:
    """Return the reply to a question of ours, empty where none came. An answer that is still under
    way is closed. The refiner is asked instead where the question is for it.
    """
    record, transaction.asking = transaction.record, question.kind
    record.questions += 1
    record.guided = record.guided or question.kind == "guided"
    if transaction.progress.under_way:
        transaction.commands.append(CloseUpstream())
    if question.request is not None:
        return (yield from _ask_refiner(transaction, question.request))
    outbound = transaction.outbound
    if question.read is not None and transaction.may_say:
        request = outbound.live_question(question.body)
        fetched = yield from fetch_live_reply(transaction, request, question.read)
    else:
        fetched = yield from fetch_reply(transaction, outbound.question(question.body))
    transaction.failure = fetched if isinstance(fetched, Failure) else None
    status, reply = (0, Reply("")) if isinstance(fetched, Failure) else fetched
    if question.kind == "guided" and status in UNSUPPORTED:
        transaction.commands.append(Learned(record.model, False))
        return Reply("")
    return reply


def _ask_refiner(transaction: Transaction, request: ChatRequest) -> Steps[Reply]:
    transaction.commands.append(AskRefiner(request))
    event: object = None
    while not isinstance(event, Refined):
        event = yield transaction.commands
    return event.reply or UNANSWERED


def answer_questions(transaction: Transaction, asking: Generator[Question, Reply, T]) -> Steps[T]:
    """Return what a generator of questions returns, each question answered by the upstream."""
    try:
        question = next(asking)
        while True:
            reply = yield from ask_upstream(transaction, question)
            question = asking.send(reply)
    except StopIteration as end:
        result: T = end.value
        return result
