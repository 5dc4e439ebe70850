"""An exploration as a page: errors by kind, why other actions were dropped, then every sample with
its reflection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import JsonObject, ToolCall, to_canonical_json
from callwright.viewer import Lines, Part, Report, Table
from callwright_lab.reflection.exploration import split_by_action
from callwright_lab.reflection.profile import profile_errors
from callwright_lab.reflection.reflection import render_feedback
from callwright_lab.reflection.row import parse_row
from callwright_lab.verify.budget import Budget, Cost
from callwright_lab.verify.reporting.evidence import describe_value
from callwright_lab.verify.reporting.page import Stage, build_sweep_report
from callwright_lab.verify.sweep import Finding, Sweep
from callwright_lab.verify.trajectories import render_process

_TITLE = "Exploration: a learner's errors"


def build_exploration_report(made: Sweep, budget: Budget) -> Report:
    """The report of :func:`callwright_lab.reflection.exploration.split_by_action`'s rows, each kept one
    with what it holds.
    """
    rows = split_by_action(made)
    records = iter(
        [one["row"] for f in made.findings for one in f.found.get("actions", ()) if one["row"]]
    )
    shown = tuple(
        replace(one, found={"row": next(records)}) if one.kept else one for one in rows.findings
    )
    found = profile_errors(made)
    parts = [found.table] if found.lines else []
    cost = sum(
        (one.cost for one in made.findings), Cost()
    )  # a point's: its samples have none of their own
    stage = Stage(
        _TITLE,
        lambda one: tuple(_iter_evidence(one)),
        _iter_drop_reasons,
        parts=parts,
        budget=budget,
        cost=cost,
    )
    return build_sweep_report(replace(rows, findings=shown), stage)


def _iter_drop_reasons(finding: Finding) -> Iterator[str]:
    if not finding.kept:
        yield finding.category


def _iter_evidence(finding: Finding) -> Iterator[Part]:
    record: JsonObject | None = finding.found.get("row")
    if record is None:
        return
    row = parse_row(record)
    calls = [["wrong", _render_calls(row.wrong.calls)], ["right", _render_calls(row.right)]]
    yield Table("Wrong and right", ["", "calls"], calls)
    yield Lines("What came back", render_feedback(row.wrong))
    yield Lines(f"Reflection (by {row.by})", row.reflection)
    wrong = Trajectory("", row.before.query, (), (row.wrong,))
    if thought := render_process(wrong):
        yield Lines("The wrong round", thought)
    yield describe_value(row.before, "What had been done")


def _render_calls(calls: tuple[ToolCall, ...]) -> str:
    return "; ".join(f"{call.tool}({to_canonical_json(call.arguments)})" for call in calls)
