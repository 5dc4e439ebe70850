"""Rows of a comparison of strategies -> two SVG files: success against tokens, success by model
size.

A point is one strategy with one model, on the tasks that it has done; its bars are 95 % intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from callwright.nouns.errors import MissingExtra
from callwright_lab.benchmarks.comparison.model_size import parse_model_size
from callwright_lab.benchmarks.comparison.paired import Interval, mean_interval, wilson_interval
from callwright_lab.benchmarks.comparison.report import ByTask, Row, group_rows, total_tokens

T = TypeVar("T")

TOKENS, SIZES = "success-tokens.svg", "success-size.svg"
_MARKERS = "osD^vP*X"


@dataclass(frozen=True, slots=True)
class Point:
    """One strategy with one model. ``size`` is in billions of parameters; ``form`` tells
    configurations apart.
    """

    strategy: str
    model: str
    form: str
    size: float | None
    tasks: int
    success: Interval
    tokens: Interval

    @property
    def series(self) -> str:
        """Return the label of the series that is drawn in one colour."""
        return f"{self.strategy}, {self.form}" if self.form else self.strategy


def build_points(rows: Iterable[Row]) -> list[Point]:
    """A point for each (strategy, model, configuration), in the order of the report."""
    groups = group_rows(rows)
    forms = label_configurations(groups)
    return [
        _build_point(strategy, model, forms[config], list(found.values()))
        for (model, config), strategies in groups.items()
        for strategy, found in strategies.items()
    ]


def label_configurations(groups: Mapping[tuple[str, str], Mapping[str, ByTask]]) -> dict[str, str]:
    """Configuration -> what tells it apart from the others: the form of its replies, its label,
    else its digest.
    """
    firsts = {
        config: next(iter(next(iter(found.values())).values()))
        for (_, config), found in groups.items()
    }
    if len(firsts) < 2:
        return dict.fromkeys(firsts, "")
    for key in ("mode", "label"):
        named = {config: str(row.get(key) or "") for config, row in firsts.items()}
        if len(set(named.values())) == len(named):
            return named
    return {config: config[:6] for config in firsts}


def _build_point(strategy: str, model: str, form: str, rows: Sequence[Row]) -> Point:
    success = wilson_interval(sum(row["success"] for row in rows), len(rows))
    tokens = mean_interval([total_tokens(row) for row in rows])
    size = next((row["size"] for row in rows if row.get("size")), None) or parse_model_size(model)
    return Point(strategy, model, form, size, len(rows), success, tokens)


def write_plots(rows: Iterable[Row], folder: Path) -> list[Path]:
    """Both plots as SVG in ``folder``, which is made if need be; no file where there is nothing to
    draw.

    Raises MissingExtra without matplotlib.
    """
    return draw_plots(build_points(rows), folder, {TOKENS: _plot_tokens, SIZES: _plot_sizes})


def draw_plots(
    found: Sequence[T], folder: Path, plots: Mapping[str, Callable[[Sequence[T], Path], Path]]
) -> list[Path]:
    """Each of ``plots``, by file name, in ``folder``; nothing where nothing was found. Raises
    MissingExtra.
    """
    if not found:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    return [draw(found, folder / name) for name, draw in plots.items()]


def _plot_tokens(found: Sequence[Point], path: Path) -> Path:
    figure, axes = new_axes(
        "Success against tokens", "tokens per task, prompt and completion (logarithmic)"
    )
    models = list(dict.fromkeys(point.model for point in found))
    for colour, series in _assign_colours(found):
        for point in (p for p in found if p.series == series):
            label = (
                f"{series} ({point.tasks} tasks)"
                if len(models) == 1
                else f"{series}, {point.model} ({point.tasks})"
            )
            _draw_point(
                axes,
                point,
                point.tokens,
                colour,
                _MARKERS[models.index(point.model) % len(_MARKERS)],
                label,
            )
    axes.set_xscale("log")
    set_plain_ticks(axes, [edge for p in found for edge in (p.tokens.low, p.tokens.high)])
    return save_svg(figure, axes, path)


def _plot_sizes(found: Sequence[Point], path: Path) -> Path:
    known = all(point.size is not None for point in found)
    place = {model: float(n) for n, model in enumerate(dict.fromkeys(p.model for p in found), 1)}
    centre = {p.model: p.size if known and p.size else place[p.model] for p in found}
    figure, axes = new_axes(
        "Success by model size",
        "billions of parameters (logarithmic)" if known else "model, in order",
    )
    coloured = _assign_colours(found)
    for n, (colour, series) in enumerate(coloured):
        aside = n - (len(coloured) - 1) / 2  # beside each other, so that no interval hides another
        at = sorted(
            (
                (_shift_position(centre[p.model], aside, known), p)
                for p in found
                if p.series == series
            ),
            key=lambda pair: pair[0],
        )
        axes.plot(
            [x for x, _ in at], [100 * p.success.value for _, p in at], color=colour, alpha=0.5
        )
        for k, (x, point) in enumerate(at):
            _draw_point(axes, point, Interval(x, x, x), colour, "o", series if k == 0 else "_")
    if known:
        axes.set_xscale("log")
    names = {x: "\n".join(m for m, at in centre.items() if at == x) for x in centre.values()}
    axes.set_xticks(list(names), [f"{x:g}\n{name}" if known else name for x, name in names.items()])
    axes.set_xticks([], minor=True)
    axes.margins(x=0.2)
    return save_svg(figure, axes, path)


def _shift_position(x: float, aside: float, logarithmic: bool) -> float:
    return x * 1.03**aside if logarithmic else x + 0.04 * aside


def _assign_colours(found: Sequence[Point]) -> list[tuple[str, str]]:
    """(colour, series), the colours those that people tell apart."""
    return [
        (f"C{n}", series) for n, series in enumerate(dict.fromkeys(point.series for point in found))
    ]


def _draw_point(
    axes: Any, point: Point, at: Interval, colour: str, marker: str, label: str
) -> None:
    share = point.success
    axes.errorbar(
        [at.value],
        [100 * share.value],
        xerr=[[at.value - at.low], [at.high - at.value]],
        yerr=[[100 * (share.value - share.low)], [100 * (share.high - share.value)]],
        fmt=marker,
        color=colour,
        capsize=3,
        label=label,
    )


def new_axes(
    title: str, below: str, beside: str = "tasks solved, % (95 % interval)"
) -> tuple[Any, Any]:
    """A figure and its axes, from 0 to 100 upwards. Raises MissingExtra without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("drawing plots", "bench", "callwright-lab") from None
    figure = Figure(figsize=(9.0, 4.8), layout="constrained")
    axes = figure.add_subplot()
    axes.set(title=title, xlabel=below, ylabel=beside, ylim=(0, 100))
    axes.grid(alpha=0.25)
    return figure, axes


def set_plain_ticks(axes: Any, values: Sequence[float]) -> None:
    """1, 2 and 5 times the powers of ten around the values, written out."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xlim(min(values) / 1.2, max(values) * 1.2)
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def save_svg(figure: Any, axes: Any, path: Path) -> Path:
    """The same rows give the same file."""
    from matplotlib import rc_context

    figure.legend(*axes.get_legend_handles_labels(), fontsize="small", loc="outside right upper")
    with rc_context({"svg.hashsalt": "callwright", "svg.fonttype": "none"}):
        figure.savefig(path, format="svg", metadata={"Date": None})
    return path
