"""Renders the evidence for one finding on a stage's page: calls and results, votes, faults, the
process itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from callwright.nouns.errors import CallwrightError
from callwright.nouns.trajectory import Trajectory
from callwright.nouns.types import Json, JsonObject, Tool, to_canonical_json
from callwright.tools.overlay import OverlayChange
from callwright.viewer import Change, Changes, Lines, Part, Table
from callwright_lab.transcripts import read_record
from callwright_lab.verify.differences import find_documented_value, shown_key
from callwright_lab.verify.sweep import Finding
from callwright_lab.verify.trajectories import render_process

_VALUE = 600  # characters of a value


# ---------------------------------------------------------------- tools


def iter_documentation_parts(finding: Finding, tool: Tool | None) -> Iterator[Part]:
    """A tool's documentation before and after, and where the tool disagrees with it (Table 15)."""
    changes = [OverlayChange(**one) for one in finding.found.get("changes", ())]
    if changes and tool is not None:
        yield _compare_changes(tool, changes)
    if drift := finding.found.get("drift"):
        yield Lines("Where it disagrees with its documentation", "\n".join(drift))


def iter_tool_evidence(finding: Finding) -> Iterator[Part]:
    """A tool's calls, who stands in for it, what a model may not say of it, and the votes on it."""
    found = finding.found
    if found.get("calls"):
        rows = [_render_call_cells(call) for call in found["calls"]]
        yield Table("Calls", ["arguments", "outcome", "what it shows", "came back"], rows)
    if found.get("refused"):
        yield Lines("What a model wrote and does not stand", "\n".join(found["refused"]))
    if "stand_in" in found:
        one = found["stand_in"]
        rows = [
            [
                _shorten_value(one["arguments"]),
                _shorten_value(one["reply"]),
                f"simulated: {one['simulated']}",
            ]
        ]
        yield Table("Who stands in for it", ["arguments", "imitated reply", "by"], rows)
    yield from _iter_vote_tables(found.get("votes"))


def _compare_changes(tool: Tool, changes: Sequence[OverlayChange]) -> Changes:
    rows = []
    for change in changes:
        old = find_documented_value(tool, change)
        where = f"{shown_key(tool, change.key)}: {change.change}" if change.key else change.change
        was = None if old is None or old == "" else _render_value(old)
        rows.append(Change(where, was, _render_value(change.value), change.because))
    known = {change.key.partition("/")[0] for change in changes}
    same = [key for key in tool.properties if key not in known]
    note = f"As documented: {', '.join(same)}." if same else ""
    return Changes("Documentation", rows, note)


def _render_call_cells(call: Mapping[str, Any]) -> list[str]:
    came = call["said"] or ("" if call["reply"] is None else _shorten_value(call["reply"]))
    return [_shorten_value(call["arguments"]), _render_outcome(call), call["proof"], came]


def _render_outcome(call: Mapping[str, Any]) -> str:
    outcome = str(call["outcome"]).replace("_", " ")
    return f"{outcome}: {call['kind']}" if call["kind"] else outcome


def tool_reasons(finding: Finding) -> Iterator[str]:
    """Yield the reasons why calls of a rejected tool failed, and the drift of an accepted one."""
    if not finding.kept:
        for call in finding.found.get("calls", ()):
            if call["outcome"] != "functional_success":
                yield _render_outcome(call)
    for line in finding.found.get("drift", ()):
        yield f"drift: {_classify_drift(line)}"


_DRIFTS = (
    "asks for",
    "requires",
    "does not know",
    "wants",
    "has other options",
    "replies otherwise",
    "says that",
)


def _classify_drift(line: str) -> str:
    """The kind of a drift, without the parameter it speaks of."""
    return next((kind for kind in _DRIFTS if line.startswith(kind)), line.partition(":")[0])


# ---------------------------------------------------------------- requests


def iter_request_evidence(finding: Finding, text: str, tools: Sequence[str]) -> Iterator[Part]:
    """A request, what the rules say of it, and what each judge said."""
    yield Lines("Request", text + (f"\n\nTools: {', '.join(tools)}" if tools else ""))
    told = finding.found.get("by_rule", {})
    problems = [
        [one["rule"], one["why"], "certain" if one["certain"] else "suspected"]
        for one in told.get("problems", ())
    ]
    if problems:
        yield Table("What the rules found", ["rule", "why", "how sure"], problems)
    scores = {"by rule": told.get("criteria", {})}
    said = finding.found.get("assessments", {})
    scores |= {name: one["criteria"] for name, one in said.items()}
    names = list(told.get("criteria", {}))
    if names:
        rows = [
            [who, *(str(given.get(name, "")) for name in names)] for who, given in scores.items()
        ]
        yield Table("Criteria, 1 to 10", ["who", *names], rows)
    if said:
        rows = [
            [who, one["decision"] or "no vote", str(one["quality"]), one["reason"]]
            for who, one in said.items()
        ]
        yield Table("Judges", ["judge", "decision", "quality", "reason"], rows)


