"""Judges by code what models write after a wrong action, and renders the tables. No model is asked.

*ERR and ECR, objective* are those of ``bench refinetoolbench`` (:mod:`callwright_lab.recovery`). A
reply is read as the first round that ``--strategy toolmvr`` would make of it. Its calls pass the
gate as theirs would, and gold is the verified call. No call is executed, so only gold's own call
gives gold's result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from callwright.agent.strategies.code import CALLS
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError, convert_errors
from callwright.nouns.trajectory import Step
from callwright.nouns.types import ToolCall, ToolResult, to_canonical_json
from callwright.parsing.formats.program import find_calls, read_round
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.repair.gate import Gate, Refusal
from callwright_lab import metrics
from callwright_lab.recovery import Gold, Recovery, format_share, judge_recovery
from callwright_lab.training.toolmvr.data import Row


@dataclass(frozen=True, slots=True)
class Corrected:
    """One greedy reply after a wrong action. ``form``: it is a round with a call; ``tool``: it
    calls what gold calls; ``exact``: with gold's arguments; ``again``: it is the wrong call once
    more; ``accepted``: some other call of it passes the gate; ``recognised``, ``corrected``,
    ``repairable``: as :func:`callwright_lab.recovery.judge_recovery` has them.
    """

    id: str
    error: str
    text: str
    form: bool
    tool: bool
    exact: bool
    again: bool
    fault: str = ""
    accepted: bool = False
    recognised: bool = False
    corrected: bool = False
    repairable: bool = True


@dataclass(frozen=True, slots=True)
class Measured:
    """Mean loss a learned token on V and on R rows, and the corrections of the R rows."""

    verified: float
    reflections: float
    corrected: tuple[Corrected, ...]


Scores: TypeAlias = Mapping[str, Measured]
"""What was measured, by model; every model on the same rows."""


def grade_correction(row: Row, text: str) -> Corrected:
    """One reply against the row's gold."""
    found = _parse_calls(row, text)
    keys, wrong = (
        [_make_call_key(call) for call in found],
        [_make_call_key(call) for call in row.wrong],
    )
    made, accepted = _judge_recovery(row, found)
    return Corrected(
        row.id,
        row.error,
        text,
        form=bool(found),
        tool=bool(found) and [c.tool for c in found] == [c.tool for c in row.right],
        exact=bool(found) and keys == [_make_call_key(call) for call in row.right],
        again=bool(found) and keys == wrong,
        fault=row.fault,
        accepted=accepted,
        recognised=made.recognised,
        corrected=made.corrected,
        repairable=made.repairable,
    )


def read_scores(path: Path, rows: Sequence[Row]) -> dict[str, Measured]:
    """The scores that the stage measure wrote, every reply judged again. ConfigError where there
    are none, or where they are of other rows.
    """
    by_id = {row.id: row for row in rows if row.kind == "R"}
    try:
        told: Any = parse(path.read_bytes())
    except (OSError, JsonError) as error:
        raise ConfigError(
            f"no scores can be read from {path}: {error}", hint="run the stage measure first"
        ) from None
    with convert_errors(ConfigError, f"scores in {path}"):
        return {name: _parse_measured(one, by_id, path) for name, one in told.items()}


def _parse_measured(told: Mapping[str, Any], by_id: Mapping[str, Row], path: Path) -> Measured:
    lost = next((one["id"] for one in told["corrected"] if one["id"] not in by_id), None)
    if lost is not None:
        raise ConfigError(
            f"{path} speaks of a row {lost!r} that is not among these",
            hint="give the run's own --rows",
        )
    replies = tuple(grade_correction(by_id[one["id"]], one["text"]) for one in told["corrected"])
    return Measured(told["verified"], told["reflections"], replies)


def _parse_calls(row: Row, text: str) -> list[ToolCall]:
    """The calls of the reply's first round; of a program that is cut off nothing would be run."""
    made = read_round(text)
    if made.code is None or made.ending == "torn":
        return []
    found = find_calls(made.code, ToolVocabulary(row.tools, unknown=True))
    return [ToolCall("", call.tool, call.arguments) for call in found]


def _judge_recovery(row: Row, calls: Sequence[ToolCall]) -> tuple[Recovery, bool]:
    """Return the recovery from the error, and whether the gate accepts a call other than the wrong
    one.
    """
    gate, steps, accepted = Gate(row.tools), [], False
    for call in calls[:CALLS]:  # a round of the strategy makes no more
        verdict = gate.check(call)
        if isinstance(verdict, Refusal):
            steps.append(Step("", (call,), shown=verdict.message))
            continue
        left = ToolCall("", call.tool, verdict.arguments)
        steps.append(Step("", (left,), (ToolResult("", call.tool, verdict.arguments, None),)))
        accepted = accepted or _make_call_key(left) not in [
            _make_call_key(wrong) for wrong in row.wrong
        ]
    gold = [
        Gold(c.tool, v.arguments) for c in row.right if not isinstance(v := gate.check(c), Refusal)
    ]
    made = judge_recovery(row.wrong[0], gold, steps, told=False) if row.wrong else Recovery(False)
    return made, accepted


