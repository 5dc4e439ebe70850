"""What is known of each tool from trials and from runs, kept in one SQLite file that processes
share.

An :class:`Observation` is what one call showed; an :class:`EvidenceStore` keeps them under the
digest of the tool, so that a tool that was changed starts anew; :class:`Health` is what they come
to, the newest counting most.
"""

from callwright.tools.evidence.health import Health, Rate, rated
from callwright.tools.evidence.observation import (
    OUTCOMES,
    UNDOCUMENTED,
    Observation,
    Outcome,
    excerpt,
)
from callwright.tools.evidence.prior import Known, known, weight
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
    "evidence_file",
    "excerpt",
    "known",
    "rated",
    "weight",
]
