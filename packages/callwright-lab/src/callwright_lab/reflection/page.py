"""An exploration as a page: errors by kind, why other actions were dropped, then every sample with
its reflection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import JsonObject, ToolCall, canonical
from callwright.viewer import Lines, Part, Report, Table
from callwright_lab.reflection.exploration import by_action
from callwright_lab.reflection.profile import profile
from callwright_lab.reflection.reflection import feedback
from callwright_lab.reflection.row import from_kept
from callwright_lab.verify.budget import Budget, Cost
from callwright_lab.verify.evidence import describe_value
from callwright_lab.verify.page import Stage, report_of
from callwright_lab.verify.sweep import Finding, Sweep
from callwright_lab.verify.trajectories import process

_TITLE = "Exploration: a learner's errors"


def report(made: Sweep, budget: Budget) -> Report:
    """The report of :func:`callwright_lab.reflection.exploration.by_action`'s rows, each kept one
    with what it holds.
    """
    rows = by_action(made)
    records = iter(
        [one["row"] for f in made.findings for one in f.found.get("actions", ()) if one["row"]]
    )
    shown = tuple(
        replace(one, found={"row": next(records)}) if one.kept else one for one in rows.findings
    )
    found = profile(made)
    parts = [found.table] if found.lines else []
    cost = sum(
        (one.cost for one in made.findings), Cost()
    )  # a point's: its samples have none of their own
    stage = Stage(
        _TITLE, lambda one: tuple(_evidence(one)), _reasons, parts=parts, budget=budget, cost=cost
    )
    return report_of(replace(rows, findings=shown), stage)


def _reasons(finding: Finding) -> Iterator[str]:
    if not finding.kept:
        yield finding.category


def _evidence(finding: Finding) -> Iterator[Part]:
    record: JsonObject | None = finding.found.get("row")
    if record is None:
        return
    row = from_kept(record)
    calls = [["wrong", _calls(row.wrong.calls)], ["right", _calls(row.right)]]
    yield Table("Wrong and right", ["", "calls"], calls)
    yield Lines("What came back", feedback(row.wrong))
    yield Lines(f"Reflection (by {row.by})", row.reflection)
    wrong = Trajectory("", row.before.query, (), (row.wrong,))
    if thought := process(wrong):
        yield Lines("The wrong round", thought)
    yield describe_value(row.before, "What had been done")


def _calls(calls: tuple[ToolCall, ...]) -> str:
    return "; ".join(f"{call.tool}({canonical(call.arguments)})" for call in calls)
