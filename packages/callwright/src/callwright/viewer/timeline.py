"""Bars over the time of a run: one row for each question and each call, grouped by stage.

A row is a link to its entry that says in words what it was, when it began and how long it took, so
the timeline is a list where nothing is drawn. Places are in percent of the whole, as attributes of
SVG: a page's policy forbids styles of single elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from callwright.viewer.markup import Html, html, join_html
from callwright.viewer.moments import format_seconds

_NARROWEST = 0.8  # percent: a shorter bar could not be seen
_TICKS = 4
State: TypeAlias = Literal["question", "ok", "failed", "skipped", "idle"]
"""What became of a question or a call."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a row's time, in seconds since the run began."""

    start: float
    end: float
    state: State


@dataclass(frozen=True, slots=True)
class Row:
    """One question or call: the id of its entry, its name, what became of it, and when it ran.
    No ``spans``: nobody wrote down when.
    """

    entry: str
    name: str
    state: State
    spans: Sequence[Span] = ()

    @property
    def start(self) -> float:
        return min((span.start for span in self.spans), default=0.0)

    @property
    def end(self) -> float:
        return max((span.end for span in self.spans), default=0.0)

    @property
    def took(self) -> float:
        return sum(span.end - span.start for span in self.spans)


@dataclass(frozen=True, slots=True)
class Lane:
    """A stage and its rows."""

    title: str
    rows: Sequence[Row]


def render_timeline(lanes: Sequence[Lane]) -> Html:
    """Return the timeline; a plain list where no row took any time."""
    lanes = [lane for lane in lanes if lane.rows]
    total = max((row.end for lane in lanes for row in lane.rows), default=0.0)
    if not lanes:
        return html("<p class=quiet>No question and no call was recorded.</p>")
    said = Html() if total else html("<p class=quiet>This trace holds no times.</p>")
    return html(
        "{said}{legend}<div class=timeline>{axis}{lanes}</div>",
        said=said,
        legend=_render_legend(lanes) if total else "",
        axis=_render_axis(total) if total else "",
        lanes=join_html(_render_lane(lane, total) for lane in lanes),
    )


def _render_legend(lanes: Sequence[Lane]) -> Html:
    names: dict[State, str] = {
        "question": "question to the model",
        "ok": "call",
        "failed": "failed",
        "skipped": "not executed",
        "idle": "no result yet",
    }
    rows = [row for lane in lanes for row in lane.rows]
    found = {span.state for row in rows for span in row.spans}
    marks = (
        html(
            '<span class="key {state}"><svg aria-hidden=true><rect width="100%" height="100%"'
            ' rx="3"/></svg> {name}</span> ',
            state=state,
            name=name,
        )
        for state, name in names.items()
        if state in found
    )
    return html("<p class=legend>{}</p>", join_html(marks))


def _render_axis(total: float) -> Html:
    anchors = {0: "start", _TICKS: "end"}
    marks = (
        html(
            '<text x="{x}%" y="12" text-anchor="{anchor}">{text}</text>',
            x=f"{100 * at / _TICKS:g}",
            anchor=anchors.get(at, "middle"),
            text=format_seconds(total * at / _TICKS),
        )
        for at in range(_TICKS + 1)
    )
    return html("<div class=axis aria-hidden=true><svg>{}</svg></div>", join_html(marks))


def _render_lane(lane: Lane, total: float) -> Html:
    timed = [row for row in lane.rows if row.spans]
    start = min((row.start for row in timed), default=0.0)
    end = max((row.end for row in timed), default=0.0)
    band = _draw_bars([_draw_bar("band", start, end, total)]) if timed and total else Html()
    return html(
        "<div class=lane data-group><h3><span class=name>{title}</span>{band}<span"
        " class=took>{took}</span></h3><ol>{rows}</ol></div>",
        title=lane.title,
        band=band,
        took=format_seconds(end - start) if timed and total else "",
        rows=join_html(_render_row(row, total) for row in lane.rows),
    )


def _render_row(row: Row, total: float) -> Html:
    said = "" if row.state in ("ok", "question") else row.state
    drawn, when, took, title = Html(), "", "", row.name
    if row.spans and total:
        bars = (_draw_bar(span.state, span.start, span.end, total) for span in row.spans)
        drawn, when = _draw_bars(bars), f"at {format_seconds(row.start)}"
        took = format_seconds(row.took)
        title = (
            f"{row.name}: {row.state}, {format_seconds(row.start)} to {format_seconds(row.end)}"
            f" ({took})"
        )
    return html(
        '<li data-of="{entry}"><a href="#{entry}" title="{title}"><span class=name>{name}</span>'
        " {said}<span class=when>{when}</span>{drawn}<span class=took>{took}</span></a></li>",
        entry=row.entry,
        title=title,
        name=row.name,
        said=html('<b class="said {0}">{0}</b> ', said) if said else "",
        when=when,
        drawn=drawn,
        took=took,
    )


def _draw_bars(bars: Iterable[Html]) -> Html:
    return html('<svg class="spans" aria-hidden=true>{}</svg>', join_html(bars))


def _draw_bar(state: State | Literal["band"], start: float, end: float, total: float) -> Html:
    width = max(_NARROWEST, 100 * (end - start) / total)
    left = max(0.0, min(100 * start / total, 100 - width))
    return html(
        '<rect class="{state}" x="{x}%" width="{width}%" height="100%" rx="3"/>',
        state=state,
        x=f"{left:.2f}",
        width=f"{width:.2f}",
    )