def request_reasons(finding: Finding) -> Iterator[str]:
    """The rules that speak against a request; of a dropped one also what judges, or else the rules,
    rate lowest.
    """
    told = finding.found.get("by_rule", {})
    for one in told.get("problems", ()):
        yield f"{one['rule']} ({'certain' if one['certain'] else 'suspected'})"
    if finding.kept:
        return
    rated = [one["criteria"] for one in finding.found.get("assessments", {}).values()] or [
        told.get("criteria", {})
    ]
    for criteria in rated:
        lowest = min(criteria.values(), default=0)
        yield from (f"low {name}" for name, score in criteria.items() if score == lowest)


# ---------------------------------------------------------------- trajectories


def iter_trajectory_evidence(finding: Finding) -> Iterator[Part]:
    """Yield the evidence of a trajectory: the checkers' findings, each judge's vote, and the
    process itself.
    """
    faults = finding.found.get("faults", ())
    if faults:
        rows = [
            [
                f"{one['checker']}: {one['kind']}",
                _render_round_number(one["step"]),
                one["reason"],
                _render_certainty(one),
            ]
            for one in faults
        ]
        yield Table("What the checkers found", ["kind", "round", "why", "how sure"], rows)
    votes = finding.found.get("votes") or {}
    if votes:
        rows = [
            [name, one["status"] or "no vote", "yes" if one["steps_valid"] else "no", one["why"]]
            for name, one in votes.items()
        ]
        yield Table("Judges", ["judge", "status", "all steps valid", "why"], rows)
    if simulated := finding.found.get("simulated"):
        yield Lines("Simulated, not real", "\n".join(simulated))
    if record := finding.found.get("record"):
        yield from iter_record_evidence(record)


def iter_record_evidence(record: JsonObject, title: str = "What was done") -> Iterator[Part]:
    """A trajectory from its record in any layout; nothing where this is no record of one."""
    try:
        trajectory = read_record(record).trajectory
    except CallwrightError:
        return
    yield describe_value(trajectory, title)


def describe_value(trajectory: Trajectory, title: str = "What was done") -> Lines:
    """A trajectory as text."""
    ending = trajectory.answer or "(none)"
    end = f"Gave up: {ending}" if trajectory.given_up else f"Answer: {ending}"
    return Lines(title, f"Request: {trajectory.query}\n\n{render_process(trajectory)}\n\n{end}")


def _render_round_number(step: int) -> str:
    return "all" if step < 0 else str(step + 1)


def _render_certainty(fault: Mapping[str, Any]) -> str:
    return "proved" if fault["proved"] else "suspected"


def trajectory_reasons(finding: Finding) -> Iterator[str]:
    """Every fault by checker and kind; the judges' verdict where they dropped it."""
    for one in finding.found.get("faults", ()):
        yield f"{one['checker']}: {one['kind']} ({_render_certainty(one)})"
    if not finding.kept and finding.category.startswith("judged"):
        yield finding.category


# ---------------------------------------------------------------- rows of data sets


def iter_row_evidence(finding: Finding, trajectory: Trajectory | None) -> Iterator[Part]:
    """Yield the evidence of a data set's row: the rules' findings, the judges' votes, and the
    row.
    """
    found = finding.found.get("findings", ())
    if found:
        rows = [
            [one["kind"], one["level"], _render_round_number(one["step"]), one["reason"]]
            for one in found
        ]
        yield Table("Findings", ["class", "counts as", "round", "why"], rows)
    judges = finding.found.get("judges", {})
    if judges:
        names = list(dict.fromkeys(name for said in judges.values() for name in said))
        rows = [
            [judge, *({True: "holds", False: "does not"}.get(said.get(name), "") for name in names)]
            for judge, said in judges.items()
        ]
        yield Table("Judges", ["judge", *names], rows)
    if trajectory is not None:
        yield describe_value(trajectory, "The row")


def row_reasons(finding: Finding) -> Iterator[str]:
    """Every class that was found, with what it counts as."""
    for one in finding.found.get("findings", ()):
        yield f"{one['kind']} ({one['level']})"
    for criterion in finding.found.get("wanting", ()):
        yield f"{criterion} (most judges)"


def _iter_vote_tables(votes: Mapping[str, str] | None) -> Iterator[Table]:
    if votes:
        yield Table(
            "Judges", ["judge", "vote"], [[name, vote or "no vote"] for name, vote in votes.items()]
        )


def _render_value(value: Json) -> str:
    """A value as it is compared: texts as they stand, others as JSON."""
    return value if isinstance(value, str) else to_canonical_json(value)


def _shorten_value(value: Json) -> str:
    text = _render_value(value)
    return (
        text
        if len(text) <= _VALUE
        else f"{text[:_VALUE]}… ({len(text) - _VALUE:,} characters more)"
    )
