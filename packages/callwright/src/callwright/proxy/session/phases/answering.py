"""Asks what the client asks, and answers with what the upstream says, its calls repaired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from callwright.nouns.errors import Failure
from callwright.proxy.session.answers.collected import Collected
from callwright.proxy.session.answers.completion import Whole
from callwright.proxy.session.answers.form import repair_completion
from callwright.proxy.session.answers.streaming import Streamed
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decide import decide_calls
from callwright.proxy.session.decision.decision import Decision, Found
from callwright.proxy.session.events import (
    SendUpstream,
    Tick,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
    UpstreamHead,
)
from callwright.proxy.session.faults import OverBudget
from callwright.proxy.session.phases.asking import (
    UNSUPPORTED,
    answer_questions,
    collect_body,
    wait_for_head,
)
from callwright.proxy.session.phases.transaction import Steps, Transaction
from callwright.proxy.session.wording import write_in_words
from callwright.proxy.session.words import list_removed

CUT_OFF = Failure("unavailable", "the upstream's stream ended before its answer did")


def relay_answer(transaction: Transaction) -> Steps[None]:
    """Send on what comes, as it comes, to its end."""
    while True:
        match (yield transaction.commands):
            case UpstreamData(data):
                transaction.write(data)
            case UpstreamHead() as head:
                send_unchanged_head(transaction, head)
            case UpstreamEnd():
                return transaction.finish()
            case UpstreamFailed(failure):
                return transaction.fail(failure)


def ask_freely(
    transaction: Transaction, context: Context, request: SendUpstream, *, is_last: bool = False
) -> Steps[bool]:
    """Ask what the client asks. Return False if the upstream refuses that, perhaps for its tools,
    and calls can be asked for without them. ``is_last``: a refusal is the answer.
    """
    transaction.asking = "free"
    head = yield from wait_for_head(transaction, request, tries=1 if is_last else 2)
    if isinstance(head, Failure):
        transaction.fail(head)
        return True
    has_other_way = context.schema and not context.native and not is_last
    if head.status not in UNSUPPORTED or not has_other_way:
        yield from _answer(transaction, context, head)
        return True
    transaction.progress.tape.forget()
    body = yield from collect_body(transaction)
    if isinstance(body, Failure):
        transaction.fail(body)
    return isinstance(body, Failure)


def decide_answer(
    transaction: Transaction,
    context: Context,
    found: Sequence[Found],
    text: str = "",
    finish: str = "stop",
    *,
    is_leading: bool = False,
) -> Steps[Decision]:
    """Return what becomes of the calls of an answer, with questions to the upstream where the
    budget grants them. ``is_leading``: an answer that leaves no call is none.
    """
    # Each call is looked at beside all others, so their number is bounded.
    if len(found) > transaction.settings.budget.calls:
        raise OverBudget(f"{len(found)} calls in one answer", everywhere=True)
    record, answer, streamed = transaction.record, transaction.answer, transaction.streamed
    record.parsed = tuple(f.call for f in found)
    record.raw = answer.raw() if answer is not None else record.raw
    made = yield from _take_up(transaction, context, found, text)
    if made is None:
        steps = decide_calls(found, text, finish, context, is_leading=is_leading)
        made = yield from answer_questions(transaction, steps)
    transaction.decision = made
    if is_leading and not made.calls:
        return made
    yield from _see_to_words(transaction, context, made, finish)
    leaked = streamed.leaked if streamed is not None else 0
    record.settled(made, by_us=answer is None, leaked=leaked)
    return made


def _take_up(
    transaction: Transaction, context: Context, found: Sequence[Found], text: str
) -> Steps[Decision | None]:
    """Return the decision of the engine that led the upstream, where its words are nothing but a
    call of a tool that nobody offered; else None.
    """
    known = context.toolset
    is_call = len(found) == 1 and found[0].call.tool not in known.names and not known.opaque
    if transaction.take_up is None or not is_call or text.strip():
        return None
    return (yield from answer_questions(transaction, transaction.take_up(found[0].call)))


def _see_to_words(
    transaction: Transaction, context: Context, made: Decision, finish: str
) -> Steps[None]:
    """List what is left out of the answer's text, and see that the user gets words."""
    answer = transaction.answer
    made.edits += list_removed(answer.removed if answer is not None else ())
    said = answer.text_in_words if answer is not None else ""
    steps = write_in_words(said, finish, made, context, transaction.unmetered)
    is_replaced = yield from answer_questions(transaction, steps)
    if is_replaced and answer is not None:
        answer.drop_words()


@dataclass(slots=True)
class CameWhole:
    """An answer to the client's own request that has come to its end, and of which nothing has gone
    out. ``ready``: of its bytes those that nothing can change any more.
    """

    head: UpstreamHead
    answer: Streamed | Whole
    ready: bytes = b""

    @property
    def words(self) -> str | None:
        """Its text without calls and reasoning; None where something else than text is said."""
        answer = self.answer
        return answer.words if isinstance(answer, Streamed) else answer.text_in_words

    def find_calls(self) -> list[Found]:
        is_readable = self.answer.ready if isinstance(self.answer, Streamed) else True
        return self.answer.found() if is_readable else []


