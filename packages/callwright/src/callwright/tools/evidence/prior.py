"""Turns the health of a tool into a small weight on its relevance: working tools rise a little,
failing tools sink.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Tool
from callwright.tools.evidence.health import Rate

# a tool that always worked counts at most so much more than one that nothing is known of
RISE = threshold("callwright.tools", "evidence_rise")
SINK = threshold("callwright.tools", "evidence_sink")  # and one that always failed so much less
UNKNOWN = 0.5

Known = Mapping[str, float]
"""Tool name -> success rate, of the tools that anything is known of."""


def get_known_rates(rates: Mapping[str, Rate], tools: Iterable[Tool]) -> dict[str, float]:
    """Return the success rates of these tools by name, from
    :meth:`callwright.tools.evidence.EvidenceStore.rates`.
    """
    return {
        tool.name: round(rates[tool.digest].success, 6) for tool in tools if tool.digest in rates
    }


def compute_weight(success: float) -> float:
    """By how much a score counts: 1 where nothing is known (0.5), monotone, in [1 - SINK, 1 +
    RISE].

    So no tool rises above one of which nothing bad is known that fits better by more than RISE.
    """
    lean = 2.0 * success - 1.0
    return 1.0 + (RISE if lean > 0 else SINK) * lean
