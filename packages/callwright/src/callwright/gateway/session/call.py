"""The way of one call from a client to a server, as a generator without I/O: it yields a command
and is sent what came of it.

Look up, repair, ask a refiner where there is one, compare the definition with the pinned one,
budget, clearance, approval, dispatch.
A call that a client sends again with its answers (``requestState`` of 2026-07-28) goes the whole way
again: what it was told on the way comes with it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from callwright.agent.safety.clear import (
    Approval,
    ClearanceState,
    ClearedCall,
    Denied,
    clear,
)
from callwright.agent.safety.consent import Consent
from callwright.gateway.session.argument_check import check_call
from callwright.gateway.session.call_result import (
    attach_edits,
    build_failure,
    build_refusal,
    describe_unknown,
)
from callwright.gateway.session.catalog import GatewayCatalog, GatewayTool
from callwright.gateway.session.commands import (
    AskConsent,
    Command,
    Consented,
    Consult,
    Consulted,
    Dispatch,
    Event,
    Failed,
    Rejected,
    Returned,
    Told,
)
from callwright.gateway.session.exchange import Unanswered, exchange_rounds
from callwright.gateway.session.record import CallRecord
from callwright.gateway.session.refined_call import refine_call
from callwright.nouns.types import CheckedCall, JsonObject, ToolCall
from callwright.repair.gate import Refusal
from callwright.repair.outcome import is_unknown

if TYPE_CHECKING:
    from callwright.repair.by_model.refiner_settings import RefinerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """A client's call. ``arguments`` is text, or something else, where the client sent no object.
    ``responses`` and ``state``: what continues the call at its server.
    """

    name: str
    arguments: JsonObject | str | None
    responses: Mapping[str, JsonObject] | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """The facts that a call is judged by. ``consent`` None: the client's user is asked by the client itself.
    ``absent``: why the server that a name speaks of has no tools now. ``over_budget``: why this
    client may not call the server now. ``refiner``: how a refiner is
    asked about a call that its schema refuses; None: there is none.
    """

    catalog: GatewayCatalog
    consent: Consent | None = field(default_factory=Consent)
    absent: str = ""
    over_budget: str = ""
    refiner: RefinerSettings | None = None


@dataclass(frozen=True, slots=True)
class CallEnd:
    """The answer to the client: a result, or the server's own JSON-RPC error. ``told``: what came
    of the request to the server; None where there was none.
    """

    answer: JsonObject | Rejected
    record: CallRecord
    offer: GatewayTool | None = None
    told: Told | None = None


_ID = "call"  # of the one call that is judged: what is read of an id is remembered
CallSteps: TypeAlias = Generator[Command, Event, CallEnd]


def run_call(request: CallRequest, facts: CallFacts, record: CallRecord) -> CallSteps:
    """Lead one call to its end; ``record`` is filled on the way."""
    offer = facts.catalog.find(request.name)
    if offer is None:
        text = describe_unknown(request.name, facts.catalog, facts.absent)
        return _refuse_call(record, "unknown_tool", text)
    record.server, record.tool = offer.server, offer.name
    call = ToolCall(_ID, offer.exposed, {} if request.arguments is None else request.arguments)
    gate = facts.catalog.gate
    checked = check_call(gate, offer.tool, call, may_write=offer.may_write)
    if isinstance(checked, Refusal) and facts.refiner is not None:
        checked = (yield from refine_call(gate, offer.tool, call, facts.refiner)) or checked
    record.verdict = checked
    if isinstance(checked, Refusal):
        return _refuse_call(record, "arguments", _describe_refusal(checked, offer))
    refused = yield from _consult_server(record, offer)
    if refused is not None:
        return refused
    if facts.over_budget:
        return _refuse_call(record, "budget", facts.over_budget)
    cleared = yield from _clear_call(record, offer, checked, facts.consent)
    if isinstance(cleared, CallEnd):
        return cleared
    is_absent = request.arguments is None and not checked.edits
    return (yield from _dispatch_call(record, request, offer, cleared, is_absent=is_absent))


def _consult_server(
    record: CallRecord, offer: GatewayTool
) -> Generator[Command, Event, CallEnd | None]:
    told = yield Consult(offer)
    assert isinstance(told, Consulted)
    if told.failure is not None:
        return _fail_call(
            record, build_failure(told.failure, offer, is_unknown=False), told.failure.kind
        )
    if told.refused:
        return _refuse_call(record, "definition", told.refused)
    return None


def _clear_call(
    record: CallRecord, offer: GatewayTool, checked: CheckedCall, consent: Consent | None
) -> Generator[Command, Event, ClearedCall | CallEnd]:
    """The call, cleared to leave; somebody is asked where it takes that."""
    verdict = clear(checked, ClearanceState(consent=consent))
    if isinstance(verdict, Denied) and verdict.rule == "approval":
        told = yield AskConsent(offer, checked, verdict.reason)
        assert isinstance(told, Consented)
        record.asked = "nobody" if told.granted is None else told.by
        if told.granted is None:
            return _refuse_call(record, "approval", _describe_unapproved(offer, verdict.reason))
        approval = Approval(checked, told.granted, told.by)
        verdict = clear(checked, ClearanceState(consent=consent, approval=approval))
    if isinstance(verdict, Denied):
        return _refuse_call(
            record, verdict.rule, f"'{offer.exposed}' was not called: {verdict.reason}"
        )
    return verdict


def _dispatch_call(
    record: CallRecord,
    request: CallRequest,
    offer: GatewayTool,
    cleared: ClearedCall,
    *,
    is_absent: bool,
) -> CallSteps:
    arguments = cleared.take_arguments()
    record.sent = arguments
    told = yield from exchange_rounds(
        Dispatch(
            offer.server,
            "tools/call",
            {"name": offer.name} if is_absent else {"name": offer.name, "arguments": arguments},
            offer.policy.seconds,
            offer.tool.effects.may_repeat,
            request.responses,
            request.state,
            offer.needs_task,
        )
    )
    if isinstance(told, Unanswered):
        return _refuse_call(
            record, "input", f"'{offer.exposed}' was not called to its end: {told.reason}"
        )
    return _conclude_call(record, offer, told)


def _conclude_call(record: CallRecord, offer: GatewayTool, told: Told) -> CallEnd:
    match told:
        case Returned(result):
            record.outcome = "edited" if record.edits else "passed"
            record.note_result(result)
            return CallEnd(attach_edits(result, record.edits), record, offer, told)
        case Rejected():
            record.outcome, record.reason = "failed", f"error {told.code}"
            record.reply = told.message
            return CallEnd(told, record, offer, told)
        case Failed(failure):
            unknown = is_unknown(failure, offer.tool.effects)
            made = build_failure(failure, offer, is_unknown=unknown)
            end = _fail_call(record, attach_edits(made, record.edits), failure.kind)
            record.outcome = "unknown" if unknown else "failed"
            return replace(end, offer=offer, told=told)


def _refuse_call(record: CallRecord, rule: str, text: str) -> CallEnd:
    record.outcome, record.reason, record.reply = "refused", rule, text
    return CallEnd(build_refusal(text, rule, record.edits), record)


def _fail_call(record: CallRecord, result: JsonObject, reason: str) -> CallEnd:
    record.outcome, record.reason = "failed", reason
    record.note_result(result)
    return CallEnd(result, record)


def _describe_refusal(refusal: Refusal, offer: GatewayTool) -> str:
    return f"'{offer.exposed}' was not called. Correct its arguments:\n{refusal.message}"


def _describe_unapproved(offer: GatewayTool, why: str) -> str:
    return (
        f"'{offer.exposed}' was not called: {why}, and nobody can be asked here. Tell the user: to"
        f' allow it, start the gateway with --allow {offer.reference}, or write "approve":'
        f' ["{offer.name}"] at the server {offer.server!r} in the servers file.'
    )
