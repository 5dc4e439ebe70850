"""Questions to the upstream about an answer's calls: to a refiner, about what is refused, for other
calls, for words.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from callwright.agent.leading.forms import hold_to_meant
from callwright.agent.leading.user_question import UserQuestion
from callwright.language.spoken import guess_spoken, load_phrases
from callwright.language.tokens import has_question_mark
from callwright.nouns.types import CheckedCall, Reply
from callwright.nouns.wire_names import EditRules
from callwright.parsing import parse_calls
from callwright.proxy.session import followup, words
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import (
    AnswerCall,
    Decision,
    Found,
    Question,
    list_asked_again,
)
from callwright.proxy.session.decision.dropped import (
    drop_disallowed,
    drop_further,
    drop_loops,
    drop_withheld,
)
from callwright.proxy.session.decision.readings import (
    get_refused_call,
    keep_accepted,
    read_usable_calls,
)
from callwright.proxy.session.hallucinated_calls import find_hallucinated_call
from callwright.proxy.session.leading import guided, user_question
from callwright.proxy.session.model_rule import refine_calls
from callwright.proxy.session.wording import NO_WORDS
from callwright.repair.by_model.question import QUESTION_RULES, QuestionContext
from callwright.repair.draft import Draft, Drafts
from callwright.repair.pipeline import run_rules
from callwright.repair.provenance.sources import ProvenanceIndex


def ask_refiner(
    work: list[AnswerCall], made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """The calls after the pipeline's rule of a refiner, where the settings have one."""
    if context.settings.refiner is None or not work or context.choice == "none":
        return work
    steps = refine_calls([one.call for one in work], context)
    drafts = Drafts(())
    try:
        request = next(steps)
        while True:
            reply = yield Question("refine", {}, request=request)
            request = steps.send(reply)
    except StopIteration as end:
        drafts = end.value
    made.notes += [f"left alone: {a.reason}" for a in drafts.render_abstentions()]
    edits = drafts.render_edits()
    if not edits:
        return work
    made.edits += edits
    return [_take_draft(draft, work, context) for draft in drafts]


def _take_draft(draft: Draft, work: Sequence[AnswerCall], context: Context) -> AnswerCall:
    """The call of a draft that the refiner left; the one it was made of, if that is the same."""
    call = draft.call
    before = work[draft.id] if draft.origin is not None else None
    if before is not None and (call.tool, call.arguments) == (
        before.call.tool,
        before.call.arguments,
    ):
        return before
    made = AnswerCall(
        before.found if before else Found(call), call, context.toolset.gate.check(call)
    )
    made.changed = True
    made.refused = None if before is None else get_refused_call(before)
    return made


