"""Answers a request without tools whose client asked for JSON of a form: the answer is collected,
and repaired where it breaks the form.

A stream that begins as the form does passes as it comes: what has gone out cannot be taken back.
The record says so. One that begins otherwise, in a fence or with words, is held to its end and
repaired.
"""

from __future__ import annotations

from callwright.nouns.errors import Failure
from callwright.proxy.session.answers.collected import Collected
from callwright.proxy.session.answers.form import Form, read_delta, repair_stream
from callwright.proxy.session.answers.sse import EventSplitter
from callwright.proxy.session.events import (
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
    UpstreamHead,
)
from callwright.proxy.session.faults import OverBudget
from callwright.proxy.session.phases.answering import give_form, relay_answer
from callwright.proxy.session.phases.asking import wait_for_head
from callwright.proxy.session.phases.transaction import Steps, Transaction

STREAMED = "the answer is streamed: it passes as it comes, and its JSON is not repaired"
_OPENS = {"object": "{", "array": "["}


def answer_in_form(transaction: Transaction, request: SendUpstream) -> Steps[None]:
    """Ask what the client asks, and send the answer in the form that it asked for."""
    head = yield from wait_for_head(transaction, request, tries=1)
    if isinstance(head, Failure):
        return transaction.fail(head)
    record = transaction.record
    record.status, transaction.stream = head.status, head.is_stream
    if head.status == 200 and head.is_stream and transaction.form is not None:
        return (yield from _answer_streamed(transaction, head, transaction.form))
    if head.status != 200:
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


def _answer_streamed(transaction: Transaction, head: UpstreamHead, form: Form) -> Steps[None]:
    """Send on a stream up to the answer's text, and from there as the text begins."""
    transaction.send_head(head)
    splitter, held, size, said = EventSplitter(), list[bytes](), 0, ""
    while not isinstance(event := (yield transaction.commands), UpstreamEnd):
        if isinstance(event, UpstreamFailed):
            transaction.write(b"".join(held) + splitter.close())
            return transaction.fail(event.failure)
        if not isinstance(event, UpstreamData):
            continue
        passes = False
        for one in splitter.feed(event.data):
            text = read_delta(one)
            held.append(one)
            size += len(one)
            said = said if said.strip() else said + (text or "")  # only how the text begins
            passes = passes or text is None or _begins_right(said, form)
        if passes or size + splitter.size > transaction.settings.budget.read_bytes:
            transaction.record.notes.append(STREAMED)
            transaction.write(b"".join(held) + splitter.close())
            return (yield from relay_answer(transaction))
        if not said:
            transaction.write(b"".join(held), splitter.size)
            held, size = [], 0
    body, edits, problem = repair_stream([*held, splitter.close()], form)
    transaction.record.edits += edits
    transaction.record.notes += [problem] if problem else []
    transaction.record.outcome = "edited" if edits else "untouched"
    transaction.write(body)
    return transaction.finish()


def _begins_right(said: str, form: Form) -> bool:
    """Return True if the text can be of the form as far as it came, or its form has no
    beginning."""
    kind = form.schema.get("type") if isinstance(form.schema, dict) else None
    opens = _OPENS.get(kind) if isinstance(kind, str) else None
    begun = said.lstrip()
    return bool(begun) and (opens is None or begun.startswith(opens))
