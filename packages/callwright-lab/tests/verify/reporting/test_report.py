"""Kept and dropped, why, by category: every row is counted once, and what is left is said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright_lab.verify.budget import Cost
from callwright_lab.verify.reporting.report import (
    count_categories,
    render_markdown,
    summarize_sweep,
)
from callwright_lab.verify.sweep import Finding, Sweep

findings = st.lists(
    st.builds(
        Finding,
        st.booleans(),
        st.sampled_from(["", "dead", "odd"]),
        st.sampled_from(["", "why | not"]),
        id=st.just("r"),
    )
)


@given(findings)
def test_every_finding_is_counted_once_and_the_kept_stand_first(some: list[Finding]) -> None:
    lines = count_categories(some)
    assert sum(line.rows for line in lines) == len(some)
    assert len({(line.verdict, line.category) for line in lines}) == len(lines)
    assert [line.verdict == "kept" for line in lines] == sorted(
        (line.verdict == "kept" for line in lines), reverse=True
    )
    if some:
        assert abs(sum(line.share for line in lines) - 1) < 1e-9


def test_what_was_not_tried_is_not_called_dropped() -> None:
    some = (
        Finding(True, "alive", id="a"),
        Finding(False, "untried: may write", "it may write", id="b"),
        Finding(False, "untried: no input", "nothing gives 'sku'", id="c"),
        Finding(False, "unsettled", "503", id="d"),
        Finding(False, "dead: auth", "401", id="e"),
    )
    made = Sweep(some)
    assert {(line.verdict, line.category) for line in count_categories(some)} == {
        ("kept", "alive"),
        ("not tried", "untried: may write"),
        ("not tried", "untried: no input"),
        ("undecided", "unsettled"),
        ("dropped", "dead: auth"),
    }
    assert summarize_sweep(made).startswith("kept 1 of 5 (20.0%); 2 not tried; 1 undecided; ")
    assert (
        "| not tried | untried: no input | 1 | 20.0% | c: nothing gives 'sku' |"
        in render_markdown(made)
    )


def test_the_report_says_what_is_left_and_how_to_go_on() -> None:
    some = (Finding(True, id="a"), Finding(False, "dead", "said | 404", id="b"))
    made = Sweep(some, ("c",), "the budget of 2 calls is spent", 1, Cost(2))
    assert summarize_sweep(made) == (
        "kept 1 of 2 (50.0%); 1 from the journal; 2 calls, 0 model calls, 0 tokens; "
        "1 left: the budget of 2 calls is spent; the same command goes on with them"
    )
    assert "| dropped | dead | 1 | 50.0% | b: said \\| 404 |" in render_markdown(made)
    assert summarize_sweep(Sweep(())).startswith("kept 0 of 0; 0 calls")
