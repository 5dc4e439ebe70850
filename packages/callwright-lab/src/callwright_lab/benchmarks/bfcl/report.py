"""Rows of the board as Markdown: harm first, then the suite's verdicts, then pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean

from callwright.nouns.types import JsonObject
from callwright_lab.benchmarks.bfcl.sample import CATEGORIES, MULTI_TURN, SINGLE_TURN
from callwright_lab.benchmarks.comparison.paired import (
    mcnemar_test,
    paired_bootstrap,
    wilson_interval,
)
from callwright_lab.benchmarks.comparison.report import format_percent, render_table

ByCase = Mapping[str, JsonObject]
GROUPS: Mapping[str, tuple[str, ...]] = {
    "multi-turn": MULTI_TURN,
    "single-turn": SINGLE_TURN,
    "all": CATEGORIES,
}


def render_report(rows: Iterable[JsonObject]) -> str:
    """One section for each model and half. A row counts the cases that it has done, a pair those
    that both have done.
    """
    sections: dict[tuple[str, str], dict[str, dict[str, JsonObject]]] = {}
    for row in rows:
        if not row.get("error"):
            systems = sections.setdefault((row["model"], row["half"]), {})
            systems.setdefault(_name_system(row), {})[row["case"]] = row
    parts = [_render_section(*key, systems) for key, systems in sections.items()]
    return "\n\n".join(parts) if parts else "No finished cases yet."


def _name_system(row: JsonObject) -> str:
    """The row with its label and the beginning of its settings' digest."""
    label = f"{row['label']}, " if row.get("label") else ""
    return f"{row['row']} ({label}{row['config'][:6]})"


def _render_section(model: str, half: str, systems: Mapping[str, ByCase]) -> str:
    cases = {case for found in systems.values() for case in found}
    head = f"Model {model}, {len(cases)} cases ({half})."
    parts = [head, _render_harm(systems), _render_success(systems), _render_costs(systems)]
    return "\n\n".join([*parts, *([_render_pairs(systems)] if len(systems) > 1 else [])])


def _render_harm(systems: Mapping[str, ByCase]) -> str:
    """Counts of the multi-turn cases alone: the others change nothing."""
    lines = [
        ["multi-turn", "conversations", "unasked writes", "repeated writes", "turns without a call"]
    ]
    for name, found in systems.items():
        rows = [row for row in found.values() if row["category"] in MULTI_TURN]
        silent, due = _sum_field(rows, "silent"), _sum_field(rows, "due")
        counts = [str(_sum_field(rows, "unasked")), str(_sum_field(rows, "repeated"))]
        lines.append([name, str(len(rows)), *counts, f"{silent} of {due}"])
    return render_table(lines)


def _sum_field(rows: Iterable[JsonObject], field: str) -> int:
    return sum(int(row.get(field, 0)) for row in rows)


def _render_success(systems: Mapping[str, ByCase]) -> str:
    known = {row["category"] for found in systems.values() for row in found.values()}
    kinds = [name for name in CATEGORIES if name in known]
    lines = [["right by the suite's checkers", *GROUPS, *kinds]]
    for name, found in systems.items():
        groups = [_format_success(found.values(), categories) for categories in GROUPS.values()]
        lines.append([name, *groups, *(_format_count(found.values(), (kind,)) for kind in kinds)])
    return render_table(lines)


def _select_verdicts(rows: Iterable[JsonObject], categories: Sequence[str]) -> list[bool]:
    return [bool(row["valid"]) for row in rows if row["category"] in categories]


def _format_count(rows: Iterable[JsonObject], categories: Sequence[str]) -> str:
    verdicts = _select_verdicts(rows, categories)
    return f"{sum(verdicts)}/{len(verdicts)}" if verdicts else "–"


def _format_success(rows: Iterable[JsonObject], categories: Sequence[str]) -> str:
    verdicts = _select_verdicts(rows, categories)
    if not verdicts:
        return "–"
    share = wilson_interval(sum(verdicts), len(verdicts))
    between = f"{format_percent(share.low)} – {format_percent(share.high)}"
    return f"{sum(verdicts)}/{len(verdicts)} = {format_percent(share.value)} ({between})"


def _render_costs(systems: Mapping[str, ByCase]) -> str:
    fields = ("questions", "prompt_tokens", "completion_tokens", "seconds")
    heads = [
        f"{name.replace('_', ' ')}, {group}"
        for group in ("multi-turn", "single-turn")
        for name in fields
    ]
    lines = [["means of a case", *heads]]
    for name, found in systems.items():
        cells = []
        for group in ("multi-turn", "single-turn"):
            rows = [row for row in found.values() if row["category"] in GROUPS[group]]
            cells += [_format_mean(rows, field) for field in fields]
        lines.append([name, *cells])
    return render_table(lines)


def _format_mean(rows: Sequence[JsonObject], field: str) -> str:
    return f"{fmean(row.get(field, 0) for row in rows):,.1f}" if rows else "–"


def _render_pairs(systems: Mapping[str, ByCase]) -> str:
    lines = [["the second against the first", "cases", "points", "only one, exact McNemar"]]
    for first, second in combinations(systems, 2):
        for group, categories in GROUPS.items():
            shared = sorted(
                case
                for case in systems[first].keys() & systems[second].keys()
                if systems[first][case]["category"] in categories
            )
            if shared:
                pair = _compare_rows(systems[second], systems[first], shared)
                lines.append([f"{second} against {first}, {group}", str(len(shared)), *pair])
    return render_table(lines)


def _compare_rows(ours: ByCase, theirs: ByCase, shared: Sequence[str]) -> list[str]:
    won, lost = ([bool(side[case]["valid"]) for case in shared] for side in (ours, theirs))
    gain = paired_bootstrap([100.0 * value for value in won], [100.0 * value for value in lost])
    test = mcnemar_test(won, lost)
    return [
        f"{gain.value:+.0f} ({gain.low:+.0f} to {gain.high:+.0f})",
        f"{test.only_a} and {test.only_b}, p = {test.p:.3g}",
    ]
