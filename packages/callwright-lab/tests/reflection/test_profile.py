"""A learner's errors as a table: how often, at which calls, how sure, and one of each."""

from __future__ import annotations

from typing import Any

import pytest

from callwright_lab.reflection.profile import profile_errors
from callwright_lab.verify.reporting.report import render_markdown
from callwright_lab.verify.sweep import Finding, Sweep


def action(
    category: str, times: int = 1, tried: str = "f()", came: str = "", why: str = ""
) -> dict[str, Any]:
    error = category if category.startswith(("calling", "planning")) else ""
    return {
        "category": category, "error": error, "times": times, "tried": tried, "came": came, "why": why, "row": None,
    }  # fmt: skip


def found(id: str, tool: str, *actions: dict[str, Any]) -> Finding:
    return Finding(False, id=id, found={"actions": list(actions), "tool": tool})


MADE = Sweep((
    found("a@1", "f", action("right", 2), action("calling: wrong type", 2, "f(x='1')", "x is no number")),
    found("a@2", "g", action("planning: another tool", 4, "f(y=2)")),
    found("b@1", "f", action("calling: wrong type", 1, "f(x=[])"), action("as good", 2), action("not carried out")),
    found("c@1", "f", action("no call", 1, "", why="it ended here"), action("right", 3)),
    found("d@1", "f", action("unsourced") | {"error": "calling: wrong type"}, action("right, and stumbled", 2)),
))  # fmt: skip


def test_errors_are_counted_by_kind_and_tool_over_the_samples_that_could_be_judged() -> None:
    told = profile_errors(MADE)
    assert (told.samples, told.distinct, told.judged, told.right) == (19, 10, 18, 7)
    assert (told.points, told.requests) == (5, 4)
    first, *rest = told.lines
    assert [(one.kind, one.error, one.tool, one.times, one.of) for one in told.lines[:2]] == [
        ("calling", "wrong type", "f", 4, 14), ("planning", "another tool", "g", 4, 4),
    ]  # fmt: skip
    assert {(one.kind, one.error) for one in rest[1:]} == {
        ("stumbled", "after the verified call"), ("no call", "it ended here"),
    }  # fmt: skip
    assert first.example == "f(x='1') → x is no number", "of the action that came most often"
    assert {one.kind: one.times for one in told.kinds} == {
        "calling": 4,
        "planning": 4,
        "stumbled": 2,
        "no call": 1,
    }


def test_an_interval_counts_requests_and_not_their_samples() -> None:
    (line,) = [one for one in profile_errors(MADE).lines if one.tool == "g"]
    assert line.requests == 1
    assert line.share.value == 1.0
    assert line.share.low == pytest.approx(0.207, abs=0.001), (
        "Wilson's of one in one, not of four in four"
    )
    many = Sweep(
        tuple(found(f"{n}@1", "g", action("planning: another tool", 4)) for n in range(40))
    )
    (sure,) = profile_errors(many).lines
    assert sure.share.low > 0.9


def test_the_table_is_the_first_of_the_report_and_says_how_much_was_sampled() -> None:
    table = profile_errors(MADE).table
    report = render_markdown(MADE, [table])
    assert report.index("wrong type") < report.index("| verdict |")
    assert (
        "19 samples at 5 points of 4 requests, 10 different actions; 18 samples could be judged"
        in report
    )
    assert "29%" in report
    nothing = profile_errors(
        Sweep((Finding(True, found={"actions": [action("calling: wrong type")]}),))
    )
    assert (nothing.samples, nothing.lines, nothing.kinds) == (0, (), ())
