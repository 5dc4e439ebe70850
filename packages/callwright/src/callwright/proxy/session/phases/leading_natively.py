"""An upstream that calls natively, led by our own engine: its requests are the client's own, with
the tools of the round in the place of all.

Where a round brings no call, the next one is asked, and no word of the reply before goes out. The
words of the last one count. After results they are checked, and where a statement does not hold,
the answer is written from the results alone.
"""

from __future__ import annotations

from callwright.agent.leading.led_context import LedContext
from callwright.nouns.types import JsonObject
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.answers.streaming import Streamed
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import Decision
from callwright.proxy.session.decision.dropped import list_withheld
from callwright.proxy.session.events import SendUpstream
from callwright.proxy.session.leading.closing import Closing, is_answered_by_engine
from callwright.proxy.session.leading.lead import Lead, build_context
from callwright.proxy.session.phases.answering import (
    CameWhole,
    ask_freely,
    decide_answer,
    send_answer,
    wait_for_answer,
)
from callwright.proxy.session.phases.asking import answer_questions
from callwright.proxy.session.phases.leading import list_parts, write_decision
from callwright.proxy.session.phases.transaction import Steps, Transaction
from callwright.proxy.session.record import Led, Record
from callwright.proxy.session.rounds import Names, find_rounds, offer_tools

# Its calls fill no schema. How a job goes on is left to it, and what only the user knows it asks in
# its own words.
_SCHEMA_ONLY = ("options", "polling", "question")
_ROUNDS_ONLY = ("unasked",)  # its rounds are the client's own requests
_ASKS = ("?", "？", "؟")  # signs that end a question


def lead_natively(transaction: Transaction, context: Context, request: SendUpstream) -> Steps[None]:
    """Answer with the calls of the first round that brings any, else with the words of the last
    one. ``request`` is the client's own.
    """
    record = transaction.record
    parts = tuple(
        part for part in list_parts(transaction.settings) if part not in _SCHEMA_ONLY + _ROUNDS_ONLY
    )
    record.led = Led(parts)
    rounds = yield from answer_questions(transaction, find_rounds(context))
    record.led = Led(parts, rounds.notes)
    whole = context.body
    for names in rounds.first:
        asked = _build_request(transaction, context, whole, names, request)
        if (yield from _ask_for_calls(transaction, context, asked)):
            return
        record.questions += 1
    asked = _build_request(transaction, context, whole, rounds.last, request)
    has_results = any(result.ok for result in context.state.results)
    if has_results and is_answered_by_engine(context):
        yield from _ask_and_check(transaction, context, asked)
    else:
        yield from ask_freely(transaction, context, asked)


def _build_request(
    transaction: Transaction, context: Context, whole: JsonObject, names: Names, own: SendUpstream
) -> SendUpstream:
    """The client's request with these tools: its very bytes where they are all."""
    context.body = offer_tools(whole, names, context.toolset.names)
    return own if context.body is whole else transaction.outbound.chat(json_bytes(context.body))


def _ask_for_calls(
    transaction: Transaction, context: Context, request: SendUpstream
) -> Steps[bool]:
    """Ask one round. Return False, with nothing sent, if it brings no call that may be made."""
    came = yield from wait_for_answer(transaction, context, request)
    if came is None:
        return True
    found = came.find_calls()
    if found:
        made = yield from _decide_calls(transaction, context, came, is_leading=True)
        if made.calls:
            send_answer(transaction, came, made)
            return True
        _note_held(transaction.record, made)
    transaction.answer, transaction.decision = None, Decision()
    transaction.progress.tape.forget()
    return False


def _ask_and_check(
    transaction: Transaction, context: Context, request: SendUpstream
) -> Steps[None]:
    """Ask the last round after results: with calls, or words that hold, the answer is the
    upstream's own. Else the engine writes it.
    """
    came = yield from wait_for_answer(transaction, context, request)
    if came is None:
        return
    if not came.find_calls() and not _is_supported(came, context):
        lead, led = Lead(), build_context(context, LedContext)
        closing = Closing(context, led).close(may_ask=False)
        written = (yield from answer_questions(transaction, closing)).written
        if written is not None:
            answer = written.answer
            lead.decision = Decision(text=[answer.text], edits=[*answer.edits])
            return write_decision(transaction, context, lead, lead.decision)
    made = None
    if not isinstance(came.answer, Streamed) or came.answer.ready:
        made = yield from _decide_calls(transaction, context, came)
    send_answer(transaction, came, made)


def _decide_calls(
    transaction: Transaction, context: Context, came: CameWhole, *, is_leading: bool = False
) -> Steps[Decision]:
    answer = transaction.answer = came.answer
    text, finish = answer.text_beside_calls, answer.finish
    made = yield from decide_answer(
        transaction, context, came.find_calls(), text, finish, is_leading=is_leading
    )
    return made


def _note_held(record: Record, made: Decision) -> None:
    """Record the calls of a round that are kept back, and why."""
    record.guarding.held += made.held
    record.edits += list_withheld(made.held)
    record.notes += made.problems


def _is_supported(came: CameWhole, context: Context) -> bool:
    """Return True if every statement of an answer in words holds by the results of this turn. What
    it asks the user is no statement.
    """
    from callwright.grounding import check_answer

    said, state = came.words, context.state
    if said is None:
        return True  # it says something by other means
    edits = check_answer(said, state.asked.query, state.results).edits
    wrong = (edit for edit in edits if not str(edit.before).rstrip().endswith(_ASKS))
    return bool(said.strip()) and not any(wrong)
