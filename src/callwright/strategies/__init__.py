"""Ways from a query to results: one interface, one executor, one accounting, so that comparisons are fair."""

from __future__ import annotations

from callwright.errors import ConfigError
from callwright.strategies.ablations import WithoutRecovery, WithoutRepair, WithoutSketch
from callwright.strategies.dfsdt import DFSDT
from callwright.strategies.job import Job, Strategy
from callwright.strategies.layered import Layered
from callwright.strategies.react import ReAct

STRATEGIES: dict[str, type[Strategy]] = {
    "layered": Layered,
    "react": ReAct,
    "dfsdt": DFSDT,
    "layered-no-sketch": WithoutSketch,
    "layered-no-repair": WithoutRepair,
    "layered-no-recovery": WithoutRecovery,
}


def open_strategy(spec: str | Strategy) -> Strategy:
    """A strategy by name, or the given one. Raises ConfigError for an unknown name."""
    if not isinstance(spec, str):
        return spec
    if spec not in STRATEGIES:
        raise ConfigError(f"there is no strategy {spec!r}", hint="strategies: " + ", ".join(STRATEGIES))
    return STRATEGIES[spec]()


__all__ = [
    "DFSDT",
    "STRATEGIES",
    "Job",
    "Layered",
    "ReAct",
    "Strategy",
    "WithoutRecovery",
    "WithoutRepair",
    "WithoutSketch",
    "open_strategy",
]
