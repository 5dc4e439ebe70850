"""Stores observations of each tool from probing and from runs, in one SQLite file that processes
share.

An :class:`Observation` is the outcome of one call. An :class:`EvidenceStore` keeps observations
under the digest of the tool. A changed tool therefore starts without any. :class:`Health` sums them
up; the newest counts most.
"""

from callwright.tools.evidence.health import Health, Rate, compute_rate
from callwright.tools.evidence.observation import (
    OUTCOMES,
    UNDOCUMENTED,
    Observation,
    Outcome,
    make_excerpt,
)
from callwright.tools.evidence.prior import Known, compute_weight, get_known_rates
from callwright.tools.evidence.recorder import Recorder
from callwright.tools.evidence.store import EvidenceStore, Retention, evidence_file

__all__ = [
    "OUTCOMES",
    "UNDOCUMENTED",
    "EvidenceStore",
    "Health",
    "Known",
    "Observation",
    "Outcome",
    "Rate",
    "Recorder",
    "Retention",
    "compute_rate",
    "compute_weight",
    "evidence_file",
    "get_known_rates",
    "make_excerpt",
]
