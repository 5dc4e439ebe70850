"""Score one desk run from its answer, its calls and what it left behind. Pure code, no model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from callwright_lab.benchmarks.desk.facts import Fact, has_fact, normalise_text

Snapshot = Mapping[str, Mapping[str, Any]]
"""Section -> key -> row; sections are tables, notes and git refs."""

Change = dict[str, dict[str, Any]]
"""Section -> {"added": {key: row}, "removed": {key: row}, "changed": {key: row after}}, empty parts
left out.
"""

_THINGS = (
    r"tools?|data|information|records?|results?|rates?|entry|way|access|employee|person|trips?|airport|office|notes?"
    r"|match(?:es)?|forecast|weather|details|number|salary|prices?|fare|answer|sunset|sunrise|expenses?|function|means"
)
_DONE = (
    r"available|found|provided?|listed|included?|recorded|given|known|exist|supported|published|contain|have|find"
    r"|determine|mention|support|list|offer"
)
LIMITATION = re.compile(
    r"\b(?:can ?not|can't|could not|couldn't|unable|not able|impossible|not"
    r" possible|unavailable|unknown|missing"
    rf"|not (?:\w+ ){{0,3}}(?:{_DONE})|no (?:\w+ ){{0,4}}(?:{_THINGS})"
    r"|(?:does|do|did|is|was|were|are|has|have|had)n't|there (?:is|are|was|were)"
    r" no|lacks?|limitation"
    r"|fail(?:s|ed)?)\b"
)
"""How a normalised answer says that something could not be found out or done."""


@dataclass(frozen=True, slots=True)
class CallSeen:
    """One executed call: which tool, and whether it gave a result."""

    tool: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Expectation:
    """Requirements that a correct run meets. ``must`` are groups of tools; one tool of each group
    must have answered.
    """

    facts: tuple[Fact, ...] = ()
    forbidden: tuple[Fact, ...] = ()
    must: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[str, ...] = ()
    limitation: bool = False
    change: Change = field(default_factory=dict)
    note_facts: Mapping[str, Sequence[Fact]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeskScore:
    """``success`` and, where not, every reason why not."""

    reasons: tuple[str, ...] = ()

    @property
    def success(self) -> bool:
        return not self.reasons


def score_run(
    expect: Expectation, answer: str, calls: Sequence[CallSeen], before: Snapshot, after: Snapshot
) -> DeskScore:
    """Judge one run. ``before`` and ``after`` are snapshots of the desk around it."""
    reasons = [*_check_answer(expect, answer), *_check_calls(expect, calls)]
    reasons += check_changes(expect, diff_snapshots(before, after))
    return DeskScore(tuple(reasons))


def _check_answer(expect: Expectation, answer: str) -> list[str]:
    if not answer.strip():
        return ["the answer is empty"]
    reasons = [
        f"not stated: {_format_fact(fact)}" for fact in expect.facts if not has_fact(answer, fact)
    ]
    reasons += [
        f"must not be stated: {_format_fact(fact)}"
        for fact in expect.forbidden
        if has_fact(answer, fact)
    ]
    if expect.limitation and not LIMITATION.search(normalise_text(answer)):
        reasons.append("no limitation is stated")
    return reasons


def _check_calls(expect: Expectation, calls: Sequence[CallSeen]) -> list[str]:
    answered = {call.tool for call in calls if call.ok}
    missing = [group for group in expect.must if not answered & set(group)]
    return [f"never called with success: {' or '.join(group)}" for group in missing] + [
        f"must not be called: {tool}" for tool in sorted(answered & set(expect.must_not))
    ]


def diff_snapshots(before: Snapshot, after: Snapshot) -> Change:
    """Return the differences between two snapshots."""
    found: Change = {}
    for section in before:
        old, new = before[section], after[section]
        parts = {
            "added": {k: new[k] for k in new if k not in old},
            "removed": {k: old[k] for k in old if k not in new},
            "changed": {k: new[k] for k in new if k in old and new[k] != old[k]},
        }
        if kept := {name: rows for name, rows in parts.items() if rows}:
            found[section] = kept
    return found


def check_changes(expect: Expectation, seen: Change) -> list[str]:
    """Return the reasons why the state after a run differs from the expected state."""
    reasons = []
    for section in sorted({*expect.change, *seen}):
        wanted, got = expect.change.get(section, {}), seen.get(section, {})
        for part in ("added", "removed", "changed"):
            if not _has_same_rows(section, part, wanted.get(part, {}), got.get(part, {})):
                reasons.append(
                    f"{section} {part}: {_format_keys(got, part)} instead of {_format_keys(wanted, part)}"
                )
    notes = seen.get("notes", {})
    written = {**notes.get("added", {}), **notes.get("changed", {})}
    for name, facts in expect.note_facts.items():
        reasons += [
            f"{name} lacks {_format_fact(f)}"
            for f in facts
            if not has_fact(written.get(name, ""), f)
        ]
    return reasons


def _has_same_rows(
    section: str, part: str, wanted: Mapping[str, Any], got: Mapping[str, Any]
) -> bool:
    """New rows may carry any id; texts of notes are judged by their facts; the rest must be
    equal.
    """
    if section == "notes" or part == "removed":
        return set(wanted) == set(got)
    if section == "git":
        return dict(wanted) == dict(got)
    return sorted(map(_get_row_identity, wanted.values())) == sorted(
        map(_get_row_identity, got.values())
    )


def _get_row_identity(row: Mapping[str, Any]) -> str:
    """A row without its own key (the first column), numbers to two digits."""
    return repr([f"{v:.2f}" if isinstance(v, int | float) else v for v in list(row.values())[1:]])


def _format_keys(parts: Mapping[str, Any], part: str) -> str:
    return ", ".join(sorted(parts.get(part, {}))) or "nothing"


def _format_fact(fact: Fact) -> str:
    match fact["kind"]:
        case "text":
            return repr(fact["any"][0])
        case "number":
            return f"{fact['value']} {fact.get('unit', '')}".strip()
        case "choice":
            return f"choice of {fact['winner'][0]!r}"
        case "paired":
            return " and ".join(
                f"{_format_fact(f)} for {n[0]!r}"
                for f, n in zip(fact["facts"], fact["labels"], strict=True)
            )
        case "any":
            return " or ".join(map(_format_fact, fact["of"]))
        case "pattern":
            return f"/{fact['pattern']}/"
        case _:
            return str(fact["value"])
