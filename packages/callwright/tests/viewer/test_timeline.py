"""Bars stand where their time is, and rows say the same in words."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from callwright.viewer.timeline import Lane, Row, Span, render_timeline

HOSTILE = "\"><script>alert(1)</script>'"


def test_a_row_says_what_when_and_how_long_and_leads_to_its_entry() -> None:
    row = Row("r1", "r1 search", "failed", [Span(1, 1.5, "failed"), Span(2, 3, "ok")])
    made = render_timeline([Lane("Layer 1 of 1", [row, Row("q", "Question", "question")])])
    assert '<a href="#r1" title="r1 search: failed, 1.00 s to 3.00 s (1.50 s)">' in made
    assert "at 1.00 s" in made
    assert '<b class="said failed">failed</b>' in made
    assert made.count('<rect class="ok"') == 1, "each attempt has its bar"
    assert 'x="66.67%" width="33.33%"' in made
    assert '<a href="#q" title="Question">' in made, "a row without times is there all the same"


def test_a_timeline_without_times_is_a_list() -> None:
    made = render_timeline([Lane("Turn 1", [Row("r1", "r1 search", "ok")])])
    assert "This trace holds no times" in made
    assert "<svg" not in made
    assert 'href="#r1"' in made
    assert "No question and no call" in render_timeline([Lane("Turn 1", [])])


def test_the_legend_names_only_what_is_drawn() -> None:
    made = render_timeline([Lane("a", [Row("r1", "r1", "ok", [Span(0, 1, "ok")])])])
    legend = made[: made.index("class=timeline")]
    assert " call</span>" in legend
    assert "failed" not in legend


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), min_size=1, max_size=6))
def test_bars_stay_inside_and_in_the_order_of_their_times(pairs: list[tuple[float, float]]) -> None:
    rows = [
        Row(f"r{n}", f"r{n}", "ok", [Span(start, start + took, "ok")])
        for n, (start, took) in enumerate(sorted(pairs))
    ]
    made = render_timeline([Lane("a", rows)])
    places = [
        (float(x), float(width))
        for x, width in re.findall(r'<rect class="ok" x="([\d.]+)%" width="([\d.]+)%"', made)
    ]
    assert len(places) == (len(rows) if any(start + took for start, took in pairs) else 0)
    assert all(x + width <= 100.01 and width > 0 for x, width in places)
    assert [x for x, _ in places] == sorted(x for x, _ in places)


def test_nothing_in_a_timeline_becomes_markup() -> None:
    row = Row(HOSTILE, HOSTILE, "failed", [Span(0, 1, "failed")])
    assert "<script" not in render_timeline([Lane(HOSTILE, [row])])
