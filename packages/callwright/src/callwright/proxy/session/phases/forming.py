"""Answers a request without tools whose client asked for JSON of a form: the answer is collected, and
repaired where it breaks the form.

A stream passes as it comes: what has gone out cannot be taken back, and JSON is right or wrong at its
end. The record says so.
"""

from __future__ import annotations

from callwright.nouns.errors import Failure
from callwright.proxy.session.answers.collected import Collected
from callwright.proxy.session.events import (
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
)
from callwright.proxy.session.faults import OverBudget
from callwright.proxy.session.phases.answering import give_form, relay_answer
from callwright.proxy.session.phases.asking import wait_for_head
from callwright.proxy.session.phases.transaction import Steps, Transaction

STREAMED = "the answer is streamed: it passes as it comes, and its JSON is not repaired"


def answer_in_form(transaction: Transaction, request: SendUpstream) -> Steps[None]:
    """Ask what the client asks, and send the answer in the form that it asked for."""
    head = yield from wait_for_head(transaction, request, tries=1)
    if isinstance(head, Failure):
        return transaction.fail(head)
    record, is_read = transaction.record, head.status == 200 and not head.is_stream
    record.status, transaction.stream = head.status, head.is_stream
    if not is_read:
        record.notes += [STREAMED] if head.is_stream else []
        transaction.send_head(head, is_unchanged=True)
        return (yield from relay_answer(transaction))
    collected = Collected(transaction.settings.budget.read_bytes)
    while not isinstance(event := (yield transaction.commands), UpstreamEnd):
        if isinstance(event, UpstreamFailed):
            return transaction.fail(event.failure)
        if isinstance(event, UpstreamData):
            collected.add(event.data)
        if collected.too_long:
            raise OverBudget("the answer is too long to be read", everywhere=True)
    came = collected.take()
    body = give_form(transaction, came)
    record.outcome = "edited" if record.edits else "untouched"
    transaction.send_head(head, length=len(body), is_unchanged=body == came)
    transaction.write(body)
    return transaction.finish()
