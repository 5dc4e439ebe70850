"""The choices with which an orchestrator makes its runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callwright.agent.catalog_search import Index, Shortlisting
from callwright.agent.options import RunOptions
from callwright.agent.strategies import Strategy
from callwright.nouns.errors import ConfigError
from callwright.nouns.limits import Limits
from callwright.nouns.model_profile import ModelProfile
from callwright.nouns.protocols import Planner


@dataclass(frozen=True, slots=True)
class Setup:
    """The choices of an orchestrator. ``profile``: None for that of the model's size; ``freeze``: what
    is frozen, as a run states it; ``index``: of the tools, where a run sees a part of them.
    """

    options: RunOptions
    strategy: Strategy
    planner: Planner | None
    limits: Limits
    profile: ModelProfile | None
    freeze: Mapping[str, Any]
    shortlist: Shortlisting | None
    index: Index

    @property
    def instructions(self) -> str:
        """The instructions of the agent's author; "" without any."""
        return self.options.interaction.instructions.strip()


def require_planner(planner: Planner | None) -> Planner | None:
    """The planner. Raises ConfigError for a name, and for all else that plans nothing."""
    if planner is not None and not hasattr(planner, "plan"):
        raise ConfigError(
            f"planner is {planner!r}, and must be a Planner",
            hint="from callwright.planning import open_planner: open_planner('edges')",
        )
    return planner
