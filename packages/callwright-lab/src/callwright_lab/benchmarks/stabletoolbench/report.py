"""Verdicts and costs of systems on StableToolBench -> the papers' tables, a column a group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.comparison.published import GROUPS
from callwright_lab.benchmarks.comparison.report import table
from callwright_lab.benchmarks.judge.check import check_table
from callwright_lab.benchmarks.judge.rates import Rate, Wins, pass_rate, wins
from callwright_lab.benchmarks.judge.rows import latest, verdicts

TITLES = {
    "sopr": "SoPR, % (Solved 1, Unsure 0.5, Unsolved 0; mean ± deviation of the judged runs)",
    "pr": "PR, % (Tool-MVR, Table 5; mean ± deviation of the judged runs)",
    "sowr": "SoWR (win/lose/tie by majority of the judged runs; (wins + ties / 2) / all)",
    "wr": "WR (Tool-MVR, Table 6; win/lose/tie by majority of the judged runs; wins / all)",
}
TRUST = (
    "What these judges are worth: whether they repeat themselves, and whether a comparison keeps"
    " its winner when the two change places. Whether they agree with gold is told by `callwright"
    " bench judge`, on runs of known outcome."
)
UNFILTERED = (
    "Tasks of answer files that are not among the solvable queries: ToolEval's questions on tasks"
    " some of which nobody can solve. No SoPR, and no SoWR."
)


def stable_report(judged: Sequence[JsonObject], costs: Sequence[JsonObject]) -> str:
    """Every judge's tables, solvable tasks first, then what the runs cost. ``costs``: rows of our
    runs, and of others' answer files as far as they tell.
    """
    parts, judged = [], latest(judged)
    for judge in sorted({(row["judge"], row["config"]) for row in judged}):
        mine = [row for row in judged if (row["judge"], row["config"]) == judge]
        for solvable in (True, False):
            found = [row for row in mine if row["solvable"] == solvable]
            if found:
                parts += [
                    f"Judge {judge[0]} ({judge[1]}).",
                    *([] if solvable else [UNFILTERED]),
                    *_tables(found),
                ]
    parts += [f"{TRUST}\n\n{check_table(judged, {})}"] if judged else []
    parts += [cost_table(costs)] if costs else []
    return "\n\n".join(parts) or "No finished runs yet."


def _tables(rows: Sequence[JsonObject]) -> list[str]:
    groups = _in_order(str(row["group"]) for row in rows)
    made = []
    for measure, title in TITLES.items():
        found = [row for row in rows if row["measure"] == measure]
        if not found:
            continue
        shown = _passes if measure in ("sopr", "pr") else _wins(measure == "wr")
        made.append(
            f"{title if rows[0]['solvable'] else measure}\n\n{_by_group(found, measure, groups, shown)}"
        )
    return made


def _in_order(groups: Iterable[str]) -> list[str]:
    """Groups as the papers print them, others behind."""
    return sorted(
        {*groups}, key=lambda name: (GROUPS.index(name) if name in GROUPS else len(GROUPS), name)
    )


def _by_group(
    rows: Sequence[JsonObject],
    measure: str,
    groups: Sequence[str],
    shown: Callable[[Sequence[Mapping[str, Mapping[int, str]]]], tuple[list[str], str]],
) -> str:
    lines = [["system", *groups, "average of the groups", "unread"]]
    for system in sorted({str(row["system"]) for row in rows}):
        mine = [row for row in rows if row["system"] == system]
        said = [
            verdicts([row for row in mine if row["group"] == group], measure) for group in groups
        ]
        cells, average = shown(said)
        lines.append([system, *cells, average, str(sum(not row["verdict"] for row in mine))])
    return table(lines)


def _passes(said: Sequence[Mapping[str, Mapping[int, str]]]) -> tuple[list[str], str]:
    rates = [pass_rate(each) for each in said]
    there = [rate for rate in rates if rate is not None]
    return [_rate(rate) for rate in rates], (
        f"{100 * fmean(r.mean for r in there):.1f}" if there else "–"
    )


def _rate(rate: Rate | None) -> str:
    return "–" if rate is None else f"{rate} ({rate.items})"


def _wins(
    strict: bool,
) -> Callable[[Sequence[Mapping[str, Mapping[int, str]]]], tuple[list[str], str]]:
    def share(counts: Wins) -> float:
        return counts.strict if strict else counts.with_ties

    def shown(said: Sequence[Mapping[str, Mapping[int, str]]]) -> tuple[list[str], str]:
        found = [wins(each) for each in said]
        there = [share(counts) for counts in found if counts.total]
        cells = [
            f"{c.win}/{c.lose}/{c.tie} = {100 * share(c):.1f} %" if c.total else "–" for c in found
        ]
        return cells, f"{100 * fmean(there):.1f} %" if there else "–"

    return shown


def cost_table(rows: Sequence[JsonObject]) -> str:
    """Tokens, steps (questions to the model) and tool calls a task, by system and group; a dash
    where a file does not tell. "answered" is no score: it says how often there was an answer at
    all.
    """
    groups = _in_order(str(row["group"]) for row in rows)
    lines = [["system, what", *groups, "all"]]
    for system in sorted({str(row["system"]) for row in rows}):
        mine = [row for row in rows if row["system"] == system]
        for what in ("tokens", "steps", "calls", "answered"):
            cells = [
                _mean([row for row in mine if group in ("", row["group"])], what)
                for group in (*groups, "")
            ]
            if any(cell != "–" for cell in cells):
                lines.append([f"{system}, {what}", *cells])
    return f"A task's cost, mean.\n\n{table(lines)}"


def _mean(rows: Sequence[Mapping[str, Any]], what: str) -> str:
    values = [float(row[what]) for row in rows if row.get(what) is not None]
    if not values:
        return "–"
    return f"{fmean(values):,.0f}" if what == "tokens" else f"{fmean(values):.2f} ({len(values)})"
