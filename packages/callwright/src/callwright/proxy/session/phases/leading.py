"""Guided mode as a whole: our own engine leads the client's agent, from this request's messages to
calls for the client, or to an answer in words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias, get_args

from callwright.nouns.types import Edit, JsonObject
from callwright.nouns.wire_names import EditRules
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decide import decide_calls
from callwright.proxy.session.decision.decision import (
    Decision,
    Found,
    Question,
    serialize_call,
)
from callwright.proxy.session.decision.dropped import list_withheld
from callwright.proxy.session.final_call import FinalCall
from callwright.proxy.session.hallucinated_calls import find_hallucinated_call
from callwright.proxy.session.leading import guided
from callwright.proxy.session.leading.lead import Lead, lead, take_up_call
from callwright.proxy.session.phases.answering import ask_freely
from callwright.proxy.session.phases.asking import UNSUPPORTED, answer_questions, ask_upstream
from callwright.proxy.session.phases.by_schema import ask_guided
from callwright.proxy.session.phases.transaction import Steps, Transaction
from callwright.proxy.session.record import Led
from callwright.proxy.session.settings import GuidedPart, Settings
from callwright.proxy.session.wording import write_in_words
from callwright.proxy.session.words import clean_text


def load_engine() -> None:
    """Load all that leading needs: the flow of values and grounding."""
    from callwright.dataflow.prerequisites import find_needs
    from callwright.grounding import finish  # noqa: F401
    from callwright.nouns.types import Tool

    find_needs(Tool("load"), "")


Say: TypeAlias = Callable[[Transaction, Context, Lead], Steps[bool]]
"""Answers where no call is left to make; returns False, with nothing sent, if it could not."""


def lead_agent(transaction: Transaction, context: Context, say: Say | None = None) -> Steps[bool]:
    """Answer with the calls that the engine decides on, or where no call is left to make as ``say``
    does, by default in the upstream's words. Return False, with nothing sent, if the upstream's
    answers to questions by schema cannot be read.
    """
    record = transaction.record
    record.guided = True
    record.led = Led(
        list_parts(transaction.settings)
    )  # an answer may begin before its end is known
    made: Lead = yield from answer_questions(transaction, lead(context))
    if not made.is_readable and transaction.failure is not None:
        record.led = None
        transaction.fail(transaction.failure)
        return True
    if not made.is_readable:
        refused = transaction.head is not None and transaction.head.status in UNSUPPORTED
        context.schema, record.guided = context.schema and not refused, False
        context.leave_out, record.led = False, None  # what comes next fills no schema
        return False
    record.led = Led(list_parts(transaction.settings), tuple(made.notes))
    record.guarding.held += made.held
    record.edits += list_withheld(made.held)
    record.edits += [
        Edit("", serialize_call(call), None, EditRules.DUPLICATE_CALL) for call in made.dropped
    ]
    record.raw = made.reply.text
    if made.decision is not None:
        write_decision(transaction, context, made, made.decision)
        return True
    record.notes += made.problems
    context.choice = "none"  # nothing more is called now
    transaction.take_up = lambda call: take_up_call(call, context, made)
    return (yield from (say or _say_freely)(transaction, context, made))


def _say_freely(transaction: Transaction, context: Context, made: Lead) -> Steps[bool]:
    request = transaction.outbound.chat(json_bytes(_ask_in_words(context, made)))
    yield from ask_freely(transaction, context, request, is_last=True)
    return True


def _ask_in_words(context: Context, made: Lead) -> JsonObject:
    return guided.build_body_in_words(context, " ".join(dict.fromkeys(made.problems)))


def lead_to_final_call(
    transaction: Transaction, context: Context, final_call: FinalCall
) -> Steps[bool]:
    """The same of a client that demands a call in every reply: an answer is the call that ends its
    loop.
    """
    opened = context.free_choice(final_call.tools)
    transaction.context = opened
    record = transaction.record
    held, edits, notes = len(record.guarding.held), len(record.edits), len(record.notes)
    if final_call.argument:
        transaction.final_call = final_call
        is_answered = yield from lead_agent(transaction, opened, _say_by_call)
    else:
        words: frozenset[GuidedPart] = frozenset({"answer", "question"})
        opened.settings = replace(opened.settings, without=opened.settings.without | words)
        is_answered = yield from lead_agent(
            transaction, opened, lambda *_: _end_by_schema(transaction, context, final_call)
        )
    if not is_answered:  # the client's own request goes next, and nobody was led
        record.led = None
        del record.guarding.held[held:], record.edits[edits:], record.notes[notes:]
        transaction.final_call, transaction.context = None, context
        context.schema, context.questions = opened.schema, opened.questions
    return is_answered


def _say_by_call(transaction: Transaction, context: Context, made: Lead) -> Steps[bool]:
    """Answer with the call that ends the client's loop, in the upstream's words."""
    in_words = _ask_in_words(context, made)
    made.reply = yield from ask_upstream(transaction, Question("words", in_words))
    if transaction.failure is not None:
        transaction.fail(transaction.failure)
        return True
    text, edits = clean_text(made.reply.text, context)
    decision = Decision(edits=edits)
    if (piece := find_hallucinated_call(text, context)) is not None:
        taken = yield from answer_questions(transaction, take_up_call(piece.call, context, made))
        steps = decide_calls([Found(piece.call)], "", "stop", context)
        text, decision = "", taken or (yield from answer_questions(transaction, steps))
    finish = made.reply.finish_reason
    words = write_in_words(text, finish, decision, context, transaction.unmetered)
    yield from answer_questions(transaction, words)
    decision.text = decision.text or [text]
    write_decision(transaction, context, made, decision)
    return True


def _end_by_schema(
    transaction: Transaction, context: Context, final_call: FinalCall
) -> Steps[bool]:
    """Answer with the call that ends the client's loop, in the form that the client wants. It does
    nothing, and the client takes nothing else: what nobody said in it is reported.
    """
    ending = transaction.context = context.demand(final_call.tools)
    ending.guard = "report"
    return (yield from ask_guided(transaction, ending))


def list_parts(settings: Settings) -> tuple[str, ...]:
    """The parts of leading that are in force."""
    return tuple(part for part in get_args(GuidedPart) if part not in settings.without)


def write_decision(
    transaction: Transaction, context: Context, made: Lead, decision: Decision
) -> None:
    """Answer with what the engine has decided on; a part of its text may have gone out already."""
    record = transaction.record
    record.parsed = made.parsed
    if transaction.final_call is not None:
        transaction.final_call.end_with(decision, context)
    transaction.decision = decision
    record.settled(decision, by_us=True, leaked=0)
    transaction.send_own(decision, made.reply, context.body)
