"""Points in time and durations, as pages show them."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite
from typing import Any

from callwright.viewer.markup import Html, html

_LONGEST = 1e9  # seconds: what is longer is no duration
_LATEST = 253_402_300_799  # seconds since 1970: the end of the year 9999
_DATE = "%Y-%m-%d %H:%M:%S UTC"
_STEPS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def read_seconds(value: Any) -> float | None:
    """The value as seconds; None where a foreign trace holds something else there."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _LONGEST and isfinite(value) else None


def format_seconds(seconds: float) -> str:
    """A duration of at most three digits: ``4 ms``, ``0.53 s``, ``12.5 s``, ``3 min 20 s``."""
    if not seconds:
        return "0 s"
    if seconds < 0.0995:
        return f"{1000 * seconds:.0f} ms" if seconds >= 0.001 else "< 1 ms"
    if seconds < 9.995:
        return f"{seconds:.2f} s"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def format_ago(seconds: float) -> str:
    """The time since something, in whole units: ``12 s ago``, ``3 min ago``."""
    for length, unit in _STEPS:
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "now"


def render_offset(at: float, began: float | None = None) -> Html:
    """A point in time since the run began; the tooltip has the date, where ``began`` (seconds since
    1970) is known.
    """
    at = at if read_seconds(at) is not None else 0.0
    text = f"+{format_seconds(at)}"
    if began is None or not 0 <= began + at <= _LATEST:
        return html('<span class=at title="since the run began">{}</span>', text)
    return _render_date(began + at, text)


def render_moment(when: float, now: float | None = None) -> Html:
    """A point in time, seconds since 1970: its date, or how long before ``now`` it was, with the
    date in the tooltip.
    """
    if read_date(when) is None:
        return Html()
    if now is None:
        return _render_date(when, datetime.fromtimestamp(when, UTC).strftime(_DATE))
    return _render_date(when, format_ago(now - when), ago=True)


def read_date(value: Any) -> float | None:
    """The value as seconds since 1970; None where it is none, or a date that no page can show."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value <= _LATEST else None


def _render_date(when: float, text: str, *, ago: bool = False) -> Html:
    date = datetime.fromtimestamp(when, UTC)
    return html(
        '<time class=at datetime="{stamp}" title="{title}"{ago}>{text}</time>',
        stamp=date.isoformat(timespec="milliseconds"),
        title=date.strftime(_DATE),
        ago=html(" data-ago") if ago else "",
        text=text,
    )
