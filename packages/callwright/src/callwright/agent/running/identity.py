"""The record that a run makes of itself at its start, and the way in which a resumed one goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callwright import __version__
from callwright.agent.catalog_search import Shortlisting, collect_digests
from callwright.agent.journal.ended import recorded_outcome
from callwright.agent.journal.ledger import Ledger
from callwright.agent.journal.resume import (
    HAD_CHANGED,
    Resumption,
    build_identity,
    choose_resumption,
    read_conversation,
)
from callwright.agent.journal.store import Journal
from callwright.agent.openings import Opened
from callwright.agent.run import Cost, Run
from callwright.agent.running.configuration import RunConfiguration
from callwright.agent.running.offered_tools import split_tools
from callwright.agent.running.outcome import with_output
from callwright.agent.running.setup import Setup
from callwright.grounding.output import Output, OutputTarget
from callwright.nouns.protocols import ChatModel
from callwright.nouns.trace import Event
from callwright.nouns.types import Tool


def decide_resumption(
    setup: Setup,
    opened: Opened,
    ledger: Ledger,
    journal: Journal,
    is_changed: bool,
) -> Resumption:
    """Return the way in which a run goes on. A segment that has recorded no answer yet is
    continued, whoever began it. Raises JournalError where it does not go on.
    """
    start = ledger.start or {}
    before, digests = _collect_digests(setup, opened, start, journal.events())
    listing = Shortlisting.of(start)
    now = {**_build_run_identity(setup, (), opened.model, listing), "digests": digests}
    how = choose_resumption(before, now, journal.run, is_changed=is_changed)
    if ledger.is_new_segment and not is_changed:
        return Resumption("continue", how.changed or (HAD_CHANGED,))
    return how


def _collect_digests(
    setup: Setup, opened: Opened, start: Mapping[str, Any], events: Sequence[Event]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The start of a run with the digests of all tools that it was shown, and the digests of these
    tools now.
    """
    if Shortlisting.of(start) is None:
        tools, _ = split_tools(setup, opened, start["query"], read_conversation(start), start)
        return dict(start), {tool.name: tool.digest for tool in tools}
    before, catalog = collect_digests(events), opened.catalog
    return {**start, "digests": before}, {
        name: catalog[name].digest for name in before if name in catalog
    }


def _build_run_identity(
    setup: Setup,
    tools: Sequence[Tool],
    model: ChatModel,
    listing: Shortlisting | None,
    *,
    has_output: bool = False,
) -> dict[str, Any]:
    probing = listing is not None and listing.trials != "off"
    name = setup.strategy.name
    identity = build_identity(
        __version__, tools, model.name, name, is_probing=probing, has_output=has_output
    )
    return {**identity, **_state_instructions(setup.instructions)}


def build_start_identity(
    setup: Setup, tools: Sequence[Tool], model: ChatModel, config: RunConfiguration
) -> dict[str, Any]:
    """Return what the start of a run records of itself, for a resume."""
    has_output = config.target is not None
    identity = _build_run_identity(setup, tools, model, config.listing, has_output=has_output)
    instructions = _state_instructions(config.instructions)
    return {**identity, **instructions, **_state_target(config.target)}


def _state_instructions(instructions: str) -> dict[str, str]:
    """The instructions as the start of a run names them; nothing where there are none."""
    return {"instructions": instructions} if instructions else {}


def _state_target(target: OutputTarget | None) -> dict[str, Any]:
    """The type of the output as the start of a run names it; nothing where there is none."""
    return {} if target is None else {"output": [target.schema, target.is_wrapped]}


def load_recorded_run(life: Sequence[Event], run: str) -> Run:
    """A run that has ended, as its journal tells it."""
    told = recorded_outcome(life)
    made = Run(**{**told, "cost": Cost(**told["cost"]), "id": run})
    answer = next(event.data for event in reversed(life) if event.kind == "answer")
    if "output" not in answer:
        return made
    value, lacking = answer["output"]["value"], tuple(answer["output"]["lacking"])
    return with_output(made, Output(value, value, lacking))
