"""The outcome of a run: the answer with what must be said for certain, its output, its record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from callwright.agent.execution.perform import perform
from callwright.agent.questions import LimitReached
from callwright.agent.run import Cost, Run, Status, TypedRun
from callwright.agent.running.observers import drop_broken
from callwright.agent.running.setup import Setup
from callwright.agent.step import converse
from callwright.agent.strategies import Job
from callwright.agent.strategies.compensation import offer_compensations
from callwright.agent.strategies.missing_parts import close_run
from callwright.grounding import build_abstention
from callwright.grounding.output import Filled, Output, OutputTarget
from callwright.language.spoken import guess_spoken, load_phrases
from callwright.nouns.limits import Budget
from callwright.nouns.types import Answer, Edit, Tool, to_json


async def write_answer(job: Job, undoing: Sequence[Tool] = ()) -> Answer:
    """The Finish step, and what its reply names as missing; where a limit forbids the question, the
    answer says what was found without one. ``undoing``: the tools that undo the calls of others.
    """
    try:
        answer = _add_certain_facts(await perform(close_run(job), job), job)
        offered = offer_compensations(job, undoing) if answer.missing else ()
        return _add_notes(answer, offered, job.query)
    except LimitReached as reached:
        results, skips = job.executor.results, job.executor.missing
        why = f"the run's limit of {reached.limit} was reached before the answer"
        return build_abstention(results, skips, why, job.query)


def add_assumed_values(answer: Answer, job: Job) -> Answer:
    """The answer with the values on which it rests and which the model made up, said in its text;
    in a text that is to stay the model's own, beside it.
    """
    told = tuple(dict.fromkeys(map(str, job.executor.assumed)))
    if not told:
        return answer
    text = (
        answer.text
        if job.as_written
        else f"{answer.text}\n\n{load_phrases(guess_spoken(job.query))['assumptions']}:"
        + "".join(f"\n- {one}" for one in told)
    )
    return replace(answer, text=text, assumed=told)


def _add_certain_facts(answer: Answer, job: Job) -> Answer:
    """The answer, and under what is missing what must be said for certain, whatever the model says:
    the writes that rested on a value which was wrong, those that may or may not have happened, and
    the calls that were not approved, rest on a value that nothing states, or were made once only.
    """
    executor = job.executor
    certain = (
        *(*executor.outdated, *executor.in_doubt, *executor.denied, *executor.kept_back),
        *executor.not_repeated,
    )
    left = (s for s in certain if not any(s.reason in part for part in answer.missing))
    told = tuple(f"{s.tool}: {s.reason}" for s in left)
    return _add_notes(answer, told, job.query)


def _add_notes(answer: Answer, told: tuple[str, ...], query: str) -> Answer:
    """The answer with more under what is missing. ``query``: what tells the language."""
    if not told:
        return answer
    head = "" if answer.missing else f"\n\n{load_phrases(guess_spoken(query))['missing']}:"
    text = answer.text + head + "".join(f"\n- {note}" for note in told)
    return replace(answer, text=text, missing=(*answer.missing, *told))


async def fill_output(job: Job, target: OutputTarget) -> Filled:
    """The results filled into a type; where a limit forbids the question, that is what it lacks."""
    try:
        return await perform(converse(job.fill_output(target)), job)
    except LimitReached as reached:
        return Output(lacking=(f"the run's limit of {reached.limit} was reached before it",)), ()


def add_output(answer: Answer, filled: Output, edits: Sequence[Edit], job: Job) -> Answer:
    """The answer with the edits of the output, and what the output lacks under what is missing."""
    located = (replace(edit, path=f"/output{edit.path}") for edit in edits)
    lacking = filled.lacking if job.executor.succeeded else ()  # else the answer says so already
    answer = _add_notes(answer, tuple(f"output {one}" for one in lacking), job.query)
    return replace(answer, edits=(*answer.edits, *located))


def with_output(run: Run, filled: Output) -> TypedRun[Any]:
    """The run with its output."""
    told = {one.name: getattr(run, one.name) for one in fields(Run)}
    return TypedRun(**told, output=filled.loaded, lacking=filled.lacking)


def _classify_status(answer: Answer, *, found: bool, limit: str) -> Status:
    if not found:
        return "abstained"
    if answer.missing or answer.assumed or limit:
        return "partial"
    return "answered"


def build_run(
    setup: Setup,
    job: Job,
    answer: Answer,
    budget: Budget,
    limit: str,
    filled: Output | None = None,
) -> Run:
    """The run that has ended, after its end is on record and its answer was shown."""
    executor = job.executor
    unanswered = job.as_written and job.given_up is not None  # then not even what was found is told
    is_supported = any(one.support != "unsupported" for one in answer.statements)
    # what earlier turns brought may be all that the request needs
    found = bool(executor.succeeded or (executor.state.earlier and is_supported)) and not unanswered
    found = found or (job.asks_for_nothing and bool(answer.text))
    status = _classify_status(answer, found=found, limit=limit)
    cost = Cost(
        budget.model_calls, budget.usage, budget.seconds, budget.tool_calls, dict(executor.repairs)
    )
    told = filled and {"value": filled.value, "lacking": filled.lacking}
    job.trace.add("answer", **to_json(answer), **({"output": told} if told else {}))
    if job.streamed is not None:
        job.streamed.end(answer.text)
    in_doubt = tuple(executor.doubted)
    job.trace.add("run.end", status=status, limit=limit, cost=cost, in_doubt=in_doubt)
    if (on_text := setup.options.interaction.on_text) is not None:
        # nothing that it does loses the finished run
        show = drop_broken("on_text gets no more text", on_text, [])
        for piece in answer.text.splitlines(keepends=True):
            show(piece)
    return Run(
        query=job.query,
        strategy=setup.strategy.name,
        status=status,
        answer=answer,
        plan=job.plan,
        results=tuple(executor.all_results),
        skips=tuple(executor.skips),
        cost=cost,
        events=tuple(job.trace.events),
        limit=limit,
        id=job.ledger.run,
        stale=tuple(r.id for r in executor.all_results if r.id in executor.state.stale),
        in_doubt=in_doubt,
        assumed=executor.assumed,
    )
