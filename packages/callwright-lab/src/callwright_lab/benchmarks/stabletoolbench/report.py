"""Verdicts and costs of systems on StableToolBench -> the papers' tables, a column a group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.comparison.published import GROUPS
from callwright_lab.benchmarks.comparison.report import render_table
from callwright_lab.benchmarks.judge.check import render_check_table
from callwright_lab.benchmarks.judge.rates import Rate, Wins, count_wins, pass_rate
from callwright_lab.benchmarks.judge.rows import group_verdicts, keep_latest_rows

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


def render_stable_report(judged: Sequence[JsonObject], costs: Sequence[JsonObject]) -> str:
    """Every judge's tables, solvable tasks first, then what the runs cost. ``costs``: rows of our
    runs, and of others' answer files as far as they tell.
    """
    parts, judged = [], keep_latest_rows(judged)
    for judge in sorted({(row["judge"], row["config"]) for row in judged}):
        mine = [row for row in judged if (row["judge"], row["config"]) == judge]
        for solvable in (True, False):
            found = [row for row in mine if row["solvable"] == solvable]
            if found:
                parts += [
                    f"Judge {judge[0]} ({judge[1]}).",
                    *([] if solvable else [UNFILTERED]),
                    *_render_tables(found),
                ]
    parts += [f"{TRUST}\n\n{render_check_table(judged, {})}"] if judged else []
    parts += [render_cost_table(costs)] if costs else []
    return "\n\n".join(parts) or "No finished runs yet."


def _render_tables(rows: Sequence[JsonObject]) -> list[str]:
    groups = _sort_groups(str(row["group"]) for row in rows)
    made = []
    for measure, title in TITLES.items():
        found = [row for row in rows if row["measure"] == measure]
        if not found:
            continue
        shown = (
            _format_passes if measure in ("sopr", "pr") else _make_win_formatter(measure == "wr")
        )
        made.append(
            f"{title if rows[0]['solvable'] else measure}\n\n{_render_group_table(found, measure, groups, shown)}"
        )
    return made


def _sort_groups(groups: Iterable[str]) -> list[str]:
    """Groups as the papers print them, others behind."""
    return sorted(
        {*groups}, key=lambda name: (GROUPS.index(name) if name in GROUPS else len(GROUPS), name)
    )


def _render_group_table(
    rows: Sequence[JsonObject],
    measure: str,
    groups: Sequence[str],
    shown: Callable[[Sequence[Mapping[str, Mapping[int, str]]]], tuple[list[str], str]],
) -> str:
    lines = [["system", *groups, "average of the groups", "unread"]]
    for system in sorted({str(row["system"]) for row in rows}):
        mine = [row for row in rows if row["system"] == system]
        said = [
            group_verdicts([row for row in mine if row["group"] == group], measure)
            for group in groups
        ]
        cells, average = shown(said)
        lines.append([system, *cells, average, str(sum(not row["verdict"] for row in mine))])
    return render_table(lines)


def _format_passes(said: Sequence[Mapping[str, Mapping[int, str]]]) -> tuple[list[str], str]:
    rates = [pass_rate(each) for each in said]
    there = [rate for rate in rates if rate is not None]
    return [_format_rate(rate) for rate in rates], (
        f"{100 * fmean(r.mean for r in there):.1f}" if there else "–"
    )


def _format_rate(rate: Rate | None) -> str:
    return "–" if rate is None else f"{rate} ({rate.items})"


def _make_win_formatter(
    strict: bool,
) -> Callable[[Sequence[Mapping[str, Mapping[int, str]]]], tuple[list[str], str]]:
    def share(counts: Wins) -> float:
        return counts.strict if strict else counts.with_ties

    def format_wins(said: Sequence[Mapping[str, Mapping[int, str]]]) -> tuple[list[str], str]:
        found = [count_wins(each) for each in said]
        there = [share(counts) for counts in found if counts.total]
        cells = [
            f"{c.win}/{c.lose}/{c.tie} = {100 * share(c):.1f} %" if c.total else "–" for c in found
        ]
        return cells, f"{100 * fmean(there):.1f} %" if there else "–"

    return format_wins


def render_cost_table(rows: Sequence[JsonObject]) -> str:
    """Tokens, steps (questions to the model) and tool calls a task, by system and group; a dash
    where a file does not tell. "answered" is no score: it says how often there was an answer at
    all.
    """
    groups = _sort_groups(str(row["group"]) for row in rows)
    lines = [["system, what", *groups, "all"]]
    for system in sorted({str(row["system"]) for row in rows}):
        mine = [row for row in rows if row["system"] == system]
        for what in ("tokens", "steps", "calls", "answered"):
            cells = [
                _format_mean([row for row in mine if group in ("", row["group"])], what)
                for group in (*groups, "")
            ]
            if any(cell != "–" for cell in cells):
                lines.append([f"{system}, {what}", *cells])
    return f"A task's cost, mean.\n\n{render_table(lines)}"


def _format_mean(rows: Sequence[Mapping[str, Any]], what: str) -> str:
    values = [float(row[what]) for row in rows if row.get(what) is not None]
    if not values:
        return "–"
    return f"{fmean(values):,.0f}" if what == "tokens" else f"{fmean(values):.2f} ({len(values)})"
