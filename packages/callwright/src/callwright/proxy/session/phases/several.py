"""Asks for several choices (``n``), as the client does. Each is judged as an answer of its own, one
after the other, in the same conversation: the client goes on with one of them, and nobody knows
with which.

Nothing goes out before all are there. They share the request's budget of questions. Our engine
does not lead here.
"""

from __future__ import annotations

from dataclasses import replace

from callwright.nouns.errors import Failure
from callwright.nouns.types import ToolCall
from callwright.proxy.session.answers.choices import StreamedChoices, WholeChoices
from callwright.proxy.session.answers.collected import Collected
from callwright.proxy.session.answers.completion import Whole
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import Decision
from callwright.proxy.session.events import (
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
    UpstreamHead,
)
from callwright.proxy.session.faults import OverBudget
from callwright.proxy.session.phases.answering import (
    CUT_OFF,
    decide_answer,
    give_form,
    relay_answer,
    send_unchanged_head,
)
from callwright.proxy.session.phases.asking import wait_for_head
from callwright.proxy.session.phases.transaction import Steps, Transaction


def answer_several(
    transaction: Transaction, context: Context, request: SendUpstream
) -> Steps[None]:
    """Ask what the client asks, and send all choices once each is decided on."""
    transaction.asking = "free"
    head = yield from wait_for_head(transaction, request)
    if isinstance(head, Failure):
        return transaction.fail(head)
    if head.status != 200:
        send_unchanged_head(transaction, head)
        return (yield from relay_answer(transaction))
    transaction.record.status = head.status
    if head.is_stream:
        transaction.stream = True
        transaction.send_head(head)
    found = yield from _collect_choices(transaction, head)
    if isinstance(found, Failure):
        return transaction.fail(found)
    choices, body = found
    is_stream = isinstance(choices, StreamedChoices)
    if isinstance(choices, StreamedChoices) and not choices.is_complete:
        if not choices.error:
            return transaction.fail(CUT_OFF)
        body = choices.error
    elif changed := (yield from _decide_choices(transaction, context, choices.parts)):
        body = choices.write(changed)
    if not transaction.progress.head_sent:
        transaction.send_head(head.as_stream() if is_stream else head, length=len(body))
    transaction.write(body)
    if not transaction.progress.under_way:
        return transaction.finish()
    return (yield from relay_answer(transaction))  # what the upstream may still send


def _collect_choices(
    transaction: Transaction, head: UpstreamHead
) -> Steps[tuple[StreamedChoices | WholeChoices, bytes] | Failure]:
    """Return the answer that follows a head, read and as it came."""
    budget, streamed = transaction.settings.budget, StreamedChoices()
    is_stream = head.is_stream  # or events come under another content type
    collected = Collected(budget.waiting_bytes if head.is_stream else budget.read_bytes)
    while not streamed.is_done:
        event = yield transaction.commands
        if isinstance(event, UpstreamFailed) and not streamed.is_complete:
            return event.failure
        if isinstance(event, UpstreamEnd | UpstreamFailed):
            break
        if isinstance(event, UpstreamData):
            collected.add(event.data)
            streamed.feed(event.data)
            is_stream = is_stream or (transaction.stream and collected.events)
        if collected.too_long:
            raise OverBudget("the answer is too long to be read", everywhere=True)
    body = collected.take()
    return (streamed if is_stream else WholeChoices(body)), body


def _decide_choices(
    transaction: Transaction, context: Context, parts: dict[int, bytes]
) -> Steps[dict[int, bytes]]:
    """Return the choices that are changed, each as a chat completion of its own."""
    record, changed = transaction.record, dict[int, bytes]()
    parsed, sent, raws = list[ToolCall](), list[ToolCall](), list[str]()
    for place, part in parts.items():
        own = replace(context, raw=b"%d %b" % (place, context.raw))  # for ids of its own
        answer = transaction.answer = Whole(part, own)
        if not answer.readable:
            continue
        before = len(record.edits)
        made = yield from decide_answer(
            transaction, own, answer.found(), answer.text_beside_calls, answer.finish
        )
        context.questions = own.questions
        body = give_form(transaction, answer.write(made))
        if body != part:
            changed[place] = body
        at = f"/choices/{place}"
        record.edits[before:] = [replace(e, path=at + e.path) for e in record.edits[before:]]
        parsed += record.parsed
        sent += record.sent
        raws.append(record.raw)
    record.parsed, record.sent = tuple(parsed), tuple(sent)
    record.raw = "\n".join(filter(None, raws))
    if raws:
        record.outcome = "edited" if changed else "untouched"
    transaction.answer, transaction.decision = None, Decision()
    return changed
