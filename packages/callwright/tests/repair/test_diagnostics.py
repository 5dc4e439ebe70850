"""One form of finding, shown as a violation or as an abstention."""

from __future__ import annotations

from callwright.nouns.errors import Violation
from callwright.repair.diagnostics import Diagnostic, from_located, from_violation
from callwright.repair.location import Location, in_arguments
from callwright.repair.result import Abstention


def test_a_violation_is_said_again_in_the_same_words() -> None:
    said = Violation("schema", "'n' must be integer.", "/n", "type", "integer", "x")
    found = from_violation(said, in_arguments(2, "n"))
    assert (found.severity, found.location) == ("error", Location(2, ("arguments", "n")))
    assert found.to_violation("/n") == said


def test_what_a_schema_says_is_located_in_the_draft() -> None:
    (found,) = from_located(4, [(("rows", 1), Violation("schema", "No."))])
    assert found.location == in_arguments(4, "rows", 1)


def test_a_hint_is_shown_as_an_abstention() -> None:
    hint = Diagnostic("hint", "", Location(0), "Odd.", confidence=0.5, candidate=3)
    assert hint.to_abstention("/0") == Abstention("/0", "Odd.", 0.5, 3)
