"""Guided mode: asks for calls by JSON schema, decides on them, and writes the answer."""

from __future__ import annotations

from callwright.agent.leading.forms import read_guided_calls
from callwright.nouns.errors import Failure
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import Found
from callwright.proxy.session.events import Learned
from callwright.proxy.session.leading import guided
from callwright.proxy.session.phases.answering import decide_answer
from callwright.proxy.session.phases.asking import UNSUPPORTED, fetch_reply
from callwright.proxy.session.phases.transaction import Steps, Transaction


def ask_guided(transaction: Transaction, context: Context) -> Steps[bool]:
    """Ask for calls and answer with them. Return False, with nothing sent, if there is no call, or
    nothing readable.
    """
    record = transaction.record
    transaction.asking, record.guided = "guided", True
    request = transaction.outbound.question(guided.build_body(context))
    fetched = yield from fetch_reply(transaction, request)
    if isinstance(fetched, Failure):
        transaction.fail(fetched)
        return True
    status, reply = fetched
    names = context.toolset.names
    calls = read_guided_calls(reply.text, names) if status == 200 else None
    record.raw = reply.text
    if not calls:
        record.guided = False
        if status in UNSUPPORTED:
            context.schema = False
            transaction.commands.append(Learned(record.model, False))
        return False
    context.leave_out = True
    found = [Found(c, dialect="guided") for c in calls]
    made = yield from decide_answer(transaction, context, found)
    transaction.send_own(made, reply, context.body)
    return True
