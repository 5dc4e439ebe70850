"""Settings of the trials of a run, as its journal keeps them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from callwright.agent.probing.policy import Simulate
from callwright.nouns.errors import ConfigError

Judging: TypeAlias = Literal["rules", "encoder"]
OWN = "run"  # names the run's own model
_PRICE = re.compile(r"\s*\S.*=\s*\d*\.?\d+(?:e[-+]?\d+)?\s*", re.I)


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """The way in which the tools of a run are tried. Raises ConfigError for what makes no sense.

    ``model``: whom the planner and the evaluator ask, "run" for the run's own model, else a spec
    (:func:`callwright.models.open_model`); "" asks nobody. Its questions count in the run's budget.
    ``simulate``: after which failures that model makes up a reply
    (:class:`~callwright.agent.probing.policy.TrialPolicy`). ``prices`` (pattern of tool names, cost
    of a call; 0 declares the tool free) are spent from ``money``. ``relevance``: who judges whether
    a reply is about the request (:mod:`callwright.agent.probing.relevance`).
    """

    model: str = ""
    simulate: Simulate = "never"
    prices: tuple[tuple[str, float], ...] = ()
    money: float = 0.0
    relevance: Judging = "rules"

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> TrialSettings:
        """Return the settings that a journal holds."""
        prices = tuple((pattern, cost) for pattern, cost in told.get("prices", ()))
        return cls(**{**told, "prices": prices})

    def __post_init__(self) -> None:
        for said, known in ((self.relevance, Judging), (self.simulate, Simulate)):
            if said not in get_args(known):
                raise ConfigError(
                    f"trials know no {said!r}", hint=f"one of {', '.join(get_args(known))}"
                )
        if self.simulate != "never" and not self.model:
            raise ConfigError(
                "a simulated reply needs a model that makes it up", hint="--trial-model run"
            )
        for amount in (self.money, *(cost for _, cost in self.prices)):
            if not math.isfinite(amount) or amount < 0:
                raise ConfigError(f"trials cannot cost {amount!r}: an amount is 0 or more")


def read_prices(given: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """Read ``PATTERN=COST`` texts. Raises ConfigError for one that is none."""
    for text in given:
        if not _PRICE.fullmatch(text):
            raise ConfigError(
                f"{text!r} is no price of a call: PATTERN=COST",
                hint="for example 'maps_*=0.01', or '*=0' for tools that are free",
            )
    split = (text.rpartition("=") for text in given)
    return tuple((pattern.strip(), float(cost)) for pattern, _, cost in split)
