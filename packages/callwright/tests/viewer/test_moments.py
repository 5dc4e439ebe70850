"""Times on pages are short, right, and harmless where a trace holds something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.viewer.moments import (
    format_ago,
    format_seconds,
    read_date,
    read_seconds,
    render_moment,
    render_offset,
)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "0 s"),
        (0.0004, "< 1 ms"),
        (0.0994, "99 ms"),
        (0.0996, "0.10 s"),
        (9.99, "9.99 s"),
        (9.996, "10.0 s"),
        (99.96, "1 min 40 s"),
        (200, "3 min 20 s"),
        (7_320, "2 h 2 min"),
    ],
)
def test_a_duration_has_three_digits_and_a_unit(seconds: float, said: str) -> None:
    assert format_seconds(seconds) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-3, "now"), (0.9, "now"), (12, "12 s ago"), (119, "1 min ago"), (90_000, "1 d ago")],
)
def test_how_long_ago_something_was(seconds: float, said: str) -> None:
    assert format_ago(seconds) == said


@given(st.floats(0, 1e9))
def test_every_duration_can_be_written(seconds: float) -> None:
    assert format_seconds(seconds)[-1] in "sn"


@pytest.mark.parametrize("odd", [None, True, "1", -1, float("nan"), float("inf"), 1e300, [1]])
def test_what_is_no_time_is_none(odd: object) -> None:
    assert read_seconds(odd) is None
    assert read_date(odd) is None


def test_a_point_in_time_has_its_date_in_the_tooltip_where_that_is_known() -> None:
    dated = render_offset(1.5, 1_795_498_603.0)
    assert ">+1.50 s</time>" in dated
    assert 'title="2026-11-24 05:36:44 UTC"' in dated
    assert 'datetime="2026-11-24T05:36:44.500+00:00"' in dated
    assert render_offset(1.5) == '<span class=at title="since the run began">+1.50 s</span>'
    assert "+0 s" in render_offset(float("nan"), 1.0)


def test_a_date_is_said_by_how_long_ago_it_was() -> None:
    assert ">3 s ago</time>" in render_moment(1_795_498_603, 1_795_498_606.4)
    assert ">2026-11-24 05:36:43 UTC</time>" in render_moment(1_795_498_603)
    assert render_moment(0, 5) == ""
