"""Tables of the board: harm first, verdicts with intervals, pairs of cases that both have done."""

from __future__ import annotations

from typing import Any

from callwright_lab.benchmarks.bfcl.report import render_report


def row(name: str, case: str, valid: bool, **more: Any) -> dict[str, Any]:
    category = case.rpartition("_")[0]
    costs = {"questions": 2, "prompt_tokens": 100, "completion_tokens": 10, "seconds": 1.5}
    head = {"case": case, "category": category, "half": "dev", "row": name, "model": "m"}
    return {**head, "config": f"{name}-config", "label": "", "valid": valid, **costs, **more}


def test_harm_is_the_first_table_and_counts_conversations_alone() -> None:
    counts = {"unasked": 2, "repeated": 1, "due": 4, "silent": 3}
    text = render_report(
        [
            row("raw", "multi_turn_base_1", False, **counts),
            row("raw", "multi_turn_miss_func_1", True, unasked=1, repeated=0, due=2, silent=0),
            row("raw", "parallel_1", True),
        ]
    )
    head, harm, success, *_ = text.split("\n\n")
    assert head == "Model m, 3 cases (dev)."
    assert harm.splitlines()[-1] == "| raw (raw-co) | 2 | 3 | 1 | 3 of 6 |"
    assert "1/2 = 50 %" in success
    assert "2/3 = 67 %" in success
    assert "| 0/1 | 1/1 | 1/1 |" in success


def test_pairs_are_of_what_both_have_done() -> None:
    text = render_report(
        [
            *(row("raw", f"parallel_{n}", False) for n in range(4)),
            *(row("proxy", f"parallel_{n}", n < 2) for n in range(3)),
        ]
    )
    pair = next(
        line for line in text.splitlines() if "proxy (proxy-) against raw (raw-co), a" in line
    )
    assert pair.startswith("| proxy (proxy-) against raw (raw-co), all | 3 | +67 (")
    assert "2 and 0, p = 0.5" in pair


def test_settings_labels_and_halves_are_kept_apart_and_lost_cases_left_out() -> None:
    text = render_report(
        [
            row("proxy", "parallel_1", True, label="before"),
            row("proxy", "parallel_1", False, config="other-config"),
            row("proxy", "parallel_2", False, half="final"),
            {**row("raw", "parallel_3", False), "error": "no reply"},
        ]
    )
    assert "proxy (before, proxy-)" in text
    assert "proxy (other-)" in text
    assert text.count("Model m, 1 cases") == 2
    assert "raw" not in text


def test_nothing_run_is_said() -> None:
    assert render_report([]) == "No finished cases yet."
