"""The summary and the filter: every control has a name, and nothing in them becomes markup."""

from __future__ import annotations

from callwright.viewer.markup import html
from callwright.viewer.summary import Fact, Kind, join_kinds, render_filter, render_summary

HOSTILE = "\"><script>alert(1)</script>'"


def test_a_summary_holds_outcome_figures_and_filter() -> None:
    facts = [Fact("calls", "3"), Fact("failed", "1", "failed", "of them")]
    made = render_summary(html("<b>done</b>"), facts, [Kind("call", "calls", 3)])
    assert "<b>done</b>" in made
    assert '<div title="of them"><dt>failed</dt><dd class="failed">1</dd></div>' in made
    assert '<option value="call">calls (3)</option>' in made
    assert made.index("calls</dt>") < made.index("failed</dt>") < made.index("<form")


def test_the_filter_is_hidden_until_its_script_runs_and_its_controls_have_names() -> None:
    made = render_filter([Kind("", "everything", 0)])
    assert " hidden>" in made[: made.index("<label")]
    assert made.count("<label>") == made.count("<select") + made.count("<input")


def test_nothing_in_a_summary_becomes_markup() -> None:
    facts = [Fact(HOSTILE, HOSTILE, HOSTILE, HOSTILE)]
    made = render_summary(html("{}", HOSTILE), facts, [Kind(HOSTILE, HOSTILE, 1)])
    assert "<script" not in made


def test_kinds_stand_once_each() -> None:
    assert join_kinds(["call", "repair", "call"]) == "call repair"
