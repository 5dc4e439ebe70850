"""The configuration of one run: that of its record, where it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from callwright.agent.catalog_search import Shortlisting
from callwright.agent.openings import Opened
from callwright.agent.running.asked import get_run_date
from callwright.agent.running.setup import Setup
from callwright.agent.safety.freeze import Freeze
from callwright.grounding.output import OutputTarget
from callwright.models.model_size import read_profile
from callwright.nouns.errors import EvidenceError
from callwright.nouns.limits import Limits
from callwright.nouns.model_profile import SMALL, ModelProfile, find_profile
from callwright.nouns.protocols import ChatModel, ReplyMode
from callwright.tools.catalog import Catalog
from callwright.tools.evidence import get_known_rates


@dataclass(frozen=True, slots=True)
class RunConfiguration:
    """The settings and facts that do not change in a run. ``listing``: how a part of the tools is
    chosen, None where all are shown; ``rates``: the known success rates of tools.
    """

    profile: ModelProfile
    limits: Limits
    listing: Shortlisting | None
    rates: dict[str, float]
    mode: ReplyMode
    is_sandboxed: bool
    instructions: str
    freeze: Freeze
    today: date | None
    target: OutputTarget | None


async def resolve_configuration(
    setup: Setup, opened: Opened, start: Mapping[str, Any] | None, target: OutputTarget | None
) -> RunConfiguration:
    """Return the configuration of a run. ``start``: how it began, where it is on record."""
    profile = await _choose_profile(setup, opened.model, start)
    if start is not None:
        return RunConfiguration(
            profile=profile,
            limits=Limits(**start["limits"]),
            listing=Shortlisting.of(start),
            rates=start.get("known", {}),
            mode=start["mode"],
            is_sandboxed=start.get("sandbox", False),
            instructions=start.get("instructions", ""),
            freeze=Freeze.anew(start),
            today=get_run_date(setup, start),
            target=_read_target(start),
        )
    return RunConfiguration(
        profile=profile,
        limits=profile.widen_limits(setup.limits),
        listing=setup.shortlist,
        rates=_read_success_rates(setup, opened.catalog),
        mode=setup.options.interaction.mode or (await opened.model.capabilities()).mode,
        is_sandboxed=setup.options.safety.sandbox,
        instructions=setup.instructions,
        freeze=Freeze.anew(setup.freeze),
        today=get_run_date(setup, None),
        target=target,
    )


async def _choose_profile(
    setup: Setup, model: ChatModel, start: Mapping[str, Any] | None
) -> ModelProfile:
    """The profile of a run: the one that it began with, the one that is named, or that of the
    model's size.
    """
    if start is not None:
        return find_profile(start.get("model_profile", SMALL.name))
    return setup.profile or await read_profile(model)


def _read_success_rates(setup: Setup, catalog: Catalog) -> dict[str, float]:
    """Return the known success rates of the catalogue's tools; empty if the evidence cannot be
    read.
    """
    evidence = setup.options.persistence.evidence
    try:
        return {} if evidence is None else get_known_rates(evidence.rates(), catalog.tools)
    except EvidenceError:  # the recorder says so
        return {}


def _read_target(start: Mapping[str, Any]) -> OutputTarget | None:
    """The type of the output that the start of a run names; None where there is none."""
    if "output" not in start:
        return None
    schema, is_wrapped = start["output"]
    return OutputTarget(schema, is_wrapped=is_wrapped)
