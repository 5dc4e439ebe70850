"""Rows of runs that met an error -> two SVG files: the rates of every strategy, and errors
corrected against tokens.

The rates are the objective ones of :mod:`callwright_lab.benchmarks.recovery.report`; bars are 95 %
intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from callwright_lab.benchmarks.comparison.paired import Interval, mean_interval, wilson_interval
from callwright_lab.benchmarks.comparison.plots import (
    draw_plots,
    label_configurations,
    new_axes,
    save_svg,
    set_plain_ticks,
)
from callwright_lab.benchmarks.comparison.report import Row, group_rows, total_tokens
from callwright_lab.recovery import count_outcomes

RATES, TOKENS = "recovery-rates.svg", "recovery-tokens.svg"
_MARKERS = "osD^vP*X"


@dataclass(frozen=True, slots=True)
class Recovered:
    """One strategy with one model: its shares, each None where there is nothing to take a share
    of.
    """

    name: str
    cases: int
    shares: dict[str, Interval | None]
    tokens: Interval


def build_points(rows: Iterable[Row]) -> list[Recovered]:
    """Every (model, configuration, strategy), in the order of the report."""
    groups = group_rows(rows)
    forms = label_configurations(groups)
    many = len({model for model, _ in groups}) > 1
    found = []
    for (model, config), strategies in groups.items():
        for strategy, by_task in strategies.items():
            name = ", ".join(filter(None, (strategy, model if many else "", forms[config])))
            found.append(_build_point(name, list(by_task.values())))
    return found


def _build_point(name: str, rows: Sequence[Row]) -> Recovered:
    counts = count_outcomes(rows)
    shares = {
        "ERR, of the errors met": _compute_share(counts["recognised"], counts["met"]),
        "ECR, of the errors met": _compute_share(counts["corrected"], counts["mendable"]),
        "ECR, of all errors": _compute_share(
            counts["corrected"], sum(bool(row["mendable"]) for row in rows)
        ),
    }
    return Recovered(name, len(rows), shares, mean_interval(list(map(total_tokens, rows))))


def _compute_share(part: int, whole: int) -> Interval | None:
    return wilson_interval(part, whole) if whole else None


def write_recovery_plots(rows: Iterable[Row], folder: Path) -> list[Path]:
    """Both plots as SVG in ``folder``, which is made if need be; no file where there is nothing to
    draw.

    Raises MissingExtra without matplotlib.
    """
    return draw_plots(build_points(rows), folder, {RATES: _plot_rates, TOKENS: _plot_tokens})


def _plot_rates(found: Sequence[Recovered], path: Path) -> Path:
    figure, axes = new_axes("Errors recognised and corrected", "", "of so many, % (95 % interval)")
    for n, (what, marker) in enumerate(zip(found[0].shares, _MARKERS, strict=False)):
        there = [(at + (n - 1) * 0.15, one.shares[what]) for at, one in enumerate(found)]
        kept = [(x, share) for x, share in there if share is not None]
        axes.errorbar(
            [x for x, _ in kept],
            [100 * share.value for _, share in kept],
            yerr=_compute_error_bars([share for _, share in kept], 100),
            fmt=marker,
            color=f"C{n}",
            capsize=3,
            label=what,
        )
    axes.set_xticks(
        range(len(found)), [f"{one.name}\n({one.cases} cases)" for one in found], fontsize="small"
    )
    axes.margins(x=0.1)
    return save_svg(figure, axes, path)


def _plot_tokens(found: Sequence[Recovered], path: Path) -> Path:
    below = "tokens per case, prompt and completion (logarithmic)"
    figure, axes = new_axes(
        "Errors corrected against tokens", below, "of all errors corrected, % (95 % interval)"
    )
    for n, one in enumerate(found):
        share = one.shares["ECR, of all errors"]
        if share is not None:
            axes.errorbar(
                [one.tokens.value],
                [100 * share.value],
                xerr=_compute_error_bars([one.tokens], 1),
                yerr=_compute_error_bars([share], 100),
                fmt=_MARKERS[n % len(_MARKERS)],
                color=f"C{n}",
                capsize=3,
                label=f"{one.name} ({one.cases} cases)",
            )
    axes.set_xscale("log")
    set_plain_ticks(axes, [edge for one in found for edge in (one.tokens.low, one.tokens.high)])
    return save_svg(figure, axes, path)


def _compute_error_bars(found: Sequence[Interval], by: float) -> list[list[float]]:
    """Return the lengths of the intervals' error bars, downwards and upwards."""
    return [
        [by * (one.value - one.low) for one in found],
        [by * (one.high - one.value) for one in found],
    ]
