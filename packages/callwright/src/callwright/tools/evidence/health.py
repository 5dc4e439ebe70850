"""Computes a tool's health from its observations: the newest counts most, and few observations
prove little. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from callwright.tools.evidence.observation import OUTCOMES, Observation

HALF_LIFE = (
    7 * 86_400.0
)  # seconds after which an observation counts half: servers break, and are repaired
PRIOR = 1.0  # successes and failures that every tool is taken to have had: Beta(1, 1), the uniform prior
_EXAMPLES = 3  # of successes, and of the rest


@dataclass(frozen=True, slots=True)
class Rate:
    """A tool's success rate: the mean of the Beta posterior, in (0, 1); 0.5 where nothing is known.

    ``weight`` is how many observations of this moment those that were made count as.
    """

    success: float = 0.5
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Health:
    """Health of one tool. ``counts``, ``kinds`` and ``simulated`` are plain numbers of
    observations, ``rate`` is decayed. ``seconds`` is the median of the calls that worked; None
    where none did.
    """

    tool: str
    digest: str
    rate: Rate = Rate()
    counts: Mapping[str, int] | None = None
    kinds: Mapping[str, int] | None = None
    simulated: int = 0
    seconds: float | None = None
    last: float | None = None
    worked: tuple[Observation, ...] = ()
    failed: tuple[Observation, ...] = ()


def compute_decay(age: float) -> float:
    """Return the weight of an observation of this age in seconds: 2^(-age / HALF_LIFE). A time in
    the future counts as now.
    """
    return float(2.0 ** (-max(0.0, age) / HALF_LIFE))


def compute_rate(good: float, weight: float) -> Rate:
    """The rate of decayed sums: w_i = 2^(-age_i / HALF_LIFE), p = (PRIOR + Σ w_i [worked]) / (2
    PRIOR + Σ w_i).
    """
    return Rate((PRIOR + good) / (2 * PRIOR + weight), weight)


def compute_health(tool: str, digest: str, seen: Sequence[Observation], now: float) -> Health:
    """Return the health of a tool from its observations. ``seen`` are the newest first."""
    real = [o for o in seen if not o.simulated]
    told = [(o, compute_decay(now - o.at)) for o in real if o.of_tool]
    worked = [o for o in real if o.outcome == "functional_success"]
    failed = [o for o in real if o.outcome != "functional_success"]
    counted = Counter(o.outcome for o in real)
    return Health(
        tool=tool,
        digest=digest,
        rate=compute_rate(
            sum(w for o, w in told if o.outcome == "functional_success"), sum(w for _, w in told)
        ),
        counts={name: counted[name] for name in OUTCOMES if counted[name]},
        kinds=dict(Counter(o.kind for o in failed if o.kind).most_common()),
        simulated=len(seen) - len(real),
        seconds=median(o.seconds for o in worked) if worked else None,
        last=max((o.at for o in seen), default=None),
        worked=tuple(worked[:_EXAMPLES]),
        failed=tuple(failed[:_EXAMPLES]),
    )
