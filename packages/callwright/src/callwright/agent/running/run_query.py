"""One run of one query: its start on record, its tools, its strategy, its answer."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from callwright.agent.answer_text import AnswerText
from callwright.agent.catalog_search import Shortlisting
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
from callwright.agent.running.asked import build_asked, get_run_date
from callwright.agent.running.identity import build_start_identity, read_target
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
from callwright.agent.safety.freeze import Freeze
from callwright.agent.strategies import Job, Strategy
from callwright.agent.today import choose_prompt_day
from callwright.grounding.output import OutputTarget
from callwright.models.model_size import read_profile
from callwright.nouns.errors import EvidenceError
from callwright.nouns.limits import Budget, Limits
from callwright.nouns.model_profile import SMALL, ModelProfile, find_profile
from callwright.nouns.protocols import ChatModel, ReplyMode
from callwright.nouns.redaction import select_redactable
from callwright.nouns.types import Message
from callwright.planning import open_planner
from callwright.repair.gate import Gate
from callwright.tools.catalog import Catalog
from callwright.tools.evidence import get_known_rates


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
    consent = opened.consent
    target = target if start is None else read_target(start)
    profile = await _choose_profile(setup, model, start)
    limits = Limits(**start["limits"]) if start else profile.widen_limits(setup.limits)
    budget = Budget(limits, ledger.clock)
    lost: list[str] = []
    named = setup.options.persistence.secrets
    secrets = select_redactable((*catalog.secrets, *getattr(model, "secrets", ()), *named))
    sinks = collect_sinks(setup, catalog, query, journal, lost)
    trace = open_trace(sinks, secrets, ledger, watch)
    listing = Shortlisting.of(start) if start else setup.shortlist
    tools, kept_back = (
        ((), ()) if listing else split_tools(setup, opened, query, conversation, start)
    )
    rates = start.get("known", {}) if start else _read_success_rates(setup, catalog)
    mode = start["mode"] if start else await _choose_mode(setup, model)
    sandbox = start.get("sandbox", False) if start else setup.options.safety.sandbox
    instructions = start.get("instructions", "") if start else setup.instructions
    freeze = Freeze.anew(start or setup.freeze)
    today = get_run_date(setup, start)
    trace.add(
        "run.start",
        query=query,
        conversation=conversation,
        tools=tools,
        mode=mode,
        model_profile=profile.name,
        limits=budget.limits,
        run=ledger.run,
        sandbox=sandbox,
        ask=consent.ask,
        dry_run=consent.dry_run,
        today=today and today.isoformat(),
        began=None if start else round(time.time(), 3),
        **freeze.stated,
        shortlist=listing and listing.stated,
        offered=len(catalog),
        known=rates,
        withheld=is_withheld(trace, query, conversation, instructions),
        segment=ledger.segment,
        resumed=resumed.mode,
        **build_start_identity(setup, tools, model, listing, instructions, target),
    )
    warned = list_warnings(catalog, consent)
    trace.note(*filter(None, [resumed.message]), *(f"warning: {said}" for said in warned))
    await resolve_doubts(ledger, catalog.outcome, trace)
    on_reply = setup.options.interaction.on_reply
    on_reply = on_reply and drop_broken("on_reply gets no more text", on_reply, lost)
    questions = Questions(model, mode, budget, trace, on_reply, ledger, instructions, profile)
    reserve = None
    if listing is not None:
        reserve = open_search(setup, opened, listing, rates, trace, ledger, query, conversation)
        tools = await choose_tools(setup, opened, reserve, questions, budget, secrets)
        kept_back = tuple(reserve.kept_back)
    turns = read_turns(conversation, tools)
    executor = Executor(
        caller=catalog.call,
        gate=Gate(tools),
        asked=replace(
            build_asked(query, turns.words, instructions, choose_prompt_day(tools, today)),
            earlier=turns.results,
        ),
        questions=questions,
        budget=budget,
        trace=trace,
        ledger=ledger,
        safety=RunSafety(consent, freeze, sandbox),
    )
    executor.history = conversation
    executor.begin_after(turns.numbered, turns.list_unasked(query, tools))
    if ledger.segment > 1:
        executor.begin_with(ledger.facts, in_view=not freeze.on)
    announce_withheld(consent, executor, kept_back, trace)
    job = Job(
        query=query,
        tools=tools,
        planner=setup.planner or open_planner(getattr(setup.strategy, "planner", None)),
        facts=executor,
        mode=mode,
        executor=executor,
        questions=questions,
        limits=budget.limits,
        trace=trace,
        conversation=turns.words,
        reserve=reserve,
        known=rates,
        today=choose_prompt_day(tools, today),
        output=target,
        streamed=AnswerText(watch, trace.redact) if watch is not None else None,
    )
    return await _run_and_answer(setup, opened, job, budget, lost)


def _keep_strictness(opened: Opened, began: Mapping[str, Any]) -> Opened:
    """Keep what was opened as strict as the run began; earlier versions do not say all of it."""
    ask, is_dry = began.get("ask", "destructive"), began.get("dry_run", False)
    return replace(opened, consent=opened.consent.asking(ask, dry_run=is_dry))


async def _choose_mode(setup: Setup, model: ChatModel) -> ReplyMode:
    """The way to ask for calls: the one that is named, or the endpoint's best."""
    return setup.options.interaction.mode or (await model.capabilities()).mode


async def _choose_profile(
    setup: Setup, model: ChatModel, start: Mapping[str, Any] | None
) -> ModelProfile:
    """The profile of a run: the one that it began with, the one that is named, or that of the
    model's size.
    """
    if start is not None:
        return find_profile(start.get("model_profile", SMALL.name))
    if setup.profile is not None:
        return setup.profile
    return await read_profile(model)


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


def _read_success_rates(setup: Setup, catalog: Catalog) -> dict[str, float]:
    """Return the known success rates of the catalogue's tools; empty if the evidence cannot be
    read.
    """
    try:
        return (
            get_known_rates(setup.options.persistence.evidence.rates(), catalog.tools)
            if setup.options.persistence.evidence is not None
            else {}
        )
    except EvidenceError:  # the recorder says so
        return {}