def _make_call_key(call: ToolCall) -> str:
    return to_canonical_json([call.tool, call.arguments])


def render_report(found: Scores) -> str:
    """All tables, as Markdown; the last model against each other one."""
    name = list(found)[-1] if found else ""
    parts = [
        render_table(found),
        compare_models(found, name),
        _OBJECTIVE,
        recovery_table(found),
        recovery_against(found, name),
    ]
    return "\n\n".join(parts) + "\n"


_OBJECTIVE = (
    "ERR and ECR, objective, as `bench refinetoolbench` defines them: recognised is another call"
    " than the wrong one, of its tool or of the right one; corrected, the verified call, passed by"
    " the gate, of the errors that it can correct. Beside them: whether another call than the wrong"
    " one passes the gate. Shares with Wilson's 95 % intervals; differences in points, paired"
    " bootstrap."
)


def render_table(found: Scores) -> str:
    """Scores by model."""
    head = [
        "model",
        "loss V",
        "loss R",
        "reflections",
        "a call",
        "right API",
        "exact",
        "the same mistake",
    ]
    lines = [f"| {' | '.join(head)} |", "|---" + "|---:" * (len(head) - 1) + "|"]
    for name, one in found.items():
        some = one.corrected
        shares = [
            sum(getattr(c, what) for c in some) / max(1, len(some))
            for what in ("form", "tool", "exact", "again")
        ]
        cells = [
            f"{one.verified:.3f}",
            f"{one.reflections:.3f}",
            str(len(some)),
            *(f"{s:.1%}" for s in shares),
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def compare_models(found: Scores, name: str) -> str:
    """By how much ``name`` corrects more than each other one on the same reflections, with 95 %
    intervals.
    """
    lines = [f"| {name} less | exact | 95 % | right API | 95 % |", "|---|---:|---|---:|---|"]
    for other, mine, theirs in _iter_model_pairs(found, name):
        cells = " | ".join(_render_gain(mine, theirs, what, 1, 3) for what in ("exact", "tool"))
        lines.append(f"| {other} | {cells} |")
    return "\n".join(lines)


def recovery_table(found: Scores) -> str:
    """ERR and ECR by model and kind of error."""
    lines = [
        "| model | errors | ERR, objective | another call passes | ECR, objective |",
        "|---|---|---|---|---|",
    ]
    for name, one in found.items():
        for fault, some in _iter_fault_groups(one.corrected):
            cells = [
                format_share(sum(getattr(c, what) for c in some), len(some))
                for what in ("recognised", "accepted")
            ]
            repairable = [c for c in some if c.repairable]
            cells.append(format_share(sum(c.corrected for c in repairable), len(repairable)))
            lines.append(f"| {name} | {fault} | {' | '.join(cells)} |")
    return "\n".join(lines)


def recovery_against(found: Scores, name: str) -> str:
    """By how many points ``name`` has a higher ERR and ECR than each other one, by kind of
    error.
    """
    lines = [
        f"| {name} less | errors | cases | ERR | 95 % | ECR | 95 % |",
        "|---|---|---:|---:|---|---:|---|",
    ]
    for other, mine, theirs in _iter_model_pairs(found, name):
        for (fault, ours), (_, others) in zip(
            _iter_fault_groups(mine), _iter_fault_groups(theirs), strict=True
        ):
            cells = _render_gain(ours, others, "recognised", 100, 1)
            can, could = ([c for c in some if c.repairable] for some in (ours, others))
            more = _render_gain(can, could, "corrected", 100, 1) if can else "– | –"
            lines.append(f"| {other} | {fault} | {len(ours)} | {cells} | {more} |")
    return "\n".join(lines)


def _iter_fault_groups(some: Sequence[Corrected]) -> Iterator[tuple[str, Sequence[Corrected]]]:
    """The replies by kind of error, those first that are there, then all."""
    for fault in sorted({c.fault for c in some}):
        yield fault or "not said", [c for c in some if c.fault == fault]
    yield "all", some


def _iter_model_pairs(
    found: Scores, name: str
) -> Iterator[tuple[str, Sequence[Corrected], Sequence[Corrected]]]:
    for other, measured in found.items():
        if other != name and measured.corrected:
            yield other, found[name].corrected, measured.corrected


def _render_gain(
    mine: Sequence[Corrected], theirs: Sequence[Corrected], what: str, unit: float, digits: int
) -> str:
    values = [[unit * getattr(c, what) for c in some] for some in (mine, theirs)]
    gain = metrics.paired_bootstrap(*values)
    return f"{gain.value:+.{digits}f} | {gain.low:+.{digits}f} to {gain.high:+.{digits}f}"
