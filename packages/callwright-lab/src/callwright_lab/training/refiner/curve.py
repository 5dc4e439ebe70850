"""The curve of a DAPO run as one picture: reward and its spread, groups dropped, length of replies
(Figure 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from callwright.jsontext import parse

PANELS = (
    ("reward", "reward"),
    ("dapo/spread", "spread within groups"),
    ("dapo/dropped", "share of groups dropped"),
    ("completions/mean_length", "tokens a reply"),
)
_WIDTH, _HEIGHT, _LEFT, _TOP = 520, 110, 46, 24


def read_curve(path: Path) -> list[Mapping[str, float]]:
    """One row a step, in order; a step that was done again after a resumption counts as its last
    time.
    """
    rows = [parse(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [row for _, row in sorted({r["step"]: r for r in rows if "reward" in r}.items())]


def smooth_values(values: Sequence[float], over: int) -> list[float]:
    """The mean of each value and up to ``over`` - 1 before it."""
    return [
        sum(values[max(0, i + 1 - over) : i + 1]) / min(i + 1, over) for i in range(len(values))
    ]


COLUMNS = (
    ("rewards/refiner/mean", "rule-based reward"),
    ("reward", "with the penalty"),
    ("dapo/spread", "spread within groups"),
    ("dapo/dropped", "share of groups dropped"),
    ("completions/mean_length", "tokens a reply"),
    ("plan/exact", "exact"),
    ("plan/syntax", "syntax"),
    ("plan/cycle", "cycle"),
    ("plan/disconnected", "disconnected"),
    ("plan/edges", "edges for each of gold"),
    ("plan/least", "least plans"),
)


def curve_table(rows: Sequence[Mapping[str, float]], over: int = 10) -> str:
    """Means over every ``over`` steps, as Markdown; a column for what no row has is left out."""
    columns = [(key, title) for key, title in COLUMNS if any(key in r for r in rows)]
    lines = [
        f"| steps | {' | '.join(title for _, title in columns)} |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for start in range(0, len(rows), over):
        some = rows[start : start + over]
        means = [sum(r.get(key, 0.0) for r in some) / len(some) for key, _ in columns]
        lines.append(
            f"| {some[0]['step']:g}-{some[-1]['step']:g} |"
            f" {' | '.join(f'{m:.2f}' for m in means)} |"
        )
    return "\n".join(lines)


def curve_svg(rows: Sequence[Mapping[str, float]], over: int = 10) -> str:
    """An SVG with one panel each: every step as a dot, the mean of the last ``over`` as a line.
    Needs a row.
    """
    parts = [
        _render_panel(
            i,
            title,
            [r["step"] for r in rows if key in r],
            [r[key] for r in rows if key in r],
            over,
        )
        for i, (key, title) in enumerate(PANELS)
    ]
    height = len(PANELS) * (_HEIGHT + _TOP) + 20
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH + _LEFT + 10} {height}"'
        ' font-size="11">'
    )
    return "\n".join([head, *parts, "</svg>\n"])


def _render_panel(
    number: int, title: str, steps: Sequence[float], values: Sequence[float], over: int
) -> str:
    base = number * (_HEIGHT + _TOP) + _TOP
    head = f'<text x="{_LEFT}" y="{base - 6}">{escape(title)}</text>'
    if not values:
        return head
    low, high = min(0.0, *values), max(0.0, *values)
    high += high == low  # all of them 0
    first, last = steps[0], steps[-1]

    def x(step: float) -> float:
        return round(_LEFT + (step - first) / max(1, last - first) * _WIDTH, 1)

    def y(value: float) -> float:
        return round(base + _HEIGHT - (value - low) / (high - low) * _HEIGHT, 1)

    dots = "".join(
        f'<circle cx="{x(s)}" cy="{y(v)}" r="1.6" fill="#9ab"/>'
        for s, v in zip(steps, values, strict=True)
    )
    points = " ".join(
        f"{x(s)},{y(v)}" for s, v in zip(steps, smooth_values(values, over), strict=True)
    )
    frame = (
        f'<path d="M{_LEFT} {base}V{base + _HEIGHT}H{_LEFT + _WIDTH}" fill="none" stroke="#888"/>'
    )
    marks = (
        f'<text x="2" y="{base + 8}">{high:.3g}</text><text x="2"'
        f' y="{base + _HEIGHT}">{low:.3g}</text>'
    )
    marks += f'<text x="{_LEFT + _WIDTH - 30}" y="{base + _HEIGHT + 12}">{last:g}</text>'
    return (
        f'{head}{frame}{marks}{dots}<polyline points="{points}" fill="none" stroke="#135"'
        ' stroke-width="1.5"/>'
    )
