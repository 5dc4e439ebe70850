"""Goes on without reading any more: a fault of our own never costs the client an answer that the
upstream gave.

From then on the request, or what has come of its answer, passes as it came, and the fault is told
by a header, the record and a command. Where the guard is set to "on", no answer to a request that
offers tools passes without it: such a request ends in an error, and the client may send it again.
"""

from __future__ import annotations

from callwright.proxy.apis.adapters import OLDER, Front, Plain
from callwright.proxy.apis.translated import BadRequest
from callwright.proxy.server.meter import Meter
from callwright.proxy.server.outbound import Outbound
from callwright.proxy.session.answers.sse import json_bytes, json_object
from callwright.proxy.session.events import (
    ClientGone,
    CloseUpstream,
    Command,
    Event,
    SendBody,
    SendHead,
    UpstreamFailed,
    UpstreamHead,
)
from callwright.proxy.session.faults import (
    OVER_BUDGET,
    OverBudget,
    build_fault,
    is_fault,
    name_fault,
)
from callwright.proxy.session.phases.answering import relay_answer
from callwright.proxy.session.phases.reading import is_read
from callwright.proxy.session.phases.transaction import Steps, Transaction

# keys of a request that offers tools, in all APIs; inside a text of JSON their quotes are escaped
_OFFERS = (b'"tools"', b'"functions"')


def pass_on(transaction: Transaction, error: BaseException, event: Event) -> Steps[None]:
    """Return the further steps of a request that the proxy failed over with ``event``. What that
    event had led to for the client is sent first.
    """
    record = transaction.record
    record.fault = name_fault(error)
    told: list[Command] = [build_fault(error, record.id)]
    try:
        if _must_be_read(transaction):
            _refuse_unread(transaction, error, event)
        else:
            record.outcome = "passed"
            said = f"the proxy failed here ({record.fault}); what follows passed as it came"
            record.notes.append(said)
            _go_on(transaction, event)
    except BaseException as second:
        if not is_fault(second):
            raise
        told.append(build_fault(second, record.id))
        _go_on_untranslated(transaction, event)
    transaction.commands[:0] = told
    return relay_answer(transaction)  # which refers to no traceback


def take_over(
    transaction: Transaction,
    front: Front | None,
    event: Event,
    why: BaseException,
    meter: Meter,
    seconds: float,
) -> Steps[None]:
    """Return the further steps of a request whose session is lost, or must not be, with ``event``.
    Another API is still translated where nothing has gone out, in at most ``seconds``.
    """
    if front is not None and transaction.progress.head_sent:
        transaction.record.fault, transaction.record.outcome = OVER_BUDGET, "failed"
        transaction.commands.append(CloseUpstream())
        transaction.break_off()
        return relay_answer(transaction)
    meter.start(seconds)
    try:
        if front is not None:
            _translate_only(transaction, front)
    except BaseException as error:
        if not is_fault(error) and not isinstance(error, BadRequest):
            raise
        why = error
    finally:
        meter.stop()
    return pass_on(transaction, why, event)


def _must_be_read(transaction: Transaction) -> bool:
    """Return True if the guard has to see every answer, and this one may call tools."""
    request = transaction.outbound.request
    is_guarded = transaction.settings.guard == "on" and is_read(request)
    return is_guarded and any(key in request.body for key in _OFFERS)


def _refuse_unread(transaction: Transaction, error: BaseException, event: Event) -> None:
    """Add the commands that end a request with an error. What the guard has let through before is
    sent first where the answer had begun.
    """
    progress, record = transaction.progress, transaction.record
    close = _stop_reading(transaction, event)
    if progress.over:
        return
    why = f"{record.fault}: {error}" if isinstance(error, OverBudget) else record.fault
    message = (
        f"callwright: this request or its reply could not be read ({why}), and with --guard on no"
        " reply to a request with tools passes unread. Send it again, or a shorter one."
    )
    if progress.head_was_sent:
        head = progress.tape.head
        transaction.stream = transaction.stream or (head is not None and head.is_stream)
        record.notes.append(message)
    else:
        progress.head_sent, transaction.commands = False, []
    transaction.commands += close
    transaction.end_in_error(503, message)


def _translate_only(transaction: Transaction, front: Front) -> None:
    """Read another API's request and nothing of what it asks."""
    request = transaction.outbound.request
    body = json_object(request.body) or {}
    writer, sent = front.writer(body), json_bytes(front.request(body))
    transaction.front, transaction.writer = front, writer
    transaction.outbound = Outbound(request, translated=front is not OLDER)
    transaction.bare = transaction.outbound.chat(sent)


def _go_on(transaction: Transaction, event: Event) -> None:
    """Add the commands that send the output so far, then the client's request or the rest of its
    answer, unchanged. Another API is still translated.
    """
    progress, streamed = transaction.progress, transaction.streamed
    left_out = streamed.left_out() if streamed is not None else b""
    close = _stop_reading(transaction, event)
    if progress.over:
        return
    if progress.tape.head is not None:
        _answer_untouched(transaction, progress.tape.head, left_out)
    elif not progress.head_sent:  # else it is that of an answer of our own making
        transaction.commands = []
    if progress.under_way == "own":
        return
    if isinstance(event, UpstreamFailed) and progress.was_under_way == "own":
        transaction.fail(event.failure)
        return
    transaction.commands += close
    if progress.head_sent and progress.tape.head is None:
        transaction.break_off()  # an answer of our own making that had begun
    elif progress.head_sent:
        transaction.finish()
    else:
        transaction.record.edits.clear()
        transaction.commands.append(transaction.bare or transaction.outbound.unchanged())


def _stop_reading(transaction: Transaction, event: Event) -> list[Command]:
    """Leave the commands that the event has led to for the client, or if that has gone, none for
    it. Return those that close the upstream.
    """
    progress = transaction.progress
    transaction.context = transaction.answer = None
    transaction.asking = ""
    emitted, close = _list_emitted(transaction), _list_close(transaction)
    progress.over = progress.over or isinstance(event, ClientGone)
    transaction.commands = close if progress.over else emitted
    return close


def _answer_untouched(transaction: Transaction, head: UpstreamHead, left_out: bytes) -> None:
    transaction.stream = head.is_stream
    if not transaction.progress.head_sent:
        transaction.send_head(head, is_unchanged=True)
    rest = transaction.progress.tape.rest()
    transaction.write(left_out, len(rest))
    transaction.write(rest)


def _go_on_untranslated(transaction: Transaction, event: Event) -> None:
    """The same where the translation into the client's API is what fails. Of an answer that has
    begun in that API no more can be told than that it broke off.
    """
    progress = transaction.progress
    is_whole = not progress.head_was_sent and progress.tape.complete
    if is_whole and not _must_be_read(transaction):
        transaction.front, transaction.writer, progress.head_sent = None, Plain(), False
        transaction.outbound = Outbound(transaction.outbound.request)
        transaction.bare, transaction.commands = None, []
        _go_on(transaction, event)
        return
    transaction.commands = [*_list_emitted(transaction), *_list_close(transaction)]
    transaction.break_off()


def _list_emitted(transaction: Transaction) -> list[Command]:
    """The commands for the client that the event under way has led to."""
    return [c for c in transaction.commands if isinstance(c, SendHead | SendBody)]


def _list_close(transaction: Transaction) -> list[Command]:
    return [CloseUpstream()] if transaction.progress.under_way else []
