"""The schema gate: check, coerce, ground, repair. Every call passes it; nothing else can make a CheckedCall."""

from callwright.gate.check import Gate, Refusal
from callwright.gate.grounding import Sources

__all__ = ["Gate", "Refusal", "Sources"]
