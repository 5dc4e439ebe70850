"""What models wrote after a wrong action, judged by code, and the tables of it. No model is asked.

*ERR and ECR, objective* are those of ``bench refinetoolbench`` (:mod:`callwright_lab.recovery`): a
reply is read as the first round that ``--strategy toolmvr`` would make of it, its calls pass the
gate as theirs would, and gold is the verified call. Nothing is carried out, so only gold's own call
gives what gold gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from callwright.agent.strategies.code import CALLS
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError, boundary
from callwright.nouns.trajectory import Step
from callwright.nouns.types import ToolCall, ToolResult, canonical
from callwright.parsing.formats.program import calls_in, read_round
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.repair.gate import Gate, Refusal
from callwright_lab import metrics
from callwright_lab.recovery import Gold, Recovery, recovery, share
from callwright_lab.training.toolmvr.data import Row


@dataclass(frozen=True, slots=True)
class Corrected:
    """One greedy reply after a wrong action. ``form``: it is a round with a call; ``tool``: it
    calls what gold calls; ``exact``: with gold's arguments; ``again``: it is the wrong call once
    more; ``accepted``: some other call of it passes the gate; ``recognised``, ``corrected``,
    ``mendable``: as :func:`callwright_lab.recovery.recovery` has them.
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
    mendable: bool = True


@dataclass(frozen=True, slots=True)
class Measured:
    """Mean loss a learned token on V and on R rows, and the corrections of the R rows."""

    verified: float
    reflections: float
    corrected: tuple[Corrected, ...]


Scores: TypeAlias = Mapping[str, Measured]
"""What was measured, by model; every model on the same rows."""


def corrected(row: Row, text: str) -> Corrected:
    """One reply against the row's gold."""
    found = _calls(row, text)
    keys, wrong = [_key(call) for call in found], [_key(call) for call in row.wrong]
    made, accepted = _recovered(row, found)
    return Corrected(
        row.id,
        row.error,
        text,
        form=bool(found),
        tool=bool(found) and [c.tool for c in found] == [c.tool for c in row.right],
        exact=bool(found) and keys == [_key(call) for call in row.right],
        again=bool(found) and keys == wrong,
        fault=row.fault,
        accepted=accepted,
        recognised=made.recognised,
        corrected=made.corrected,
        mendable=made.mendable,
    )


def read_scores(path: Path, rows: Sequence[Row]) -> dict[str, Measured]:
    """The scores that the stage measure wrote, every reply judged anew. ConfigError where there are
    none, or where they are of other rows.
    """
    by_id = {row.id: row for row in rows if row.kind == "R"}
    try:
        told: Any = parse(path.read_bytes())
    except (OSError, JsonError) as error:
        raise ConfigError(
            f"no scores can be read from {path}: {error}", hint="run the stage measure first"
        ) from None
    with boundary(ConfigError, f"scores in {path}"):
        return {name: _measured(one, by_id, path) for name, one in told.items()}


def _measured(told: Mapping[str, Any], by_id: Mapping[str, Row], path: Path) -> Measured:
    lost = next((one["id"] for one in told["corrected"] if one["id"] not in by_id), None)
    if lost is not None:
        raise ConfigError(
            f"{path} speaks of a row {lost!r} that is not among these",
            hint="give the run's own --rows",
        )
    replies = tuple(corrected(by_id[one["id"]], one["text"]) for one in told["corrected"])
    return Measured(told["verified"], told["reflections"], replies)


def _calls(row: Row, text: str) -> list[ToolCall]:
    """The calls of the reply's first round; of a program that is cut off nothing would be run."""
    made = read_round(text)
    if made.code is None or made.ending == "torn":
        return []
    found = calls_in(made.code, ToolVocabulary(row.tools, unknown=True))
    return [ToolCall("", call.tool, call.arguments) for call in found]


def _recovered(row: Row, calls: Sequence[ToolCall]) -> tuple[Recovery, bool]:
    """What became of the error, and whether some other call than the wrong one passes the gate."""
    gate, steps, accepted = Gate(row.tools), [], False
    for call in calls[:CALLS]:  # a round of the strategy makes no more
        verdict = gate.check(call)
        if isinstance(verdict, Refusal):
            steps.append(Step("", (call,), shown=verdict.message))
            continue
        left = ToolCall("", call.tool, verdict.arguments)
        steps.append(Step("", (left,), (ToolResult("", call.tool, verdict.arguments, None),)))
        accepted = accepted or _key(left) not in [_key(wrong) for wrong in row.wrong]
    gold = [
        Gold(c.tool, v.arguments) for c in row.right if not isinstance(v := gate.check(c), Refusal)
    ]
    made = recovery(row.wrong[0], gold, steps, told=False) if row.wrong else Recovery(False)
    return made, accepted


def _key(call: ToolCall) -> str:
    return canonical([call.tool, call.arguments])


def report(found: Scores) -> str:
    """All tables, as Markdown; the last model against each other one."""
    name = list(found)[-1] if found else ""
    parts = [
        table(found),
        against(found, name),
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


def table(found: Scores) -> str:
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


def against(found: Scores, name: str) -> str:
    """By how much ``name`` corrects more than each other one on the same reflections, with 95 %
    intervals.
    """
    lines = [f"| {name} less | exact | 95 % | right API | 95 % |", "|---|---:|---|---:|---|"]
    for other, mine, theirs in _pairs(found, name):
        cells = " | ".join(_gain(mine, theirs, what, 1, 3) for what in ("exact", "tool"))
        lines.append(f"| {other} | {cells} |")
    return "\n".join(lines)


def recovery_table(found: Scores) -> str:
    """ERR and ECR by model and kind of error."""
    lines = [
        "| model | errors | ERR, objective | another call passes | ECR, objective |",
        "|---|---|---|---|---|",
    ]
    for name, one in found.items():
        for fault, some in _by_fault(one.corrected):
            cells = [
                share(sum(getattr(c, what) for c in some), len(some))
                for what in ("recognised", "accepted")
            ]
            mendable = [c for c in some if c.mendable]
            cells.append(share(sum(c.corrected for c in mendable), len(mendable)))
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
    for other, mine, theirs in _pairs(found, name):
        for (fault, ours), (_, others) in zip(_by_fault(mine), _by_fault(theirs), strict=True):
            cells = _gain(ours, others, "recognised", 100, 1)
            can, could = ([c for c in some if c.mendable] for some in (ours, others))
            more = _gain(can, could, "corrected", 100, 1) if can else "– | –"
            lines.append(f"| {other} | {fault} | {len(ours)} | {cells} | {more} |")
    return "\n".join(lines)


def _by_fault(some: Sequence[Corrected]) -> Iterator[tuple[str, Sequence[Corrected]]]:
    """The replies by kind of error, those first that are there, then all."""
    for fault in sorted({c.fault for c in some}):
        yield fault or "not said", [c for c in some if c.fault == fault]
    yield "all", some


def _pairs(
    found: Scores, name: str
) -> Iterator[tuple[str, Sequence[Corrected], Sequence[Corrected]]]:
    for other, measured in found.items():
        if other != name and measured.corrected:
            yield other, found[name].corrected, measured.corrected


def _gain(
    mine: Sequence[Corrected], theirs: Sequence[Corrected], what: str, unit: float, digits: int
) -> str:
    values = [[unit * getattr(c, what) for c in some] for some in (mine, theirs)]
    gain = metrics.paired_bootstrap(*values)
    return f"{gain.value:+.{digits}f} | {gain.low:+.{digits}f} to {gain.high:+.{digits}f}"
