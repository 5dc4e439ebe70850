"""Asks the upstream, and waits for its answer. Questions of ours are asked with
:func:`ask_upstream`; :func:`answer_questions` drives whatever yields them.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

from callwright.nouns.errors import Failure
from callwright.nouns.types import Reply
from callwright.proxy.session.answers.collected import Collected
from callwright.proxy.session.answers.sse import json_object
from callwright.proxy.session.decide import Question
from callwright.proxy.session.events import (
    CloseUpstream,
    Learned,
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
    UpstreamHead,
)
from callwright.proxy.session.followup import parse_completion
from callwright.proxy.session.phases.transaction import Steps, Transaction

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
    if isinstance(head, Failure):
        return head
    transaction.head = head
    body = yield from collect_body(transaction)
    if isinstance(body, Failure):
        return body
    return head.status, parse_completion(json_object(body))


def ask_upstream(transaction: Transaction, question: Question) -> Steps[Reply]:
    """Return the reply to a question of ours, empty where none came. An answer that is still under
    way is closed.
    """
    record, transaction.asking = transaction.record, question.kind
    record.questions += 1
    record.guided = record.guided or question.kind == "guided"
    if transaction.progress.under_way:
        transaction.commands.append(CloseUpstream())
    fetched = yield from fetch_reply(transaction, transaction.outbound.question(question.body))
    transaction.failure = fetched if isinstance(fetched, Failure) else None
    status, reply = (0, Reply("")) if isinstance(fetched, Failure) else fetched
    if question.kind == "guided" and status in UNSUPPORTED:
        transaction.commands.append(Learned(record.model, False))
        return Reply("")
    return reply


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
