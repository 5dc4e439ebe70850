from __future__ import annotations

from typing import Any

from callwright_lab.benchmarks.comparison.report import render_comparison, share_cached


def row(task: str, strategy: str, success: bool, **rest: Any) -> dict[str, Any]:
    plain = {
        "calls": 2,
        "model_calls": 3,
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "seconds": 20.0,
    }
    named = {"task": task, "strategy": strategy, "success": success, "half": "dev", "kind": "chain"}
    where = {
        "model": "small",
        "config": "c0",
        "repairs": {"tier1": 1, "tier2": 0},
        "violations": {},
    }
    return {**plain, **named, **where, **rest}


def rows() -> list[dict[str, Any]]:
    found = []
    for n in range(10):
        found.append(row(f"t{n}", "layered", n < 8, kind="chain" if n < 6 else "single"))
        found.append(
            row(f"t{n}", "react", n < 2, prompt_tokens=2500, kind="chain" if n < 6 else "single")
        )
    return found


def test_the_table_holds_success_cost_and_paired_differences() -> None:
    text = render_comparison(rows())
    assert "Model small, 10 tasks (dev), configuration c0." in text
    assert "| layered | 8/10 = 80 % (49 % – 94 %) |" in text
    assert "| react | 2/10 = 20 %" in text
    assert (
        "| layered against react | 10 | +60.0 (+30.0 to +90.0) | 6 and 0, p = 0.0312 | −58 % (−58 %"
        " to −58 %) |" in text
    )
    assert "| layered | 6/6 | 2/4 |" in text


def test_every_table_row_has_as_many_cells_as_its_head() -> None:
    for table in render_comparison(rows()).split("\n\n"):
        lines = [line for line in table.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1


def test_a_pair_is_compared_on_the_tasks_that_both_finished_and_a_third_strategy_changes_nothing() -> (
    None
):
    some = [
        *rows()[:4],
        row("t9", "layered", True),
        {**row("t9", "react", False), "error": "no model"},
    ]
    pair = next(
        line
        for line in render_comparison(some).splitlines()
        if line.startswith("| layered against react")
    )
    assert "| 2 |" in pair
    text = render_comparison(
        [*rows(), *(row(f"t{n}", "dfsdt", False, prompt_tokens=9000) for n in range(3))]
    )
    assert pair_of(text, "layered", "react") == pair_of(
        render_comparison(rows()), "layered", "react"
    )
    assert pair_of(text, "layered", "dfsdt").startswith("| layered against dfsdt | 3 |")
    assert "| dfsdt | 0/3 = 0 %" in text
    assert "only pairs can be compared" in text


def pair_of(text: str, a: str, b: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(f"| {a} against {b} "))


def test_strategies_without_a_task_in_common_are_not_compared() -> None:
    text = render_comparison([row("a", "layered", True), row("b", "react", True)])
    assert "| layered against react | 0 | – |" in text


def test_costs_are_shares_of_the_second_strategys() -> None:
    text = render_comparison(
        [row("a", "layered", True), row("a", "dfsdt", True, model_calls=12, prompt_tokens=9900)]
    )
    assert "−89 % (−89 % to −89 %) | −75 % (−75 % to −75 %)" in pair_of(text, "layered", "dfsdt")


def test_models_and_configurations_are_kept_apart() -> None:
    text = render_comparison([*rows(), row("t1", "layered", True, model="large")])
    assert "Model large, 1 tasks" in text
    assert "Model small, 10 tasks" in text


def test_no_rows_are_no_error() -> None:
    assert render_comparison([]) == "No finished runs yet."


def test_the_share_of_the_cache_is_that_of_all_prompt_tokens_together() -> None:
    """A long prompt counts more than a short one, and rows of before have no count."""
    some = [
        row("t0", "layered", True, prompt_tokens=900, cached_tokens=810),
        row("t1", "layered", True, prompt_tokens=100, cached_tokens=0),
    ]
    assert share_cached(some) == 0.81
    assert share_cached(rows()) == 0.0
    assert share_cached([]) == 0.0
    summary = render_comparison(some).split("\n\n")[1:3]
    assert any(line.endswith("| 81 % |") for line in summary[1].splitlines())
