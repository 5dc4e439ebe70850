"""Options of trials: whom they ask, what they may cost, who judges their replies."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from callwright.agent.probing.settings import TrialSettings


class Simulate(StrEnum):
    never = "never"
    transient = "transient"
    every = "every"
    only = "only"


class Judges(StrEnum):
    rules = "rules"
    encoder = "encoder"


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """Options of the trials of a run."""

    trial_model: Annotated[
        str | None,
        typer.Option(
            "--trial-model",
            help=(
                "With --trials: plans the calls and ranks by the evidence; run for the run's own"
                " model, or as --model."
            ),
        ),
    ] = None
    trial_simulate: Annotated[
        Simulate,
        typer.Option(
            "--trial-simulate",
            help="With --trial-model: failures that get a simulated reply, which proves nothing.",
        ),
    ] = Simulate.never
    trial_price: Annotated[
        list[str] | None,
        typer.Option(
            "--trial-price",
            help=(
                "Cost of a trial call as PATTERN=COST; 0 declares tools free, which guessed values"
                " need. May be given several times."
            ),
        ),
    ] = None
    trial_money: Annotated[
        float, typer.Option("--trial-money", help="What trial calls may cost together.", min=0)
    ] = 0.0
    trial_relevance: Annotated[
        Judges,
        typer.Option(
            "--trial-relevance",
            help="Who judges whether a reply is about the request; encoder is MiniLM, calibrated.",
        ),
    ] = Judges.rules

    def to_trials(self) -> TrialSettings:
        """Return the settings of the trials. Raises ConfigError for what makes no sense."""
        from callwright.agent.probing.settings import TrialSettings, read_prices

        return TrialSettings(
            model=self.trial_model or "",
            simulate=self.trial_simulate.value,
            prices=read_prices(self.trial_price or ()),
            money=self.trial_money,
            relevance=self.trial_relevance.value,
        )
