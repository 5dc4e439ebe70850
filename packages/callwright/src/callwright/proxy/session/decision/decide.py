"""Decides what the client gets for an answer's calls. A generator without I/O: it yields the body
of a question to the upstream and is sent the reply. It asks at most as often as the request's
budget grants.

Refine and gate come first. If the upstream's own calls do not work, a second reading by schema may
follow. It needs a refusal, or a request that seems to need more calls. Next come the client's
settings (``tool_choice``, ``parallel_tool_calls``). Last come loops, and writes that must not be
made (:mod:`callwright.proxy.session.guard`). A correct answer stays unchanged, to the byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from callwright.nouns.types import CheckedCall, Edit
from callwright.nouns.wire_names import EditRules
from callwright.proxy.session import custom_tools, ids
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import (
    AnswerCall,
    Decision,
    DecisionSteps,
    Found,
    Repaired,
    Sent,
    serialize_call,
)
from callwright.proxy.session.decision.dropped import (
    drop_disallowed,
    drop_further,
    drop_hallucinated_calls,
    drop_loops,
    drop_withheld,
)
from callwright.proxy.session.decision.questions import (
    ask_about_refused,
    ask_followup,
    ask_in_words,
    ask_refiner,
    ask_replacement,
    explain_unusable,
)
from callwright.proxy.session.decision.readings import (
    ask_for_open_wishes,
    drop_duplicates,
    drop_restated,
    repair_calls,
    reread_by_schema,
)
from callwright.proxy.session.decision.values import (
    fill_from_results,
    leave_out_unstated,
    restore_likely,
    take_named_days,
)
from callwright.proxy.session.refining import UNASKED


def decide_calls(
    found: Sequence[Found], text: str, finish: str, context: Context, *, is_leading: bool = False
) -> DecisionSteps:
    """Decide on every call of an answer; ``text`` is what else it says, ``finish`` the upstream's
    finish_reason. ``is_leading``: where no call is left nobody is asked for another one or for
    words; whoever asked for these calls knows what comes next.
    """
    made = Decision(dialect=next((f.dialect for f in found if f.dialect), ""))
    repaired = repair_calls(drop_duplicates(found, made), made, context)
    repaired = drop_restated(repaired, made, context)
    if context.leave_out:
        yield from restore_likely(repaired, made, context)
    repaired = drop_hallucinated_calls(repaired, text, made, context)
    repaired = yield from reread_by_schema(repaired, finish, made, context)
    repaired = yield from ask_for_open_wishes(repaired, finish, made, context)
    if finish != "length":  # a call that was cut off is never completed
        repaired = yield from ask_refiner(repaired, made, context)
        repaired = yield from ask_about_refused(repaired, made, context)
    work: list[AnswerCall] = drop_disallowed(repaired, made, context)
    work = drop_loops(work, made, context)
    fill_from_results(work, made, context)
    take_named_days(work, made, context)
    yield from leave_out_unstated(work, made, context)
    work, problem = drop_withheld(work, made, context)
    work = drop_further(work, made, context)
    made.problems += [problem] if problem else []
    rules = {edit.rule for edit in made.edits}
    # the words that end a led turn are asked for again without its tools
    is_last = context.leave_out and EditRules.TOOL_CHOICE_NONE in rules
    if is_leading:
        pass
    elif not work and problem:
        work = yield from ask_replacement(problem, text, made, context)
    elif not work and not text.strip() and (UNASKED in rules or is_last):
        yield from ask_in_words(made, context)
    elif not work and (why := explain_unusable(text, made, context)):
        work = yield from ask_followup(why, text, finish, made, context)
    _add_calls(work, made, context)
    made.stopped = (
        bool(made.calls) and finish == "stop" and context.choice != "named"
    )  # there it is the rule
    return made


def _add_calls(work: list[AnswerCall], made: Decision, context: Context) -> None:
    """Calls as the client gets them; what is no call of an offered tool, or no JSON object, is said
    in words.
    """
    taken: set[str] = set()
    free = custom_tools.list_names(context.body["tools"])
    for one in work:
        if _refuse_call(one, made, context):
            continue
        index = len(made.calls)
        same = one.found.native >= 0 and one.found.sound and not one.changed and not made.asked
        given = one.found.call.id if one.found.native >= 0 and not made.asked else ""
        own = bool(given) and given not in taken
        called = given if own else ids.make_call_id(context.seed, index, asked=bool(made.asked))
        taken.add(called)
        text = one.found.call.arguments if same else one.call.arguments
        text = text if isinstance(text, str) else json_bytes(text).decode()
        call = one.call if one.call.id == called else replace(one.call, id=called)
        how = same and own, one.cleared, call.tool in free
        made.calls.append(Sent(call, text, one.found.native, *how))
        if one.refused is not None:
            made.repaired.append(Repaired(called, *one.refused))


def _refuse_call(one: AnswerCall, made: Decision, context: Context) -> bool:
    """Return True if a call is not sent to the client. A call that only its schema forbids is sent
    with a warning unless the settings differ. Its schema may be wrong, and the client's own check
    answers the model.
    """
    if isinstance(one.verdict, CheckedCall):
        return False
    made.violations += [
        v for v in one.verdict.violations if v.message not in {m.message for m in made.violations}
    ]
    if one.verdict.tool is None:
        if context.toolset.opaque:
            return False
        names = ", ".join(sorted(context.toolset.names))
        said = f"The model called '{one.call.tool}', which is not among the offered tools: {names}."
        made.edits.append(Edit("", serialize_call(one.call), None, EditRules.UNKNOWN_TOOL))
        made.text.append(said)
        return True
    if context.settings.refused == "text" or (
        one.found.native < 0 and isinstance(one.call.arguments, str)
    ):
        made.edits.append(Edit("", serialize_call(one.call), None, EditRules.REFUSED))
        made.text.append(f"The call of '{one.call.tool}' was refused. {one.verdict.message}")
        return True
    return False
