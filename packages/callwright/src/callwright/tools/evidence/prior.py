"""What is known of a tool as a small weight on how well it fits: what works rises a little, what
fails sinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from callwright.nouns.types import Tool
from callwright.tools.evidence.health import Rate

# a tool that always worked counts at most so much more than one that nothing is known of
RISE = 0.05
SINK = 0.5  # and one that always failed at most so much less
UNKNOWN = 0.5

Known = Mapping[str, float]
"""Tool name -> success rate, of the tools that anything is known of."""


def known(rates: Mapping[str, Rate], tools: Iterable[Tool]) -> dict[str, float]:
    """What :meth:`callwright.tools.evidence.EvidenceStore.rates` says of these tools, by their
    names.
    """
    return {
        tool.name: round(rates[tool.digest].success, 6) for tool in tools if tool.digest in rates
    }


def weight(success: float) -> float:
    """By how much a score counts: 1 where nothing is known (0.5), monotone, in [1 - SINK, 1 +
    RISE].

    So no tool rises above one of which nothing bad is known that fits better by more than RISE.
    """
    lean = 2.0 * success - 1.0
    return 1.0 + (RISE if lean > 0 else SINK) * lean
