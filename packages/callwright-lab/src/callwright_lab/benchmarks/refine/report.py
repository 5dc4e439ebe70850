"""Rows of ``callwright bench refine`` -> Markdown tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from statistics import fmean, median
from typing import Any

from callwright_lab.benchmarks.comparison.paired import wilson_interval
from callwright_lab.benchmarks.comparison.report import format_percent, render_table
from callwright_lab.benchmarks.harm_bound.calibration import count_needed, is_bounded
from callwright_lab.benchmarks.refine.read import BASELINE
from callwright_lab.benchmarks.refine.systems import render_systems

Row = Mapping[str, Any]
HARM_LIMIT = 0.002  # of the replies that were right before


def render_report(rows: Iterable[Row]) -> str:
    """The systems' tables; then one section per (set, upstream, mode): scores and harm of every
    reader, scores by category, errors by class.
    """
    rows = list(rows)
    groups: dict[tuple[str, str, str], dict[str, dict[str, Row]]] = {}
    for row in rows:
        readers = groups.setdefault((row["set"], row["upstream"], row["mode"]), {})
        readers.setdefault(row["reader"], {})[row["task"] + row["reply"]] = row
    parts = [_render_section(" ".join(names), readers) for names, readers in sorted(groups.items())]
    systems = render_systems(rows)
    parts = [systems, *parts] if systems else parts
    return "\n\n".join([*parts, *render_verdicts(groups)]) if parts else "No rows yet."


def render_verdicts(
    groups: Mapping[tuple[str, str, str], Mapping[str, Mapping[str, Row]]],
) -> list[str]:
    """For each upstream whose replies the refiner read: whether it may be switched on there, and
    why.

    Harm is counted over all sets and modes of the upstream, against the same replies after the
    rule groups. It is left off where more than :data:`HARM_LIMIT` of the replies that were right
    without it are not any more, or no more replies were won than lost. It may be switched on where
    the replies also show, at 95 % confidence, that harm is within the limit; else that is open.
    """
    pairs: dict[str, list[tuple[bool, bool]]] = {}
    for (_, upstream, _), readers in sorted(groups.items()):
        below = next(
            (readers[name] for name in ("sequence", "rules", "parsed") if name in readers), {}
        )
        for key, row in readers.get("model", {}).items():
            if key in below:
                pairs.setdefault(upstream, []).append((below[key]["right"], row["right"]))
    return [_render_verdict(upstream, found) for upstream, found in pairs.items()]


def _render_verdict(upstream: str, found: Sequence[tuple[bool, bool]]) -> str:
    right = sum(before for before, _ in found)
    lost = sum(before and not after for before, after in found)
    won = sum(after and not before for before, after in found)
    head = f"**Refiner on {upstream}**: "
    if not right:
        return (
            head
            + f"cannot be said: none of {len(found)} replies was right without it, so no harm can"
            " be seen."
        )
    rate = wilson_interval(lost, right)
    said = (
        f"harm {lost} of {right} ({100 * rate.value:.1f} %, 95 % interval to {100 * rate.high:.1f}"
        f" %; the limit is {100 * HARM_LIMIT:.1f} %), {won} of {len(found) - right} wrong ones made"
        " right."
    )
    if rate.value > HARM_LIMIT or won <= lost:
        return f"{head}**no**, leave it off: {said}"
    if is_bounded(lost, right, HARM_LIMIT):
        return f"{head}**yes**, it may be switched on: {said}"
    return (
        f"{head}**open**: {said} So few right replies do not show that harm is within the limit; with"
        f" no harm, {count_needed(HARM_LIMIT):,} would (`callwright train harm-bound`)."
    )


def _render_section(title: str, readers: Mapping[str, Mapping[str, Row]]) -> str:
    shared = sorted(set.intersection(*(set(rows) for rows in readers.values())))
    if not shared:
        return f"{title}: no reply was read by every reader yet."
    chosen = {name: [rows[k] for k in shared] for name, rows in readers.items()}
    return "\n\n".join(
        [
            f"**{title}**, {len(shared)} replies",
            _render_scores(chosen),
            _render_categories(chosen),
            _render_errors(chosen),
        ]
    )


def _render_scores(chosen: Mapping[str, Sequence[Row]]) -> str:
    """Right with its interval, each metric, harm against the baseline and our parser, edits,
    time.
    """
    metrics = sorted({m for row in chain(*chosen.values()) for m in row["metrics"]})
    harms = [name for name in (BASELINE, "parsed") if name in chosen]
    head = ["reader", "right (95 % interval)", *metrics, *(f"harm against {h}" for h in harms)]
    lines = [[*head, "replies edited", "median CPU ms", "tokens"]]
    for name, rows in chosen.items():
        share = wilson_interval(sum(r["right"] for r in rows), len(rows))
        cells = [
            f"{format_percent(share.value)} ({format_percent(share.low)} – {format_percent(share.high)})"
        ]
        cells += [_format_mean(rows, metric) for metric in metrics]
        cells += [_format_harm(chosen[h], rows) for h in harms]
        time = f"{1000 * median(r['seconds'] for r in rows):.2f}"
        lines.append(
            [
                name,
                *cells,
                str(sum(bool(r["edits"]) for r in rows)),
                time,
                str(sum(r["tokens"] for r in rows)),
            ]
        )
    return render_table(lines)


def _format_mean(rows: Sequence[Row], metric: str) -> str:
    """In percent, over the rows that have the metric; how many, where some have not (a sequence
    that never ran).
    """
    values = [r["metrics"][metric] for r in rows if metric in r["metrics"]]
    if not values:
        return "–"
    return f"{100 * fmean(values):.1f}" + (f" of {len(values)}" if len(values) < len(rows) else "")


def _format_harm(before: Sequence[Row], after: Sequence[Row]) -> str:
    """Return how many of the replies that were right before are now wrong."""
    was = [b["right"] for b in before]
    lost = sum(x and not a["right"] for x, a in zip(was, after, strict=True))
    return f"{lost} of {sum(was)}"


def _render_categories(chosen: Mapping[str, Sequence[Row]]) -> str:
    names = sorted({r["category"] for rows in chosen.values() for r in rows})
    lines = [["right by category", *names]]
    for name, rows in chosen.items():
        cells = []
        for category in names:
            these = [r["right"] for r in rows if r["category"] == category]
            cells.append(f"{sum(these)}/{len(these)}")
        lines.append([name, *cells])
    return render_table(lines)


def _render_errors(chosen: Mapping[str, Sequence[Row]]) -> str:
    """Return a table that counts each class of first mistake."""
    counts = {
        name: Counter(r["error"] for r in rows if r["error"]) for name, rows in chosen.items()
    }
    kinds = sorted({kind for found in counts.values() for kind in found})
    if not kinds:
        return "No mistakes."
    lines = [["first mistake", *kinds]]
    lines += [[name, *(str(found[kind]) for kind in kinds)] for name, found in counts.items()]
    return render_table(lines)
