"""The table: harm first, intervals, and direct against proxy in pairs."""

from __future__ import annotations

from typing import Any

from callwright_lab.benchmarks.agents.report import get_configuration, render_report


def row(task: str, way: str, **more: Any) -> dict[str, Any]:
    plain = {"unasked": 0, "repeated": 0, "invented": 0, "false_refusal": False, "success": True}
    spent = {"questions": 2, "prompt_tokens": 100, "completion_tokens": 10, "seconds": 0.5}
    head = {"upstream": "right", "framework": "openai", "way": way, "guard": "", "options": ""}
    return {"task": task, **head, "label": "", **plain, **spent, **more}


def test_harm_stands_before_success() -> None:
    rows = [row("a", "direct"), row("b", "direct", unasked=3, success=False)]
    head, _, line = render_report(rows).splitlines()
    names = [cell.strip() for cell in head.strip("|").split("|")]
    assert names[2:7] == ["unasked", "repeated", "invented", "false refusals", "success"]
    assert "3 (50% [9%, 91%])" in line
    assert line.startswith("| right openai direct | 2 |")


def test_tokens_that_are_not_known_are_a_dash() -> None:
    assert "| - | 10 |" in render_report([row("a", "direct", prompt_tokens=None)])


def test_the_proxy_is_compared_on_the_tasks_that_both_did() -> None:
    rows = [row(name, "direct", success=False, repeated=1) for name in "abc"]
    rows += [row(name, "proxy", guard="on") for name in "abcd"]
    last = render_report(rows).splitlines()[-1]
    assert last.startswith("right openai proxy on minus direct, 3 pairs")
    assert "success +1.00" in last
    assert "repeated -1.00" in last


def test_rows_without_their_like_are_not_compared() -> None:
    rows = [row("a", "direct"), row("b", "proxy")]
    assert "minus direct" not in render_report(rows)
    assert get_configuration(rows[1]) == ("right", "openai", "proxy", "", "", "")


def test_the_same_label_is_compared_first() -> None:
    rows = [row("a", "direct", success=False), row("a", "direct", label="new")]
    rows.append(row("a", "proxy", label="new"))
    assert "success +0.00" in render_report(rows).splitlines()[-1]


def test_each_task_set_has_a_table_of_its_own() -> None:
    rows = [row("a", "direct"), row("b", "direct", set="home", unasked=1, success=False)]
    text = render_report(rows)
    office, home = text.split("\n\nhome:\n\n")
    assert office.startswith("office:\n\n| configuration")
    assert "| right openai direct | 1 | 0 (0%" in office
    assert "| right openai direct | 1 | 1 (100%" in home
    assert render_report(rows[1:]).startswith("| configuration")
