"""Two checkers on the same replies."""

from __future__ import annotations

from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.acebench.agreement import SuiteChecker, compare_checkers
from tests.benchmarks.invented_ace import write_checkout, write_data


def test_checkers_agree_on_gold_and_a_difference_is_told(tmp_path: Path) -> None:
    rows = [*write_data(tmp_path).values()]
    spaceless = [one for one in rows if one.is_special]
    with SuiteChecker(write_checkout(tmp_path)) as checker:
        gold = compare_checkers(checker, spaceless, 0)
        every = compare_checkers(checker, rows, 60)
    assert (gold.gold, gold.gold_right, gold.spoiled, gold.apart) == (24, 24, 0, [])
    assert (every.gold, every.spoiled) == (len(rows), 60)
    assert every.apart, "the invented suite compares texts with their spaces"
    assert "suite wrong; ours ''" in every.apart[0]
    assert f"judged differently {len(every.apart)}" in every.render_summary()


def test_a_folder_without_the_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no checkout of ACEBench"):
        SuiteChecker(tmp_path)


def test_a_suite_that_ends_is_told(tmp_path: Path) -> None:
    (tmp_path / "eval_main.py").write_text("raise SystemExit(1)\n")
    rows = [*write_data(tmp_path / "data", 1).values()]
    with pytest.raises(ConfigError, match="process"), SuiteChecker(tmp_path) as checker:
        checker.judge_reply(rows[0], "[]")
