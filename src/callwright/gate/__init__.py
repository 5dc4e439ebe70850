"""The schema gate: check, coerce, ground, repair. Every call passes it; nothing else can make a CheckedCall."""

from callwright.gate.check import Gate, Refusal
from callwright.gate.diagnose import Diagnosis, diagnose
from callwright.gate.overlay import SchemaOverlay
from callwright.gate.repair import repair_failure, repair_refusal
from callwright.gate.sources import Sources

__all__ = [
    "Diagnosis",
    "Gate",
    "Refusal",
    "SchemaOverlay",
    "Sources",
    "diagnose",
    "repair_failure",
    "repair_refusal",
]
