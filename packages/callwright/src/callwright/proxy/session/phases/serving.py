"""The life of one request as a generator: it is sent events and yields the commands that follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from callwright.proxy.apis.adapters import Front
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context, Toolsets
from callwright.proxy.session.events import Probe, Probed, Request, SendUpstream
from callwright.proxy.session.final_call import find_final_call
from callwright.proxy.session.guarding import choose_mode
from callwright.proxy.session.leading.guided import build_body_in_words
from callwright.proxy.session.phases.answering import ask_freely, relay_answer
from callwright.proxy.session.phases.by_schema import ask_guided
from callwright.proxy.session.phases.forming import answer_in_form
from callwright.proxy.session.phases.reading import read_request
from callwright.proxy.session.phases.several import answer_several
from callwright.proxy.session.phases.transaction import Steps, Transaction

_AS_ASKED = Probed(native=True, schema=False)  # the client's own request is all that is asked
_BY_SCHEMA = Probed(native=False, schema=True)


def serve_request(
    transaction: Transaction,
    toolsets: Toolsets,
    fronts: Mapping[str, Front],
    most_items: int,
    *,
    is_local: bool,
) -> Steps[None]:
    """Answer the request that is the first event. Yields nothing before it. ``most_items`` are read
    of a request; ``is_local``: the upstream is our own llama.cpp.
    """
    request = yield []
    assert isinstance(request, Request)
    sent = read_request(transaction, request, toolsets, fronts, most_items)
    context = transaction.context
    if sent is not None and context is not None:
        context.local = is_local
        yield from _serve_chat(transaction, context, sent)
    elif sent is not None and transaction.form is not None:
        yield from answer_in_form(transaction, sent)
    elif sent is not None:
        transaction.commands.append(sent)
        yield from relay_answer(transaction)


def _serve_chat(transaction: Transaction, context: Context, request: SendUpstream) -> Steps[None]:
    """Ask as the client wrote it where the upstream's own calls work, or nothing better is known of
    it. Else our engine leads; where the client insists on a call, it is asked for by schema. So it
    is after the upstream refused the tools; without a call there the answer is in words. Several
    choices are the upstream's own.
    """
    is_guided = yield from _choose_guided(transaction, context)
    if transaction.wants_several:
        return (yield from answer_several(transaction, context, request))
    if is_guided and (yield from _ask_first(transaction, context)):
        return
    if context.is_led_natively:
        return (yield from _lead_by_rounds(transaction, context, request))
    is_answered = yield from ask_freely(transaction, context, request)
    if not is_answered and not (yield from ask_guided(transaction, context)):
        in_words = transaction.outbound.chat(json_bytes(build_body_in_words(context)))
        yield from ask_freely(transaction, context, in_words, is_last=True)


def _ask_first(transaction: Transaction, context: Context) -> Steps[bool]:
    final_call = find_final_call(context)
    if context.demanded and final_call is None:
        return (yield from ask_guided(transaction, context))
    # Planning and grounding are loaded where somebody is led; a load that is cut off in the middle
    # would leave broken modules behind.
    transaction.unmetered(_load_engine)
    from callwright.proxy.session.phases.leading import lead_agent, lead_to_final_call

    if final_call is not None:
        return (yield from lead_to_final_call(transaction, context, final_call))
    return (yield from lead_agent(transaction, context))


def _lead_by_rounds(
    transaction: Transaction, context: Context, request: SendUpstream
) -> Steps[None]:
    transaction.unmetered(_load_engine)
    from callwright.proxy.session.phases.leading_natively import lead_natively

    yield from lead_natively(transaction, context, request)


def _load_engine() -> None:
    from callwright.proxy.session.phases.leading import load_engine

    load_engine()


def _choose_guided(transaction: Transaction, context: Context) -> Steps[bool]:
    """Return True if the upstream is asked by schema first, and set what the guard does. What the
    upstream can do is probed where the settings leave that open.
    """
    settings, record = transaction.settings, transaction.record
    found = yield from _find_out(transaction, context)
    context.guard = choose_mode(settings.guard, is_trusted=found.is_trusted)
    record.guarding.mode = context.guard
    context.native, context.schema = found.native, found.schema
    is_first = context.local or context.demanded or settings.guided != "text"
    return found.schema and not found.native and is_first


def _find_out(transaction: Transaction, context: Context) -> Steps[Probed]:
    """Return what is known of the upstream. It is asked only if guided mode depends on that; what
    is on record of its model is read if the guard does.
    """
    settings = transaction.settings
    given: Probed | None = None
    if settings.guided == "off" or context.choice == "none":
        given = _AS_ASKED
    elif settings.guided == "on":
        given = _BY_SCHEMA
    is_recorded = settings.guard == "auto" and context.choice != "none"
    if given is not None and not is_recorded:
        return given
    headers = transaction.outbound.headers
    transaction.commands.append(Probe(transaction.record.model, headers, asks=given is None))
    found: object = None
    while not isinstance(found, Probed):
        found = yield transaction.commands
    return found if given is None else replace(given, is_trusted=found.is_trusted)
