"""The tools that a run is shown, those that are kept from it, and what its user is told of them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from callwright.agent.catalog_search import CatalogSearch, Shortlisting
from callwright.agent.execution.executor import Executor
from callwright.agent.journal.ledger import Ledger
from callwright.agent.openings import Opened
from callwright.agent.probing.charged_model import ChargedModel
from callwright.agent.probing.settings import OWN
from callwright.agent.questions import Questions
from callwright.agent.running.setup import Setup
from callwright.agent.safety.consent import Consent
from callwright.agent.safety.policy import (
    explain_withheld,
    find_asked,
    is_destructive,
    rank_by_request,
    select_withheld,
)
from callwright.models import open_model
from callwright.models.model_size import read_profile
from callwright.nouns.errors import ConfigError
from callwright.nouns.limits import Budget
from callwright.nouns.trace import Trace
from callwright.nouns.types import Message, Skip, Tool, ToolCall
from callwright.tools.catalog import Catalog
from callwright.tools.evidence import Known

_NAMED = 10  # tools in a note that says which are not shown, and problems that are noted


def split_tools(
    setup: Setup,
    opened: Opened,
    query: str,
    conversation: Sequence[Message],
    start: Mapping[str, Any] | None,
) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
    """The tools of a run, and those that are kept from it. A run that goes on is shown what it was
    shown, whatever is allowed now.
    """
    chosen = select_tools(opened.catalog, setup.options.selection.only)
    before = [row["name"] for row in start.get("tools") or ()] if start else []
    if start:
        kept_back = tuple(t for t in chosen if is_destructive(t) and t.name not in before)
        rows = {name: place for place, name in enumerate(before)}
        shown = [tool for tool in chosen if tool not in kept_back]
        return tuple(sorted(shown, key=lambda t: rows.get(t.name, len(rows)))), kept_back
    kept_back = select_withheld(chosen, opened.consent.may_be_called)
    shown = [tool for tool in chosen if tool not in kept_back]
    return rank_by_request(query, (m.content for m in conversation), shown), kept_back


def select_tools(catalog: Catalog, only: Sequence[str] | None) -> tuple[Tool, ...]:
    """The tools of a catalogue, or those of these names. Raises ConfigError where there are none."""
    if not catalog.tools:
        raise ConfigError(
            "no source offers a tool that can be used",
            hint="; ".join(catalog.problems) or "callwright tools SOURCE… lists what there is",
        )
    unknown = {*(only or ())} - {t.name for t in catalog.tools}
    if unknown:
        raise ConfigError(
            f"no source offers the tools {', '.join(sorted(unknown))}",
            hint="; ".join(catalog.problems) or "callwright tools SOURCE… lists what there is",
        )
    return tuple(t for t in catalog.tools if only is None or t.name in only)


def list_warnings(catalog: Catalog, consent: Consent) -> list[str]:
    """Return notes of the tools and options of a run for its user: everything of sources, and the
    first problems of single tools.
    """
    of_sources = (*catalog.unopened, *catalog.unlaid)
    others = [problem for problem in catalog.problems if problem not in of_sources]
    left = len(others) - _NAMED
    return [
        *of_sources,
        *catalog.unconfirmed,
        *others[:_NAMED],
        *([f"{left} more problems of tools: callwright tools lists them"] if left > 0 else ()),
        *(f"allow: {pattern!r} names no tool that is here" for pattern in consent.idle),
    ]


def announce_withheld(
    consent: Consent, executor: Executor, kept_back: Sequence[Tool], trace: Trace
) -> None:
    """Name the tools that are not shown, and what shows them, to the reader of the run. Those that
    the request asks for stand under what is missing, as a call does that was not approved; where
    the request cannot be read, whoever writes the answer is told.
    """
    if not kept_back:
        return
    named = [consent.offer(t).reference.partition("#")[0] for t in kept_back]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    options = " ".join(f"--allow {shlex.quote(name)}" for name in named[:_NAMED])
    trace.note(
        "nobody can approve calls of destructive tools, so they are not shown to the model; to show"
        f" them: {options}{more}"
    )
    said = executor.state.asked
    asked = find_asked(said.query, (m.content for m in said.conversation), kept_back)
    for tool, name in zip(kept_back, named, strict=True):
        if asked[tool.name]:
            executor.deny(ToolCall("", tool.name, {}), explain_withheld(name))
        else:
            executor.skip(
                [Skip(tool.name, explain_withheld(name), refused=asked[tool.name] is None)]
            )


def open_search(
    setup: Setup,
    opened: Opened,
    listing: Shortlisting,
    rates: Known,
    trace: Trace,
    ledger: Ledger,
    query: str,
    conversation: Sequence[Message],
) -> CatalogSearch:
    """The search of a catalogue of which a run is shown a part."""
    return CatalogSearch(
        {tool.name: tool for tool in select_tools(opened.catalog, setup.options.selection.only)},
        setup.index,
        listing,
        rates,
        trace,
        ledger,
        query,
        conversation,
        may_be_called=opened.consent.may_be_called,
    )


async def choose_tools(
    setup: Setup,
    opened: Opened,
    reserve: CatalogSearch,
    questions: Questions,
    budget: Budget,
    secrets: Sequence[str],
) -> tuple[Tool, ...]:
    """The tools that a run begins with. A model of the trials is open meanwhile; of another model
    than the run's own the questions are recorded and counted as the run's are.
    """
    probing, make = reserve.settings.probing, setup.options.selection.simulator
    async with AsyncExitStack() as stack:
        asked: Questions | None = None
        if probing.model == OWN:
            asked = questions
        elif probing.model:
            model = open_model(probing.model)
            stack.push_async_callback(model.aclose)
            mode = (await model.capabilities()).mode
            profile = setup.profile or await read_profile(model)
            asked = Questions(
                model, mode, budget, reserve.trace, None, reserve.ledger, profile=profile
            )
        simulator = (
            make(ChargedModel(asked.model, budget, budget.limits.model_calls // 4))
            if asked is not None and make is not None and probing.simulate != "never"
            else None
        )
        return await reserve.first(
            opened.catalog.call,
            budget,
            setup.options.persistence.evidence,
            secrets,
            dry_run=opened.consent.dry_run,
            model=asked,
            simulator=simulator,
        )
