"""One run of one query: its start on record, its tools, its strategy, its answer."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from callwright.agent.answer_text import AnswerText
from callwright.agent.earlier_turns import read_turns
from callwright.agent.execution.executor import Executor
from callwright.agent.execution.run_services import RunSafety
from callwright.agent.journal.ledger import Ledger
from callwright.agent.journal.resume import BEGUN, Resumption, resolve_doubts
from callwright.agent.journal.store import Journal
from callwright.agent.openings import Opened
from callwright.agent.questions import LimitReached, Questions
from callwright.agent.run import Run
from callwright.agent.run_events import Watch
from callwright.agent.running.asked import build_asked
from callwright.agent.running.configuration import resolve_configuration
from callwright.agent.running.identity import build_start_identity
from callwright.agent.running.observers import collect_sinks, drop_broken, is_withheld, open_trace
from callwright.agent.running.offered_tools import (
    announce_withheld,
    choose_tools,
    list_warnings,
    open_search,
    split_tools,
)
from callwright.agent.running.outcome import (
    add_assumed_values,
    add_output,
    build_run,
    fill_output,
    with_output,
    write_answer,
)
from callwright.agent.running.setup import Setup
from callwright.agent.strategies import Job, Strategy
from callwright.agent.today import choose_prompt_day
from callwright.grounding.output import OutputTarget
from callwright.nouns.limits import Budget
from callwright.nouns.redaction import select_redactable
from callwright.nouns.types import Message
from callwright.planning import open_planner
from callwright.repair.gate import Gate


async def run_query(
    setup: Setup,
    opened: Opened,
    query: str,
    conversation: tuple[Message, ...],
    ledger: Ledger,
    journal: Journal | None,
    resumed: Resumption = BEGUN,
    target: OutputTarget | None = None,
    watch: Watch | None = None,
) -> Run:
    """Answer one query with tools and a model that are open. ``ledger``: what is on record of the
    run, nothing for a new one; ``resumed``: how it goes on; ``target``: the type of a new run's
    output; ``watch`` is told of each event.
    """
    start, catalog, model = ledger.start, opened.catalog, opened.model
    opened = _keep_strictness(opened, start or {})
    config = await resolve_configuration(setup, opened, start, target)
    budget = Budget(config.limits, ledger.clock)
    lost: list[str] = []
    named = setup.options.persistence.secrets
    secrets = select_redactable((*catalog.secrets, *getattr(model, "secrets", ()), *named))
    sinks = collect_sinks(setup, catalog, query, journal, lost)
    trace = open_trace(sinks, secrets, ledger, watch)
    tools, kept_back = (
        ((), ()) if config.listing else split_tools(setup, opened, query, conversation, start)
    )
    trace.add(
        "run.start",
        query=query,
        conversation=conversation,
        tools=tools,
        mode=config.mode,
        model_profile=config.profile.name,
        limits=budget.limits,
        run=ledger.run,
        sandbox=config.is_sandboxed,
        ask=opened.consent.ask,
        dry_run=opened.consent.dry_run,
        today=config.today and config.today.isoformat(),
        began=None if start else round(time.time(), 3),
        **config.freeze.stated,
        shortlist=config.listing and config.listing.stated,
        offered=len(catalog),
        known=config.rates,
        withheld=is_withheld(trace, query, conversation, config.instructions),
        segment=ledger.segment,
        resumed=resumed.mode,
        **build_start_identity(setup, tools, model, config),
    )
    warned = list_warnings(catalog, opened.consent)
    trace.note(*filter(None, [resumed.message]), *(f"warning: {said}" for said in warned))
    await resolve_doubts(ledger, catalog.outcome, trace)
    on_reply = setup.options.interaction.on_reply
    on_reply = on_reply and drop_broken("on_reply gets no more text", on_reply, lost)
    questions = Questions(
        model, config.mode, budget, trace, on_reply, ledger, config.instructions, config.profile
    )
    reserve = None
    if config.listing is not None:
        reserve = open_search(
            setup, opened, config.listing, config.rates, trace, ledger, query, conversation
        )
        tools = await choose_tools(setup, opened, reserve, questions, budget, secrets)
        kept_back = tuple(reserve.kept_back)
    turns = read_turns(conversation, tools)
    today = choose_prompt_day(tools, config.today)
    executor = Executor(
        caller=catalog.call,
        gate=Gate(tools),
        asked=replace(
            build_asked(query, turns.words, config.instructions, today), earlier=turns.results
        ),
        questions=questions,
        budget=budget,
        trace=trace,
        ledger=ledger,
        safety=RunSafety(opened.consent, config.freeze, config.is_sandboxed),
    )
    executor.history = conversation
    executor.begin_after(turns.numbered, turns.list_unasked(query, tools))
    if ledger.segment > 1:
        executor.begin_with(ledger.facts, in_view=not config.freeze.on)
    announce_withheld(opened.consent, executor, kept_back, trace)
    job = Job(
        query=query,
        tools=tools,
        planner=setup.planner or open_planner(getattr(setup.strategy, "planner", None)),
        facts=executor,
        mode=config.mode,
        executor=executor,
        questions=questions,
        limits=budget.limits,
        trace=trace,
        conversation=turns.words,
        reserve=reserve,
        known=config.rates,
        today=today,
        output=config.target,
        streamed=AnswerText(watch, trace.redact) if watch is not None else None,
    )
    return await _run_and_answer(setup, opened, job, budget, lost)


def _keep_strictness(opened: Opened, began: Mapping[str, Any]) -> Opened:
    """Keep what was opened as strict as the run began; earlier versions do not say all of it."""
    ask, is_dry = began.get("ask", "destructive"), began.get("dry_run", False)
    return replace(opened, consent=opened.consent.asking(ask, dry_run=is_dry))


async def _run_and_answer(
    setup: Setup, opened: Opened, job: Job, budget: Budget, lost: Sequence[str]
) -> Run:
    """The run from its strategy to its answer."""
    limit = await _run_strategy(setup.strategy, job)
    if job.ledger.segment > 1:
        left = job.ledger.untaken
        job.executor.bring_in(r for r in job.ledger.facts.results if r.id in left)
    job.trace.note(*lost)
    undoing = [tool for tool in opened.catalog.tools if tool.compensates]
    answer = add_assumed_values(await write_answer(job, undoing), job)
    if job.streamed is not None:
        job.streamed.end(answer.text)
    if job.output is None:
        return build_run(setup, job, answer, budget, limit)
    filled, edits = await fill_output(job, job.output)
    answer = add_output(answer, filled, edits, job)
    return with_output(build_run(setup, job, answer, budget, limit, filled), filled)


async def _run_strategy(strategy: Strategy, job: Job) -> str:
    """Let the strategy work. The limit that ended it, or that kept a call from leaving, or ""."""
    try:
        await strategy.run(job)
    except LimitReached as reached:
        return reached.limit
    told = (event.data for event in job.trace.events if event.kind == "limit")
    return next((one["limit"] for one in told if one["purpose"] == "invoke"), "")
