"""Options of trials: whom they ask, what they may cost, who judges their replies."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Any

import typer


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
        Simulate | None,
        typer.Option(
            "--trial-simulate",
            help=(
                "With --trial-model: failures that get a simulated reply, which proves nothing."
                " [never]"
            ),
        ),
    ] = None
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
        float | None,
        typer.Option("--trial-money", help="What trial calls may cost together.", min=0),
    ] = None
    trial_relevance: Annotated[
        Judges | None,
        typer.Option(
            "--trial-relevance",
            help=(
                "Who judges whether a reply is about the request; encoder is MiniLM, calibrated."
                " [rules]"
            ),
        ),
    ] = None

    def to_settings(self) -> dict[str, Any]:
        """Return what the command line said, by the names that files have for it."""
        said = ((one.name, getattr(self, one.name)) for one in fields(TrialOptions))
        return {key: str(v) if isinstance(v, StrEnum) else v for key, v in said}
