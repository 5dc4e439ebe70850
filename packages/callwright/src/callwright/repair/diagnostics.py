"""Diagnostics of a call on its way: errors that remain, hints about what was left alone, and notes.

Inside repair there is this one form. Results show an error or a warning as a
:class:`~callwright.nouns.errors.Violation` and a hint as an :class:`Abstention`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, cast

from callwright.nouns.errors import Violation, ViolationKind
from callwright.nouns.types import Json
from callwright.repair.location import Location, in_arguments
from callwright.schema.value_edits import Pointer

Severity: TypeAlias = Literal["error", "warning", "hint", "note"]
"""``error``: the call is still wrong. ``warning``: it may go out, with this said. ``hint``: it looks
wrong and was left alone. ``note``: for later rules only, shown to nobody.
"""
MISSING = "missing_value"  # the rule of notes: nobody has said the value of a required argument


@dataclass(frozen=True, slots=True)
class Abstention:
    """Something that looks wrong and was left alone. ``path`` as in edits; ``confidence`` of what
    was not done.
    """

    path: str
    reason: str
    confidence: float = 0.0
    candidate: Json = None


class Diagnostic(NamedTuple):
    """One finding. ``rule`` is the kind of a violation, or the rule that has looked.

    ``keyword``, ``expected`` and ``got`` are as in a Violation; ``confidence`` and ``candidate``
    are those of what was not done. ``turn`` is as in a LocatedEdit.
    """

    severity: Severity
    rule: str
    location: Location
    message: str = ""
    keyword: str = ""
    expected: Json = None
    got: Json = None
    confidence: float = 0.0
    candidate: Json = None
    turn: int = 0

    def to_violation(self, path: str) -> Violation:
        """The finding as results show an error or a warning, at its rendered path."""
        kind = cast(ViolationKind, self.rule)
        return Violation(kind, self.message, path, self.keyword, self.expected, self.got)

    def to_abstention(self, path: str) -> Abstention:
        """The finding as results show a hint, at its rendered path."""
        return Abstention(path, self.message, self.confidence, self.candidate)


def from_violation(
    violation: Violation, location: Location, severity: Severity = "error"
) -> Diagnostic:
    """The diagnostic that says what a violation says, at a place that is known by its keys."""
    return Diagnostic(
        severity,
        violation.kind,
        location,
        violation.message,
        violation.keyword,
        violation.expected,
        violation.got,
    )


def from_located(
    draft: int, found: Iterable[tuple[Pointer, Violation]], severity: Severity = "error"
) -> list[Diagnostic]:
    """The diagnostics of what a schema has against the arguments of a draft."""
    return [from_violation(v, in_arguments(draft, *at), severity) for at, v in found]
