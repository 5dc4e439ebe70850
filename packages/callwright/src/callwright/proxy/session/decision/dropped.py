"""Calls that do not reach the client: those that its settings forbid, that failed before, that
nobody offered, or that the guard keeps back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from callwright.agent.call_key import make_call_key
from callwright.agent.safety.clear import Denied
from callwright.agent.safety.held_call import HeldCall
from callwright.nouns.types import Edit
from callwright.nouns.wire_names import EditRule, EditRules
from callwright.proxy.session import guard
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import AnswerCall, Decision, serialize_call
from callwright.proxy.session.refining import UNASKED
from callwright.repair.gate import Refusal

_WITHHELD: Mapping[str, EditRule] = {
    "repeated_write": EditRules.REPEATED_WRITE,
    "unstated_value": EditRules.UNSTATED_VALUE,
    "undoing_write": EditRules.UNDOING_WRITE,
}
"""The rules for which a call may not leave, of those that need no plan and no approval: the client
asks for approval. Any other is listed as a refusal.
"""


def drop_hallucinated_calls(
    work: list[AnswerCall], text: str, made: Decision, context: Context
) -> list[AnswerCall]:
    """Without calls of tools that nobody offered, where there is nothing else and a better answer
    can be had.
    """
    hallucinated = all(isinstance(w.verdict, Refusal) and w.verdict.tool is None for w in work)
    if (
        not work
        or not hallucinated
        or text.strip()
        or context.native
        or context.demanded
        or context.toolset.opaque
    ):
        return work
    if not context.questions and context.choice != "none":
        return work
    made.edits += [Edit(f"/{n}", serialize_call(w.call), None, UNASKED) for n, w in enumerate(work)]
    made.violations.clear()
    return []


def drop_disallowed(work: list[AnswerCall], made: Decision, context: Context) -> list[AnswerCall]:
    """Return the calls that the client's ``tool_choice`` allows."""
    kept: list[AnswerCall] = []
    for place, one in enumerate(work):
        if context.choice == "none":
            rule = EditRules.TOOL_CHOICE_NONE
        elif context.named and one.call.tool != context.named:
            rule = EditRules.TOOL_CHOICE_NAMED
        else:
            kept.append(one)
            continue
        made.edits.append(Edit(f"/{place}", serialize_call(one.call), None, rule))
    return kept


def drop_loops(work: list[AnswerCall], made: Decision, context: Context) -> list[AnswerCall]:
    """Without calls that were made before with the same arguments and failed every time."""
    stuck = {loop.call: loop for loop in context.loops}
    if not stuck:
        return work
    kept = []
    for place, one in enumerate(work):
        loop = stuck.get(make_call_key(one.call))
        if loop is None:
            kept.append(one)
            continue
        said = (
            f"The call of '{one.call.tool}' with these arguments has failed {loop.times} times in a"
            f" row and was not made again: {loop.said}"
        )
        made.edits.append(Edit(f"/{place}", serialize_call(one.call), None, EditRules.LOOP))
        made.notes.append(said)
        made.text.append(said)
    return kept


def drop_withheld(
    work: list[AnswerCall], made: Decision, context: Context
) -> tuple[list[AnswerCall], str]:
    """Without the writes that must not be made, and why they are not."""
    kept, problems = [], []
    cleared = guard.clear_calls(context, [w.call for w in work], [w.verdict for w in work])
    for place, (one, verdict) in enumerate(zip(work, cleared, strict=True)):
        if isinstance(verdict, Denied):
            is_sent = context.guard == "report"
            why = verdict.rule, verdict.reason, is_sent, verdict.meant, verdict.missing
            made.held.append(HeldCall(one.call, *why))
        if isinstance(verdict, Denied) and context.guard == "report":
            made.notes.append(f"would be kept back: {verdict.reason}")
        elif isinstance(verdict, Denied):
            rule = _WITHHELD.get(verdict.rule, EditRules.REFUSED)
            made.edits.append(Edit(f"/{place}", serialize_call(one.call), None, rule))
            problems.append(verdict.reason)
            continue
        one.cleared = (
            verdict if not isinstance(verdict, Denied) else guard.pass_through(one.verdict)
        )
        kept.append(one)
    made.notes += problems
    return kept, " ".join(dict.fromkeys(problems))


def list_withheld(held: Iterable[HeldCall]) -> list[Edit]:
    """Return the edits for calls that were kept back in decisions that left no call."""
    return [
        Edit("", serialize_call(one.call), None, _WITHHELD.get(one.rule, EditRules.REFUSED))
        for one in held
        if not one.is_sent
    ]


def drop_further(work: list[AnswerCall], made: Decision, context: Context) -> list[AnswerCall]:
    """Return the first call, where ``parallel_tool_calls`` allows no more. Those that are not made
    for another reason are gone by then.
    """
    if context.parallel:
        return work
    made.edits += [
        Edit(f"/{n}", serialize_call(one.call), None, EditRules.NO_PARALLEL_CALLS)
        for n, one in enumerate(work[1:], 1)
    ]
    return work[:1]