def wait_for_answer(
    transaction: Transaction, context: Context, request: SendUpstream
) -> Steps[CameWhole | None]:
    """Ask what the client asks, and return the answer when all of it is there; None where that is
    none to be read and the client has been told.
    """
    transaction.asking = "free"
    head = yield from wait_for_head(transaction, request)
    if isinstance(head, Failure):
        transaction.fail(head)
        return None
    if head.status != 200:
        yield from _answer(transaction, context, head)
        return None
    collected = Collected(transaction.settings.budget.read_bytes)
    while not isinstance(event := (yield transaction.commands), UpstreamEnd):
        if isinstance(event, UpstreamFailed):
            transaction.fail(event.failure)
            return None
        if isinstance(event, UpstreamData):
            collected.add(event.data)
        if collected.too_long:
            raise OverBudget("the answer is too long to be read", everywhere=True)
    transaction.record.status = head.status
    is_stream = head.is_stream or (transaction.stream and collected.events)
    return _read_whole(transaction, context, head, collected.take(), is_stream=is_stream)


def _read_whole(
    transaction: Transaction, context: Context, head: UpstreamHead, body: bytes, *, is_stream: bool
) -> CameWhole:
    if not is_stream:
        return CameWhole(head, Whole(body, context))
    streamed = Streamed(context, transaction.now)
    ready = streamed.feed(body, transaction.now)
    return CameWhole(head, streamed, ready + streamed.end())


def send_answer(transaction: Transaction, came: CameWhole, made: Decision | None) -> None:
    """Send an answer that has come whole: with what was decided, or as it came."""
    answer, head = came.answer, came.head
    if isinstance(answer, Streamed):
        transaction.stream = True
        transaction.send_head(head)
        transaction.write(came.ready + (answer.write(made or Decision()) if answer.ready else b""))
        return transaction.finish() if answer.finish else _end_undecided(transaction, answer)
    is_read = answer.readable and made is not None
    body = answer.write(made) if is_read and made is not None else answer.body
    transaction.send_head(head, length=len(body), is_unchanged=not answer.readable)
    transaction.write(body)
    return transaction.finish()


def _answer(transaction: Transaction, context: Context, head: UpstreamHead) -> Steps[None]:
    if head.status != 200:
        send_unchanged_head(transaction, head)
        return (yield from relay_answer(transaction))
    transaction.record.status = head.status
    answer = _answer_streamed if head.is_stream else _answer_whole
    return (yield from answer(transaction, context, head))


def _answer_streamed(
    transaction: Transaction, context: Context, head: UpstreamHead, came: bytes = b""
) -> Steps[None]:
    """``came`` is the beginning of the body."""
    streamed = transaction.answer = Streamed(context, transaction.now)
    transaction.stream = True
    transaction.send_head(head)
    if came:
        _write_ready(transaction, streamed, streamed.feed(came, transaction.now))
    # The end of the connection is not waited for where nothing more of the answer is to come.
    while not streamed.ready:
        match (yield transaction.commands):
            case UpstreamData(data):
                _write_ready(transaction, streamed, streamed.feed(data, transaction.now))
            case Tick():
                _write_ready(transaction, streamed, streamed.tick(transaction.now))
            case UpstreamFailed(failure):
                return transaction.fail(failure)
            case UpstreamEnd():
                _write_ready(transaction, streamed, streamed.end())
                if not streamed.ready:
                    return _end_undecided(transaction, streamed)
    made = yield from decide_answer(
        transaction, context, streamed.found(), streamed.text_beside_calls, streamed.finish
    )
    transaction.write(streamed.write(made))
    if not transaction.progress.under_way:
        return transaction.finish()
    return (yield from relay_answer(transaction))  # what the upstream may still send


def _write_ready(transaction: Transaction, streamed: Streamed, ready: bytes) -> None:
    transaction.write(ready, streamed.unsent_size)
    streamed.commit()


def _end_undecided(transaction: Transaction, streamed: Streamed) -> None:
    """End a stream without calls, or one that ended before its answer did: what there was has gone
    out.
    """
    if streamed.passing and streamed.finish:
        return transaction.finish()
    return transaction.fail(CUT_OFF)


def _answer_whole(transaction: Transaction, context: Context, head: UpstreamHead) -> Steps[None]:
    """Collect the answer, and send it when it is known."""
    collected = Collected(transaction.settings.budget.read_bytes)
    while not isinstance(event := (yield transaction.commands), UpstreamEnd):
        if isinstance(event, UpstreamFailed):
            return transaction.fail(event.failure)
        if isinstance(event, UpstreamData):
            collected.add(event.data)
        if transaction.stream and collected.events:  # under another content type
            came = collected.take()
            return (yield from _answer_streamed(transaction, context, head.as_stream(), came))
        if collected.too_long:
            raise OverBudget("the answer is too long to be read", everywhere=True)
    body = collected.take()
    whole = transaction.answer = Whole(body, context)
    if whole.readable:
        made = yield from decide_answer(
            transaction, context, whole.found(), whole.text_beside_calls, whole.finish
        )
        body = whole.write(made)
    if transaction.form is not None and (given := give_form(transaction, body)) != body:
        body, transaction.record.outcome = given, "edited"
    transaction.send_head(head, length=len(body), is_unchanged=not whole.readable)
    transaction.write(body)
    return transaction.finish()


def give_form(transaction: Transaction, body: bytes) -> bytes:
    """The answer in the form that the client asked for; its very bytes where it has that, or cannot
    be given it.
    """
    if transaction.form is None:
        return body
    body, edits, problem = repair_completion(body, transaction.form)
    transaction.record.edits += edits
    transaction.record.notes += [problem] if problem else []
    return body


def send_unchanged_head(transaction: Transaction, head: UpstreamHead) -> None:
    """Send the head of an answer that passes as it comes."""
    transaction.record.status, transaction.stream = head.status, head.is_stream
    transaction.send_head(head, is_unchanged=True)