def ask_about_refused(
    work: list[AnswerCall], made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """The calls after the pipeline's question about those that are refused: each question goes to
    the upstream.
    """
    if all(isinstance(one.verdict, CheckedCall) for one in work):
        return work
    drafts, gate = Drafts(one.call for one in work), context.toolset.gate
    sources = ProvenanceIndex(context.query, context.messages)
    steps = run_rules(QUESTION_RULES, drafts, QuestionContext(gate, sources, context.grant))
    try:
        request = next(steps)
        while True:
            made.asked += 1
            reply = yield Question("repair", followup.build_question_body(request, context))
            request = steps.send(reply)
    except StopIteration:
        made.edits += drafts.render_edits()
    for one, draft in zip(work, drafts, strict=True):
        if draft.call is not one.call:
            one.refused = get_refused_call(one)
            one.call, one.verdict, one.changed = draft.call, gate.check(draft.call), True
    return work


def ask_replacement(
    problem: str, text: str, made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """Another call where the client insists on one, else an answer in words; where neither comes,
    a question for what nothing states, or the reason.
    """
    if not context.demanded:
        work = yield from _ask_for_meant(problem, made, context)
        if not work:
            yield from ask_in_words(made, context, problem)
        return work
    if context.grant():
        made.asked += 1
        if context.schema:
            reply = yield Question("guided", guided.build_body(context, problem=problem))
            work = read_usable_calls(reply, context)
        else:
            reply = yield Question("again", followup.build_followup(problem, text, context))
            work = keep_accepted(followup.read_calls(reply, context), Decision(), context)
        trial = Decision()
        work, _ = drop_withheld(drop_disallowed(work, trial, context), trial, context)
        work = drop_further(work, trial, context)
        made.held += trial.held
        made.edits += list_asked_again(work)
        if work:
            return work
    made.text.append(_build_question(made, context).in_fixed_words or problem)
    return []


def _ask_for_meant(
    problem: str, made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """The calls once more, where the user's words lead to other values; none where that does not
    help.
    """
    tools = hold_to_meant(context.toolset.tools, made.held)
    if not tools or not context.schema or not context.grant():
        return []
    made.asked += 1
    body = guided.build_body(context, problem=problem, tools=tools, may_decline=False)
    work = read_usable_calls((yield Question("guided", body)), context)
    trial = Decision()
    work, _ = drop_withheld(drop_disallowed(work, trial, context), trial, context)
    made.edits += list_asked_again(work)
    return work


def ask_in_words(
    made: Decision, context: Context, problem: str = ""
) -> Generator[Question, Reply, None]:
    """An answer in words in place of calls that nobody asked for, or that are not made because of a
    ``problem``. That is told where nothing else is said.
    """
    question = _build_question(made, context)
    told = question.in_fixed_words or problem  # to the user; the model is told the problem
    if not context.grant():
        made.notes.append("no budget to ask for an answer in words")
        made.text.append(told or _render_silence(context))
        return
    if (
        question.held and context.schema
    ):  # held to a question, a reply cannot claim what was not done
        reply = yield Question("words", user_question.build_body(question, context))
        made.text.append(question.read_reply(reply.text) or told)
        return
    live = words.LiveWords(context)
    # the words that end a led turn were asked for so before
    why = problem or (NO_WORDS if context.choice == "none" else "")
    reply = yield Question("words", guided.build_body_in_words(context, why), live.read)
    said = live.close(reply.text) if live.said else _read_in_words(reply, told, context)
    if question.held and said != told and not has_question_mark(said):
        said = f"{said.rstrip()}\n\n{told}".lstrip()  # it may claim what was not done
    made.text.append(said)


def _build_question(made: Decision, context: Context) -> UserQuestion:
    """The question to the user for the calls that rest on a value which nothing states."""
    return user_question.ask_about([one for one in made.held if one.is_unstated], context)


def _read_in_words(reply: Reply, problem: str, context: Context) -> str:
    """The words of a reply that are no call; the problem where it has none."""
    parsed = parse_calls(reply.text, context.toolset.tools)
    said = parsed.text if parsed.calls else reply.text
    if not said.strip() or find_hallucinated_call(said, context) is not None:
        return problem or _render_silence(context)
    return said


def _render_silence(context: Context) -> str:
    """Fixed words for a user who gets no others; "" where the results say more."""
    if words.is_after_results(context):
        return ""
    return load_phrases(guess_spoken(context.query))["no_reply"]


def explain_unusable(text: str, made: Decision, context: Context) -> str:
    """Return the reason why the present answer is not acceptable, or ""."""
    if any(e.rule == EditRules.LOOP for e in made.edits):
        return (
            f"{made.notes[-1]} Do something else: other arguments, another tool, or tell the user"
            " what is wrong."
        )
    if context.choice == "named":
        return f"You must call the tool '{context.named}' now."
    if context.choice == "required":
        return "You must call at least one of the tools now."
    if context.choice == "none" and made.edits and not text.strip():
        return "Tools must not be called now: answer in words."
    return ""


def ask_followup(
    why: str, text: str, finish: str, made: Decision, context: Context
) -> Generator[Question, Reply, list[AnswerCall]]:
    """One question in the conversation itself; its calls are taken only if the gate lets them
    through.
    """
    is_for_words = context.choice == "none"
    if finish == "length" or not context.grant():
        made.notes.append(f"not asked again, no budget: {why}")
        made.text += [_render_silence(context)] if is_for_words else []
        return []
    made.asked += 1
    reply = yield Question("again", followup.build_followup(why, text, context))
    if is_for_words:
        made.text.append(_read_in_words(reply, "", context))
        return []
    trial = Decision()
    work = drop_disallowed(
        keep_accepted(followup.read_calls(reply, context), trial, context), trial, context
    )
    work, _ = drop_withheld(drop_loops(work, trial, context), trial, context)
    work = drop_further(work, trial, context)
    made.held += trial.held
    if not work:
        made.notes.append("asked again, without a usable call")
        return []
    made.edits += trial.edits
    made.edits += list_asked_again(work)
    made.text.clear()
    return work
