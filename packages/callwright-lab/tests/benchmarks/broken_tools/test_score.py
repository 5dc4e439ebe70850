from __future__ import annotations

from typing import Any

from callwright_lab.benchmarks.broken_tools.score import MEASURES, render_report, works_at


def row(
    system: str, ranking: list[str], *, query: str = "q", calls: int = 0, rate: int = 50
) -> dict[str, Any]:
    needs = [{"layer": 0, "tools": ["a", "b"]}, {"layer": 1, "tools": ["c"]}]
    return {
        **{"system": system, "rate": rate, "query": query, "group": "made"},
        **{"ranking": ranking, "gold": needs, "calls": calls},
    }


def test_works_wants_one_tool_for_each_need_and_all_wants_every_tool() -> None:
    one_each = row("x", ["b", "d", "e", "c"])
    assert works_at(5, one_each) == 1.0
    assert works_at(3, one_each) == 0.0
    assert MEASURES["all@5"](one_each) == 0.0
    assert MEASURES["R@5"](one_each) == 2 / 3
    assert MEASURES["all@5"](row("x", ["a", "b", "c"])) == 1.0


def test_the_report_sets_gains_against_the_base_and_calls_against_trying_all() -> None:
    rows = [
        row("base", ["d", "e", "f", "g", "h", "a", "b", "c"]),
        row("trials", ["a", "b", "c"], calls=3),
        row("try all", ["a", "b", "c"], calls=30),
    ]
    text = render_report(rows)
    measures = next(line for line in text.splitlines() if line.startswith("| 50 | trials | 1 |"))
    assert measures.endswith("| 1.000 | 3.0 | 10 % |")
    (gains,) = [line for line in text.splitlines() if line.startswith("| 50 | trials | +")]
    assert gains.split(" | ")[2:4] == ["+0.000 (+0.000 to +0.000)", "+1.000 (+1.000 to +1.000)"]


def test_the_papers_tables_have_every_system_with_pass_at_k_and_the_failure_classes() -> None:
    tried = [
        ["a", 1, "functional_success", ""],
        ["b", 2, "semantic_mismatch", "empty"],
        ["c", 3, "functional_success", "elsewhere"],
        ["d", 4, "parameter_mismatch", "wrong_schema"],
        ["e", 5, "nothing proved: not tried", "auth"],
        ["f", 6, "execution_failure", "auth"],
    ]
    rows = [
        row("base", ["d", "e", "a", "b", "c"]),
        {**row("real", ["a", "c", "b"], calls=5), "tried_tools": tried},
        {**row("simulated", ["a"]), "tried_tools": [["a", 1, "simulated functional_success", ""]]},
    ]
    lines = render_report(rows).splitlines()
    [head] = [line for line in lines if "Table 3" in line]
    assert [cell.strip() for cell in head.split("|")][-3:-1] == ["Pass@3", "Pass@5"]
    [base] = [line for line in lines[lines.index(head) :] if line.startswith("| 50 | base | 1 |")]
    [real] = [line for line in lines[lines.index(head) :] if line.startswith("| 50 | real | 1 |")]
    assert base.endswith("| 0.000 | 1.000 |")
    assert real.endswith("| 1.000 | 1.000 |")
    [classes] = [line for line in lines if line.startswith("| 50 | real | 5 |")]
    assert classes.endswith("| 20 % | 20 % | 0 % | 40 % | 0 % | 20 % |")
    [made_up] = [line for line in lines if line.startswith("| 50 | simulated | 1 | 0 %")]
    assert made_up.endswith("| 0 % | 100 % | 0 % |")
    [sunk] = [line for line in lines if line.startswith("| 50 | real | 0 of 1 ")]
    assert sunk == "| 50 | real | 0 of 1 | 1 of 1 | 0 of 1 | 1 of 1 | 1 of 1 |"


def test_no_rows_are_said_to_be_none() -> None:
    assert render_report([]) == "No rows yet."
